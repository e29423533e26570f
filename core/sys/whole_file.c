/* whole_file.c - whole files; see whole_file.h.
 *
 *  (1) A new file is written in the same folder under a unique name (random, and starting with a
 *      dot, so that a pattern does not match it), and renamed when it is complete. On failure it is
 *      removed.
 *  (2) Only regular files are ever replaced: a rename over a device or a FIFO would remove it.
 */
#include "sys/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"
#include "sys/standard_fds.h"
#include "sys/process.h"

#define PIECE (256u << 10) /* bytes */

/* Opens any kind of file for reading to its end. A FIFO blocks until it has a writer. */
static int open_to_read(const char *path, struct tm_err *err)
{
  int fd = tm_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
  return fd < 0 ? tm_err_system(err, -errno, "cannot open '%s'", path) : fd;
}

int tm_file_read(const char *path, size_t max, struct tm_buf *out, struct tm_err *err)
{
  int fd = open_to_read(path, err);
  if (fd < 0)
    return fd;
  size_t begin = out->len;
  ssize_t got = 1;
  while (got > 0 && out->len - begin <= max) {
    size_t had = out->len;
    do
      got = read(fd, tm_buf_extend(out, PIECE), PIECE);
    while (got < 0 && errno == EINTR && (out->len = had, true));
    out->len = had + (got > 0 ? (size_t)got : 0);
    out->data[out->len] = '\0';
  }
  int code = got < 0 ? -errno : 0;
  close(fd);
  if (code < 0)
    return tm_err_system(err, code, "cannot read '%s'", path);
  if (out->len - begin > max)
    return tm_err_set(err, TM_ELIMIT, "cannot read '%s' whole: it is longer than %zu bytes", path,
                      max);
  return 0;
}

void tm_file_announce(const char *path)
{
  int fd = tm_fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd < 0)
    return;
  posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
  close(fd);
}

/* The place that a link leads to; for a link that leads nowhere, the link itself. */
static char *real_place(const char *path)
{
  struct stat st;
  char *real = NULL;
  if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
    real = realpath(path, NULL);
  return real != NULL ? real : tm_xstrdup(path);
}

static int open_new(struct tm_file_writing *w, int mode)
{
  char *dir = tm_path_dir(w->path), *name = NULL;
  do { /* keeps (1) */
    free(w->tmp);
    free(name);
    name = tm_xprintf(".tidemill-%016llx.tmp", (unsigned long long)tm_process_random());
    w->tmp = tm_path_join(dir, name);
    w->fd = tm_fd_lift(open(w->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                            mode < 0 ? 0666 : (mode_t)mode & 0777));
  } while (w->fd < 0 && errno == EEXIST);
  int code = w->fd < 0 ? -errno : 0;
  if (code == 0 && mode >= 0 && fchmod(w->fd, (mode_t)mode) < 0)
    code = -errno;
  free(dir);
  free(name);
  return code;
}

/* `mode` < 0: the mode of the existing file, or as the umask allows. */
static int begin(struct tm_file_writing *w, const char *path, int mode, struct tm_err *err)
{
  struct stat st;
  int code = 0;
  *w = (struct tm_file_writing) { .shown = path, .path = real_place(path), .fd = -1 };
  bool is_there = stat(w->path, &st) == 0;
  if (is_there && S_ISDIR(st.st_mode))
    code = -EISDIR;
  else if (is_there && !S_ISREG(st.st_mode)) /* keeps (2) */
    code = (w->fd = tm_fd_lift(open(w->path, O_WRONLY | O_CLOEXEC))) < 0 ? -errno : 0;
  else
    code = open_new(w, mode < 0 && is_there ? (int)(st.st_mode & 07777) : mode);
  return code < 0 ? tm_err_system(err, code, "cannot write '%s'", path) : 0;
}

static int sync_parent(const struct tm_file_writing *w, struct tm_err *err)
{
  char *dir = tm_path_dir(w->path);
  int rc = tm_fs_sync_dir(tm_fs_real(), dir, err);
  free(dir);
  return rc;
}

int tm_file_begin(struct tm_file_writing *w, const char *path, struct tm_err *err)
{
  return begin(w, path, -1, err);
}

int tm_file_begin_mode(struct tm_file_writing *w, const char *path, int mode, struct tm_err *err)
{
  return begin(w, path, mode, err);
}

int tm_file_end(struct tm_file_writing *w, int rc, bool sync, struct tm_err *err)
{
  if (rc == 0 && sync && w->tmp != NULL)
    rc = tm_fs_sync(tm_fs_real(), w->fd, w->shown, err);
  if (w->fd >= 0 && close(w->fd) < 0 && rc == 0 && errno != EINTR)
    rc = tm_err_system(err, -errno, "cannot write '%s'", w->shown);
  if (rc == 0 && w->tmp != NULL && rename(w->tmp, w->path) < 0)
    rc = tm_err_system(err, -errno, "cannot write '%s'", w->shown);
  if (rc < 0 && w->tmp != NULL)
    unlink(w->tmp);
  if (rc == 0 && sync && w->tmp != NULL)
    rc = sync_parent(w, err);
  free(w->tmp);
  free(w->path);
  *w = (struct tm_file_writing) { .fd = -1 };
  return rc;
}

int tm_file_put(struct tm_file_writing *w, const void *p, size_t n, struct tm_err *err)
{
  int code = tm_fd_append(w->fd, p, n);
  return code < 0 ? tm_err_system(err, code, "cannot write '%s'", w->shown) : 0;
}

int tm_file_write(const char *path, const void *p, size_t n, bool sync, struct tm_err *err)
{
  struct tm_file_writing w;
  int rc = begin(&w, path, -1, err);
  if (rc == 0)
    rc = tm_file_put(&w, p, n, err);
  return tm_file_end(&w, rc, sync, err);
}

int tm_file_append(const char *path, const void *p, size_t n, struct tm_err *err)
{
  int fd = tm_fs_open(tm_fs_real(), path, O_WRONLY | O_CREAT | O_APPEND, 0666, err);
  if (fd < 0)
    return fd;
  int code = tm_fd_append(fd, p, n);
  if (close(fd) < 0 && code == 0 && errno != EINTR)
    code = -errno;
  return code < 0 ? tm_err_system(err, code, "cannot write '%s'", path) : 0;
}

static int copy_bytes(int from, const char *path, struct tm_file_writing *w, struct tm_err *err)
{
  char *piece = tm_xmalloc(PIECE);
  ssize_t got;
  int rc = 0;
  while (rc == 0 && (got = read(from, piece, PIECE)) != 0) {
    if (got > 0)
      rc = tm_file_put(w, piece, (size_t)got, err);
    else if (errno != EINTR)
      rc = tm_err_system(err, -errno, "cannot read '%s'", path);
  }
  free(piece);
  return rc;
}

int tm_file_copy(const char *from, const char *to, bool sync, struct tm_err *err)
{
  struct stat st;
  struct tm_file_writing w = { 0 };
  int fd = open_to_read(from, err);
  if (fd < 0)
    return fd;
  int code = fstat(fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
  int rc = code < 0 ? tm_err_system(err, code, "cannot copy '%s'", from) : 0;
  if (rc == 0) {
    rc = begin(&w, to, S_ISREG(st.st_mode) ? (int)(st.st_mode & 0777) : -1, err);
    if (rc == 0)
      rc = copy_bytes(fd, from, &w, err);
    rc = tm_file_end(&w, rc, sync, err);
  }
  close(fd);
  return rc;
}
