/* fs_real.c - the table of file calls of the real machine.
 *
 * Each is one system call (folders and trees: dir.c), with errno negated, without retries and
 * without messages. fs.c adds what callers need beyond that, and works the same over a table that
 * injects faults. Nothing is kept between calls, so any number of threads may use the table.
 *
 *  (1) Every descriptor is close-on-exec from the start.
 *  (2) No descriptor is 0, 1 or 2: these are the host's.
 *  (3) Opening never blocks: a FIFO in place of a file is opened at once, and pread on it fails.
 */
#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sys/standard_fds.h"

static int real_open(void *self, const char *path, int flags, int mode)
{
  int reads = (flags & O_ACCMODE) == O_RDONLY ? O_NONBLOCK : 0; /* keeps (3) */
  int fd = open(path, flags | reads | O_CLOEXEC, (mode_t)mode); /* keeps (1) */
  return fd < 0 ? -errno : tm_fd_lift(fd);                      /* keeps (2) */
}

static int real_close(void *self, int fd)
{
  return close(fd) < 0 ? -errno : 0;
}

static int64_t real_pread(void *self, int fd, void *p, size_t n, int64_t at)
{
  ssize_t got = pread(fd, p, n, at);
  return got < 0 ? -errno : got;
}

static int64_t real_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  ssize_t put = pwrite(fd, p, n, at);
  return put < 0 ? -errno : put;
}

static int real_fsync(void *self, int fd)
{
  return fsync(fd) < 0 ? -errno : 0;
}

static int real_ftruncate(void *self, int fd, int64_t length)
{
  return ftruncate(fd, length) < 0 ? -errno : 0;
}

static int stat_out(int rc, const struct stat *s, struct tm_stat *out)
{
  if (rc < 0)
    return -errno;
  out->size = s->st_size;
  out->mtime_ns = (int64_t)s->st_mtim.tv_sec * 1000000000 + s->st_mtim.tv_nsec;
  out->ctime_ns = (int64_t)s->st_ctim.tv_sec * 1000000000 + s->st_ctim.tv_nsec;
  out->dev = s->st_dev;
  out->ino = s->st_ino;
  out->mode = s->st_mode;
  out->uid = s->st_uid;
  return 0;
}

static int real_fstat(void *self, int fd, struct tm_stat *out)
{
  struct stat s;
  return stat_out(fstat(fd, &s), &s, out);
}

static int real_stat(void *self, const char *path, bool follow, struct tm_stat *out)
{
  struct stat s;
  return stat_out(follow ? stat(path, &s) : lstat(path, &s), &s, out);
}

static int real_rename(void *self, const char *from, const char *to)
{
  return rename(from, to) < 0 ? -errno : 0;
}

/* For file systems that cannot refuse an existing name, such as NFS. Those without hard links
 * either (FAT) leave a moment between the look and the rename. */
static int link_new(const char *from, const char *to)
{
  struct stat s;

  if (link(from, to) == 0)
    return unlink(from) < 0 ? -errno : 0;
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
    return -errno;
  return lstat(to, &s) == 0 ? -EEXIST : real_rename(NULL, from, to);
}

static int real_rename_new(void *self, const char *from, const char *to)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  return errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS ? link_new(from, to) : -errno;
}

/* File systems that cannot exchange names answer EINVAL. */
static int real_exchange(void *self, const char *a, const char *b)
{
  if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0)
    return 0;
  return errno == EINVAL || errno == EOPNOTSUPP ? -ENOSYS : -errno;
}

static int real_unlink(void *self, const char *path)
{
  if (unlink(path) == 0)
    return 0;
  if (errno != EISDIR)
    return -errno;
  return rmdir(path) < 0 ? -errno : 0;
}

static int real_mkdir(void *self, const char *path, int mode)
{
  return mkdir(path, (mode_t)mode) < 0 ? -errno : 0;
}

static int real_symlink(void *self, const char *target, const char *path)
{
  return symlink(target, path) < 0 ? -errno : 0;
}

static int real_volume(void *self, const char *path, struct tm_volume *out)
{
  struct statfs s;
  if (statfs(path, &s) < 0)
    return -errno;
  *out = (struct tm_volume) { .is_memory = s.f_type == TMPFS_MAGIC,
                              .is_read_only = s.f_flags & ST_RDONLY,
                              .is_no_exec = s.f_flags & ST_NOEXEC,
                              .free_bytes =
                                  s.f_blocks > 0 ? (int64_t)s.f_bavail * s.f_frsize : INT64_MAX,
                              .free_files = s.f_files > 0 ? (int64_t)s.f_ffree : INT64_MAX };
  return 0;
}

static int real_readlink(void *self, const char *path, char *out, size_t size)
{
  ssize_t n = readlink(path, out, size);
  return n < 0 ? -errno : (int)n;
}

static int real_dir_read(void *self, const char *path, tm_on_name on_name, void *data)
{
  return tm_dir_read(path, on_name, data);
}

static int real_tree_remove(void *self, const char *path, struct tm_err *err)
{
  return tm_tree_remove(path, err);
}

const struct tm_fs *tm_fs_real(void)
{
  static const struct tm_fs real = {
    .open = real_open,
    .close = real_close,
    .pread = real_pread,
    .pwrite = real_pwrite,
    .fsync = real_fsync,
    .ftruncate = real_ftruncate,
    .fstat = real_fstat,
    .stat = real_stat,
    .rename = real_rename,
    .rename_new = real_rename_new,
    .exchange = real_exchange,
    .unlink = real_unlink,
    .mkdir = real_mkdir,
    .symlink = real_symlink,
    .volume = real_volume,
    .readlink = real_readlink,
    .dir_read = real_dir_read,
    .tree_remove = real_tree_remove,
  };
  return &real;
}

/* ---- locks on whole files, by flock ----
 *
 * A lock belongs to the open file, not to the process: a duplicate of the descriptor in a child
 * holds it too, and it ends when the last one is closed, however its owner dies. That tells whether
 * a process still lives in a job directory. It also means that a fork of the host keeps the lock:
 * whoever closes a job must release it explicitly.
 */

int tm_lock_take(int fd, bool shared)
{
  int rc;
  do
    rc = flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : 0;
}

void tm_lock_release(int fd)
{
  flock(fd, LOCK_UN);
}

bool tm_lock_is_unsupported(int code)
{
  return code == -ENOLCK || code == -ENOSYS || code == -EOPNOTSUPP;
}
