/* hard_link.c - a second name for a file; see fs.h. */
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
