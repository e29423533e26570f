/* fs.c - helpers over the table of fs.h: whole reads and writes, error messages, atomic files.
 *
 *  (1) A name is durable when the file or folder, and the folder that holds the name, have been
 *      fsynced: in that order for a new file, after the rename for a replaced one.
 *  (2) A failed fsync is reported, never tried again: the kernel may have dropped the dirty pages
 *      and would answer 0.
 *  (3) tm_fs_write_file() and tm_fs_replace_file() leave either the old contents or the new under
 *      the name, whatever fails in between. On failure it removes the temporary file.
 *
 * Only EINTR and short transfers are retried; every other error goes to the caller with a message.
 */
#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"

#define READ_FIRST (8u << 10)  /* bytes; most files that are read whole are small */
#define READ_PIECE (64u << 10) /* bytes */

static int open_again(const struct tm_fs *fs, const char *path, int flags, int mode)
{
  int fd;
  do
    fd = fs->open(fs->self, path, flags, mode);
  while (fd == -EINTR);
  return fd;
}

int tm_fs_open_found(int *fd, const struct tm_fs *fs, const char *path, int flags,
                     struct tm_err *err)
{
  int rc = open_again(fs, path, flags, 0);
  *fd = rc < 0 ? -1 : rc;
  return rc < 0 && rc != -ENOENT ? tm_err_system(err, rc, "cannot open '%s'", path) : 0;
}

int tm_fs_open(const struct tm_fs *fs, const char *path, int flags, int mode, struct tm_err *err)
{
  int fd = open_again(fs, path, flags, mode);
  return fd < 0 ? tm_err_system(err, fd, "cannot open '%s'", path) : fd;
}

void tm_fs_close(const struct tm_fs *fs, int fd)
{
  if (fd >= 0)
    fs->close(fs->self, fd);
}

int tm_fs_write_at(const struct tm_fs *fs, int fd, const char *path, const void *p, size_t n,
                   int64_t at, struct tm_err *err)
{
  const char *from = p;
  while (n > 0) {
    int64_t put = fs->pwrite(fs->self, fd, from, n, at);
    if (put == -EINTR)
      continue;
    if (put == 0) /* no error and no progress: the loop would never end */
      put = -EIO;
    if (put < 0)
      return tm_err_system(err, (int)put, "cannot write '%s'", path);
    from += put;
    n -= (size_t)put;
    at += put;
  }
  return 0;
}

int64_t tm_fs_read_at(const struct tm_fs *fs, int fd, const char *path, void *p, size_t n,
                      int64_t at, struct tm_err *err)
{
  size_t done = 0;
  while (done < n) {
    int64_t got = fs->pread(fs->self, fd, (char *)p + done, n - done, at + (int64_t)done);
    if (got == -EINTR)
      continue;
    if (got == -ESPIPE)
      return tm_err_set(err, -ESPIPE, "cannot read '%s': it is a FIFO or a device, not a file",
                        path);
    if (got < 0)
      return tm_err_system(err, (int)got, "cannot read '%s'", path);
    if (got == 0)
      break;
    done += (size_t)got;
  }
  return (int64_t)done;
}

int tm_fs_sync(const struct tm_fs *fs, int fd, const char *path, struct tm_err *err)
{
  int rc = fs->fsync(fs->self, fd); /* keeps (2) */
  return rc < 0 ? tm_err_system(err, rc, "cannot sync '%s' to the disk", path) : 0;
}

int tm_fs_sync_dir(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  int fd = tm_fs_open(fs, path, O_RDONLY | O_DIRECTORY, 0, err);
  if (fd < 0)
    return fd;
  int rc = fs->fsync(fs->self, fd);
  tm_fs_close(fs, fd);
  if (rc == -EINVAL) /* network file systems that make names durable themselves */
    return 0;
  return rc < 0 ? tm_err_system(err, rc, "cannot sync folder '%s' to the disk", path) : 0;
}

static int sync_parent(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  char *dir = tm_path_dir(path);
  int rc = tm_fs_sync_dir(fs, dir, err);
  free(dir);
  return rc;
}

int tm_fs_sync_name(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  int rc = sync_parent(fs, path, &why);
  return rc < 0 && rc != -EACCES ? tm_err_set(err, rc, "%s", why.text) : 0;
}

/* Another process may make it at the same time. */
int tm_fs_make_dir(const struct tm_fs *fs, const char *path, int mode, struct tm_err *err)
{
  struct tm_stat st;
  int rc = fs->mkdir(fs->self, path, mode);
  if (rc == 0)
    return sync_parent(fs, path, err);
  if (rc == -EEXIST && fs->stat(fs->self, path, true, &st) == 0)
    rc = S_ISDIR(st.mode) ? 0 : -ENOTDIR;
  return rc < 0 ? tm_err_system(err, rc, "cannot make folder '%s'", path) : 0;
}

