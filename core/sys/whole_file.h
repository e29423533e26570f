/* whole_file.h - whole files as a script handles them: real ones only, each call complete in itself.
 *
 * What is there under a name is the old file or the new one, whole, whatever is killed in between and, with `sync`,
 * whatever loses its power. Any number of processes may write the same name: one of them is the last. A link is followed;
 * the mode of a file that was there is kept. What is no regular file (a terminal, a FIFO, /dev/null) is written to as it
 * is. All return 0, or a negative code and words.
 */
#ifndef TM_SYS_WHOLE_FILE_H
#define TM_SYS_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Adds what is in the file, also one without a length as a FIFO or one of /proc; at most `max` bytes, else TM_ELIMIT. */
int tm_file_read(const char *path, size_t max, struct tm_buf *out, struct tm_err *err);
int tm_file_write(const char *path, const void *p, size_t n, bool sync, struct tm_err *err);
/* Behind what is there, made when missing; with one write, so that whole lines of several processes do not mix. */
int tm_file_append(const char *path, const void *p, size_t n, struct tm_err *err);
/* The bytes and the mode of `from`. The name `to` is the whole name of the copy: a folder is refused. */
int tm_file_copy(const char *from, const char *to, bool sync, struct tm_err *err);

#endif
