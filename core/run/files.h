/* files.h - files that scripts made with context:output_file(), on their way from a try's folder into the output folder, and
 * the log that says which mini-batch has which.
 *
 *   note -> (the rows are added) -> add -> log flushed -> carry out -> the journal's record
 *
 * state/files, a line for each file: 16 hexadecimal digits (xxh3-64 of the rest of the line), mini-batch, name; that of a file of
 * a further output begins with a slash and the output's name. A journal
 * record of its own covers the lines of a mini-batch, directly before the record that commits it. The worker has fsynced the
 * file; its new name is fsynced, with its folder, by the group commit.
 *
 * One rename gives a file its name. For an output with a destination of its own the try's folder is
 * therefore within that destination (agent/message.h, tm_output_file_staged).
 *
 * A name belongs to one mini-batch. What stands under it and is nobody's (a script wrote it there by itself; a power cut took
 * the log's line and left the name) is replaced.
 *
 * Part of a commit, and used by it alone; on its thread, but for tm_files_sync_dirs().
 */
#ifndef TM_RUN_FILES_H
#define TM_RUN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/journal.h"
#include "run/output.h"

struct tm_move {
  char *from, *to;
  char *name; /* tm_output_file_name() */
  char *root; /* the try's folder, removed when its files are out; NULL: not the last of the try */
};

struct tm_dirs {
  char **at;
  size_t len, cap;
};

struct tm_files {
  struct tm_output log;
  char *output_dir;
  char *output_name; /* the append_row file, which is not to be replaced; or NULL */
  struct tm_move *moves;
  size_t moves_len, moves_cap;
  size_t added;                  /* the first of them, which have lines; the others are noted */
  struct tm_dirs dirty, syncing; /* folders with new names; those of the sync under way */
};

/* Opens or makes `path`. Zero the struct before (log.fd -1); close it also after a failure. */
int tm_files_open(struct tm_files *f, const struct tm_fs *fs, const char *path,
                  const char *output_dir, const char *output_name, struct tm_err *err);
void tm_files_close(struct tm_files *f);

/* Files of the next mini-batch to be added: `names`, bytes32 each, below the folder `staging`; what has been noted for it before
 * stays. TM_EDAMAGE: a name that cannot be, that another mini-batch or this one has, or that is not there; then nothing of
 * this call is noted. */
int tm_files_note(struct tm_files *f, const char *staging, const char *names, size_t len,
                  struct tm_err *err);
void tm_files_drop(struct tm_files *f); /* what was noted is forgotten */
/* Adds the lines of what was noted and fills the record that covers them. False: nothing was noted. */
bool tm_files_add(struct tm_files *f, uint64_t index, struct tm_record *r);
/* How much waits for a flush, in bytes of rows that take as long. */
size_t tm_files_pending(const struct tm_files *f);
/* After the log has been flushed: the files get their names. */
int tm_files_carry_out(struct tm_files *f, struct tm_err *err);

/* The names that no fsync covers are those of the sync that begins. */
void tm_files_begin_sync(struct tm_files *f);
int tm_files_sync_dirs(const struct tm_files *f, struct tm_err *err);
void tm_files_end_sync(struct tm_files *f);

/* Recovery. 1: all files of these bytes of the log are under their names, and their folders are fsynced by the next sync; 0:
 * they are not. */
int tm_files_are_there(struct tm_files *f, int64_t from, int64_t to, struct tm_err *err);
/* Removes the files whose lines lie behind `end`, and then the lines. */
int tm_files_cut(struct tm_files *f, int64_t end, struct tm_err *err);

#endif
