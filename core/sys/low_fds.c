/* low_fds.c - see low_fds.h. */
#include "sys/low_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int tm_fd_lift(int fd)
{
  if (fd < 0 || fd > STDERR_FILENO)
    return fd;
  int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (high < 0)
    high = -errno;
  close(fd);
  return high;
}

void tm_low_fds_hold(struct tm_low_fds *low)
{
  low->len = 0;
  for (;;) {
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd > STDERR_FILENO)
      close(fd);
    if (fd < 0 || fd > STDERR_FILENO)
      return;
    low->at[low->len++] = fd;
  }
}

void tm_low_fds_release(struct tm_low_fds *low)
{
  while (low->len > 0)
    close(low->at[--low->len]);
}
