/* upload_mark.h - the mark of an upload: <step>/state/upload.<n>, a JSON object. The file that
 * `map --output FILE` writes has a mark too, upload.copy, without outcomes. When a job is resumed,
 * the mark answers two questions about the destination of output <n>:
 *
 *   Is it ours?        Yes, if the destination still looks as the mark says (see below). Only then
 *                      may a job without `overwrite` replace or remove it.
 *   Is it up to date?  Yes, if the journal has the same outcomes as when the output was uploaded.
 *
 * The mark is written before the upload is renamed to its destination. Until then the earlier
 * upload is still there, so the mark describes that one, too.
 *
 * A look leaves out the device number, which may change when the machine restarts. The inode and
 * the time of the last change distinguish our folder from any other, and survive a rename. The
 * names, sizes and times of all files below show whether one was changed, added or removed.
 */
#ifndef TM_OUTPUTS_UPLOAD_MARK_H
#define TM_OUTPUTS_UPLOAD_MARK_H

#include "base/json.h"
#include "commit/journal.h"
#include "sys/fs.h"

struct tm_upload_look {
  uint64_t ino;
  int64_t mtime_ns;
  int64_t files, bytes; /* below the folder; of an archive, 1 and its size */
  /* hash of names, sizes and times below the folder, and of where links lead; otherwise 0 */
  uint64_t names;
};

/* Looks at `path`, a folder or a file. 0, or a system error: -ENOENT if there is nothing. */
int tm_upload_look(struct tm_upload_look *out, const struct tm_fs *fs, const char *path,
                   struct tm_err *err);
bool tm_upload_look_is_equal(const struct tm_upload_look *a, const struct tm_upload_look *b);

/* The hash of a file's bytes. */
int tm_upload_hash(uint64_t *out, const struct tm_fs *fs, const char *path, struct tm_err *err);

struct tm_upload_mark {
  struct tm_upload_look look;
  /* our earlier upload, which is there until this one is; files -1: none */
  struct tm_upload_look replaces;
  uint64_t hash;              /* of an archive's bytes; otherwise 0 */
  struct tm_journal_sum from; /* the journal from whose outcomes the upload was made */
};

/* The path of the mark of output `i`, to free(). */
char *tm_upload_mark_path(const char *step_dir, size_t i);
/* The same of the file that got a copy of the rows: `map --output FILE`. */
char *tm_upload_mark_copy_path(const char *step_dir);
/* The destination that a mark names, to free(). NULL: there is no mark, or it is damaged. */
char *tm_upload_mark_destination(const struct tm_fs *fs, const char *path);
/* 1; or 0: there is no mark, it is damaged, or it is of another destination; or a system error. */
int tm_upload_mark_read(struct tm_upload_mark *out, const struct tm_fs *fs, const char *path,
                        const char *destination, struct tm_err *err);
int tm_upload_mark_write(const struct tm_upload_mark *m, const struct tm_fs *fs, const char *path,
                         const char *destination, struct tm_err *err);
/* Replaces the members of a look in the JSON object of a mark by these. */
void tm_upload_mark_set_look(struct tm_json *mark, const struct tm_upload_look *look);

#endif
