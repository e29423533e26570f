/* files.h - files from context:output_file(), on their way from a try's folder to the output
 * folder, and the log of which mini-batch owns which.
 *
 *   note -> (the rows are added) -> add -> log flushed -> carry out -> the journal's record
 *
 * state/files has a line per file: 16 hexadecimal digits (xxh3-64 of the rest of the line),
 * mini-batch, name; for a file of a further output the name begins with a slash and the output's
 * name. A journal record covers the lines of a mini-batch, directly before the record that commits
 * it. The worker has fsynced the file; the group commit fsyncs its new name, with its folder.
 *
 * One rename gives a file its name. If an output has a destination, the try's folder is therefore
 * within that destination (agent/agent_msg.h, tm_output_file_staged).
 *
 * A name belongs to one mini-batch. A file under that name without an owner (the script wrote it
 * there itself; a power failure removed the log's line but not the name) is replaced.
 *
 * Part of a commit, and used only by it; on its thread, except tm_files_sync_dirs().
 */
#ifndef TM_COMMIT_FILES_H
#define TM_COMMIT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "commit/claims.h"
#include "commit/journal.h"
#include "commit/output.h"

struct tm_move {
  char *from, *to;
  char *name; /* tm_output_file_name() */
  /* the try's folder, removed when its files are out; NULL: not the last file of the try */
  char *root;
};

struct tm_dirs {
  char **at;
  size_t len, cap;
  struct tm_map known; /* the same paths */
};

struct tm_files {
  struct tm_output log;
  char *output_dir;
  char *output_name; /* the append_row file, which must not be replaced; or NULL */
  struct tm_move *moves;
  size_t moves_len, moves_cap;
  struct tm_claims claims; /* where the moves lead to; the number of a file is that of its move */
  size_t added; /* the first of them, whose lines are written; the others are only noted */
  struct tm_dirs dirty, syncing; /* folders with new names; those of the current sync */
};

/* Opens `path`, as tm_output_open() does; make `log` before the first write. Zero the struct before
 * (log.fd -1); close it also after a failure. */
int tm_files_open(struct tm_files *f, const struct tm_fs *fs, const char *path,
                  const char *output_dir, const char *output_name, struct tm_err *err);
void tm_files_close(struct tm_files *f);

/* Notes files of the next mini-batch to be added: `names`, bytes32 each, in the folder `staging`;
 * earlier notes stay. TM_EDAMAGE: an invalid name, one that this or another mini-batch has, or a
 * missing file; then nothing of this call is noted. */
int tm_files_note(struct tm_files *f, const char *staging, const char *names, size_t len,
                  struct tm_err *err);
void tm_files_drop(struct tm_files *f); /* drops the notes */
/* Adds the lines of the noted files and fills the record that covers them. False: nothing was
 * noted. */
bool tm_files_add(struct tm_files *f, uint64_t index, struct tm_record *r);
/* The pending work, as bytes of rows that take the same time. */
size_t tm_files_pending(const struct tm_files *f);
/* Call it after the log was flushed: gives the files their names. */
int tm_files_carry_out(struct tm_files *f, struct tm_err *err);

/* Assigns the names that are not fsynced yet to the sync that begins. */
void tm_files_begin_sync(struct tm_files *f);
int tm_files_sync_dirs(const struct tm_files *f, struct tm_err *err);
void tm_files_end_sync(struct tm_files *f);

/* Recovery. 1: all files of these bytes of the log have their names, and the next sync fsyncs their
 * folders; 0: they do not. */
int tm_files_are_there(struct tm_files *f, int64_t from, int64_t to, struct tm_err *err);
/* Removes the files whose lines are after `end`, and then the lines. */
int tm_files_cut(struct tm_files *f, int64_t end, struct tm_err *err);

#endif
