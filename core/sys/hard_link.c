/* hard_link.c - changes or checks a file by its name, without opening it: a second name, its time,
 * its mode, what this process may do with it.
 * See fs.h. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fs.h"

int tm_file_link(const char *from, const char *to)
{
  return link(from, to) < 0 ? -errno : 0;
}

int tm_file_set_mtime(const char *path, int64_t mtime_ns)
{
  struct timespec times[2] = {
    { .tv_nsec = UTIME_OMIT }, { .tv_sec = mtime_ns / 1000000000, .tv_nsec = mtime_ns % 1000000000 }
  };
  return utimensat(AT_FDCWD, path, times, 0) < 0 ? -errno : 0;
}

int tm_file_new_private(const char *path)
{
  return mknod(path, S_IFREG | 0600, 0) < 0 ? -errno : 0;
}

int tm_file_make_private(const char *path)
{
  struct stat st;
  if (lstat(path, &st) < 0)
    return -errno;
  if (!S_ISREG(st.st_mode) || !(st.st_mode & 077) || st.st_uid != geteuid())
    return 0;
  return chmod(path, 0600) < 0 ? -errno : 0;
}

int tm_file_check(const char *path, bool writes)
{
  struct stat st;
  int mode = writes ? W_OK : R_OK;
  if (stat(path, &st) < 0)
    return -errno;
  if (S_ISDIR(st.st_mode))
    mode |= X_OK;
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS) < 0 ? -errno : 0;
}
