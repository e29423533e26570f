/* log_file.h - a log that is appended to: text is collected in memory, and written when the caller
 * says so.
 *
 * A log never stops a job. The first call that fails reports the failure; from then on the log
 * drops its input.
 *
 * Caller: init (zeroed is not open, and drops everything); add to `text`; flush at intervals;
 * close.
 */
#ifndef TM_REPORT_LOG_FILE_H
#define TM_REPORT_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/level.h"
#include "sys/fs.h"

#define TM_LOG_FLUSH_BYTES (64u << 10) /* this much collected text is worth a write */

struct tm_log_file {
  const struct tm_fs *fs;
  char *path;
  int fd;             /* -1: not open; or at rest */
  int64_t at;         /* offset of the next byte */
  struct tm_buf text; /* not written yet */
  bool is_given_up;
};

/* Opens `path` for appending and makes its folder, in an existing one. Ends a last line that a kill
 * has torn. On failure returns a message, and the log drops its input. */
int tm_log_file_open(struct tm_log_file *f, const struct tm_fs *fs, const char *path,
                     struct tm_err *err);
/* The same for a file that the user has named, and others may append to: it is made with the mode
 * that the umask allows, its folder is not, and what cannot be appended to is refused
 * (TM_EUSAGE). */
int tm_log_file_open_named(struct tm_log_file *f, const struct tm_fs *fs, const char *path,
                           struct tm_err *err);
/* How many columns the first line of the file has, which an older version may have begun. 0: it
 * cannot be read. */
size_t tm_log_file_columns(const struct tm_log_file *f);
bool tm_log_file_is_empty(const struct tm_log_file *f); /* nothing written, nothing collected */
/* Writes the collected text. Fails once. */
int tm_log_file_flush(struct tm_log_file *f, struct tm_err *err);
/* Closes the descriptor; flushing opens the file again. The collected text stays; without any, its
 * memory is freed. */
void tm_log_file_rest(struct tm_log_file *f);
/* Flushes if enough text was collected. */
static inline int tm_log_file_flush_large(struct tm_log_file *f, struct tm_err *err)
{
  return f->text.len < TM_LOG_FLUSH_BYTES ? 0 : tm_log_file_flush(f, err);
}
/* Flushes, then frees; zeroed: a no-op. Fails like flushing. */
int tm_log_file_close(struct tm_log_file *f, struct tm_err *err);

/* One line: "2026-01-31 23:59:58,123|LEVEL|pid|process name|message", with line breaks in the
 * message escaped. */
void tm_log_add_line(struct tm_buf *out, int64_t wall_ns, enum tm_level level, int64_t pid,
                     const char *process, const char *message);

/* When to write a file that is always replaced as a whole. */
struct tm_log_due {
  bool is_changed;    /* the caller has something new for it */
  bool is_given_up;   /* a write has failed */
  int64_t written_ns; /* monotonic */
};
/* True: the caller writes it now. It has changed, and `every_ns` have passed since the last write,
 * or `now` is set. */
static inline bool tm_log_due_begin(struct tm_log_due *d, int64_t every_ns, int64_t mono_ns,
                                    bool now)
{
  if (!d->is_changed || d->is_given_up || (!now && mono_ns - d->written_ns < every_ns))
    return false;
  d->written_ns = mono_ns;
  d->is_changed = false;
  return true;
}

/* Replaces the file at `path` atomically, and makes its folder, in an existing one. Not synced: the
 * loop must not wait for a disk, and a power failure loses only this text. */
int tm_log_replace(const struct tm_fs *fs, const char *path, const struct tm_buf *text,
                   struct tm_err *err);

#endif