int tm_fs_make_dirs(const struct tm_fs *fs, const char *path, int mode, struct tm_err *err)
{
  struct tm_stat st;
  char *p = tm_xstrdup(path);
  size_t len = strlen(p), at;
  int rc = 0;
  while (len > 1 && p[len - 1] == '/')
    p[--len] = '\0';
  /* Back to the longest part that exists: the folders above it may not be writable for us. */
  for (at = len; at > 0; at--) {
    if (at < len && p[at] != '/')
      continue;
    p[at] = '\0';
    if ((rc = fs->stat(fs->self, p, true, &st)) != -ENOENT)
      break;
  }
  if (rc == 0 && len > 0 && at > 0 && !S_ISDIR(st.mode))
    rc = -ENOTDIR;
  if (rc < 0 && rc != -ENOENT) {
    rc = tm_err_system(err, rc, "cannot make folder '%s'", path);
    goto done;
  }
  for (rc = 0; at < len && rc == 0;) {
    if (at > 0)
      p[at] = '/';
    at += strlen(p + at);
    rc = tm_fs_make_dir(fs, p, mode, err);
  }
done:
  free(p);
  return rc;
}

static int read_all(const struct tm_fs *fs, int fd, const char *path, size_t max,
                    struct tm_buf *out, struct tm_err *err)
{
  size_t done = 0;
  for (;;) {
    size_t piece = done == 0 ? READ_FIRST : READ_PIECE;
    /* one byte more tells that the file is too long */
    size_t want = max - done < piece ? max - done + 1 : piece;
    tm_buf_reserve(out, want);
    size_t had = out->len;
    int64_t got = tm_fs_read_at(fs, fd, path, tm_buf_extend(out, want), want, (int64_t)done, err);
    out->len = had + (got > 0 ? (size_t)got : 0);
    out->data[out->len] = '\0';
    if (got < 0)
      return (int)got;
    done += (size_t)got;
    if (done > max)
      return tm_err_set(err, TM_ELIMIT, "'%s' is longer than %zu bytes", path, max);
    if ((size_t)got < want)
      return 0;
  }
}

int tm_fs_read_file(const struct tm_fs *fs, const char *path, size_t max, struct tm_buf *out,
                    struct tm_err *err)
{
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  if (fd < 0)
    return fd;
  int rc = read_all(fs, fd, path, max, out, err);
  tm_fs_close(fs, fd);
  return rc;
}

/* Writes the contents under a name that nobody reads. */
static int write_new(const struct tm_fs *fs, const char *path, const void *p, size_t n, int mode,
                     bool is_synced, struct tm_err *err)
{
  int fd = tm_fs_open(fs, path, O_WRONLY | O_CREAT | O_TRUNC, mode, err);
  if (fd < 0)
    return fd;
  int rc = tm_fs_write_at(fs, fd, path, p, n, 0, err);
  if (rc == 0 && is_synced)
    rc = tm_fs_sync(fs, fd, path, err);
  int closed = fs->close(fs->self, fd);
  if (rc == 0 && closed < 0 && closed != -EINTR) /* the descriptor is gone either way */
    rc = tm_err_system(err, closed, "cannot write '%s'", path);
  return rc;
}

static int replace(const struct tm_fs *fs, const char *path, const void *p, size_t n, int mode,
                   bool is_synced, struct tm_err *err)
{
  char *tmp = tm_xprintf("%s.tmp", path);
  int rc = write_new(fs, tmp, p, n, mode, is_synced, err);
  if (rc == 0 && (rc = fs->rename(fs->self, tmp, path)) < 0)
    tm_err_system(err, rc, "cannot rename '%s' to '%s'", tmp, path);
  if (rc < 0)
    fs->unlink(fs->self, tmp); /* keeps (3) */
  else if (is_synced)
    rc = sync_parent(fs, path, err);
  free(tmp);
  return rc;
}

int tm_fs_write_file(const struct tm_fs *fs, const char *path, const void *p, size_t n, int mode,
                     struct tm_err *err)
{
  return replace(fs, path, p, n, mode, true, err);
}

int tm_fs_replace_file(const struct tm_fs *fs, const char *path, const void *p, size_t n, int mode,
                       struct tm_err *err)
{
  return replace(fs, path, p, n, mode, false, err);
}

bool tm_fs_exists(const struct tm_fs *fs, const char *path)
{
  struct tm_stat st;
  return fs->stat(fs->self, path, true, &st) == 0;
}

int tm_fs_link_read(const struct tm_fs *fs, const char *path, char **out, struct tm_err *err)
{
  char leads_to[PATH_MAX];
  int n = fs->readlink(fs->self, path, leads_to, sizeof(leads_to));
  *out = n < 0 ? NULL : tm_xstrndup(leads_to, (size_t)n);
  return n < 0 ? tm_err_system(err, n, "cannot read link '%s'", path) : 0;
}

int tm_fs_remove_tree(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  return fs->tree_remove(fs->self, path, err);
}
