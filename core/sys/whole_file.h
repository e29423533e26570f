/* whole_file.h - whole files, as a script handles them: real files only; each call is complete.
 *
 * A name holds the old file or the whole new one, whatever is killed in between and, with `sync`,
 * after a power failure. Any number of processes may write the same name: the last one wins. Links
 * are followed; an existing file keeps its mode. A file that is not regular (a terminal, a FIFO,
 * /dev/null) is written in place. All return 0, or a negative code with a message.
 */
#ifndef TM_SYS_WHOLE_FILE_H
#define TM_SYS_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the contents of the file to `out`, also of a file without a length, like a FIFO or one in
 * /proc; at most `max` bytes, else TM_ELIMIT. */
int tm_file_read(const char *path, size_t max, struct tm_buf *out, struct tm_err *err);
/* Tells the system that the whole file will be read soon. Does nothing if that is not possible. */
void tm_file_announce(const char *path);
int tm_file_write(const char *path, const void *p, size_t n, bool sync, struct tm_err *err);
/* The same in pieces: begin, put..., end in every case. */
struct tm_file_writing {
  const char *shown; /* the caller's name */
  /* its place, with links followed; the temporary file, or NULL to write in place */
  char *path, *tmp;
  int fd;
};
int tm_file_begin(struct tm_file_writing *w, const char *path, struct tm_err *err);
/* The same with this mode, also if the file is there. */
int tm_file_begin_mode(struct tm_file_writing *w, const char *path, int mode, struct tm_err *err);
int tm_file_put(struct tm_file_writing *w, const void *p, size_t n, struct tm_err *err);
/* `rc`: the result so far. Puts the file in its place, or removes it if that is negative. Returns
 * `rc`, or another error. */
int tm_file_end(struct tm_file_writing *w, int rc, bool sync, struct tm_err *err);
/* Appends to the file, or makes it, with one write, so that whole lines of several processes do not
 * mix. */
int tm_file_append(const char *path, const void *p, size_t n, struct tm_err *err);
/* Copies the bytes and the mode of `from`. `to` is the full name of the copy: a folder is
 * refused. */
int tm_file_copy(const char *from, const char *to, bool sync, struct tm_err *err);

#endif
