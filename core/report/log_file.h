/* log_file.h - a log that is appended to: text gathers in memory, and is written when the caller says so.
 *
 * A log never stops a job. What cannot be written is said once, by the first call that fails; from then on the log
 * swallows what it is given.
 *
 * Caller: init (zeroed is not open, and swallows all); add to `text`; flush now and then; close.
 */
#ifndef TM_REPORT_LOG_FILE_H
#define TM_REPORT_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/level.h"
#include "sys/fs.h"

#define TM_LOG_FLUSH_BYTES (64u << 10) /* so much gathered text is worth a write of its own */

struct tm_log_file {
  const struct tm_fs *fs;
  char *path;
  int fd;             /* -1: not open */
  int64_t at;         /* where the next byte goes */
  struct tm_buf text; /* not written yet */
  bool is_given_up;
};

/* Opens `path` for appending and makes the folders above it. A last line that a kill has torn is ended. On failure the
 * words, and the log is one that swallows. */
int tm_log_file_open(struct tm_log_file *f, const struct tm_fs *fs, const char *path,
                     struct tm_err *err);
bool tm_log_file_is_empty(const struct tm_log_file *f); /* nothing written, nothing gathered */
/* Writes what has gathered. Fails once. */
int tm_log_file_flush(struct tm_log_file *f, struct tm_err *err);
/* The same when enough has gathered. */
static inline int tm_log_file_flush_large(struct tm_log_file *f, struct tm_err *err)
{
  return f->text.len < TM_LOG_FLUSH_BYTES ? 0 : tm_log_file_flush(f, err);
}
/* Flushes, then frees; zeroed: a no-op. Fails as flushing does. */
int tm_log_file_close(struct tm_log_file *f, struct tm_err *err);

/* One line: "2026-01-31 23:59:58,123|LEVEL|pid|process name|message", the message made one line. */
void tm_log_add_line(struct tm_buf *out, int64_t wall_ns, enum tm_level level, int64_t pid,
                     const char *process, const char *message);

/* Puts a whole file in the place of `path`, by a rename, and makes the folders above it. Not synced: the loop must not
 * wait for a disk, and a power cut may cost no more than this text. */
int tm_log_replace(const struct tm_fs *fs, const char *path, const struct tm_buf *text,
                   struct tm_err *err);

#endif
