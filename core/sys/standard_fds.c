/* standard_fds.c - see standard_fds.h. */
#include "sys/standard_fds.h"

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

int tm_fd_lift_pair(int fds[2])
{
  for (int i = 0; i < 2; i++) {
    int rc = tm_fd_lift(fds[i]);
    if (rc < 0) {
      close(fds[1 - i]);
      fds[0] = fds[1] = -1;
      return rc;
    }
    fds[i] = rc;
  }
  return 0;
}

void tm_standard_fds_hold(struct tm_standard_fds *low)
{
  low->len = 0;
  for (;;) {
    int fd = open("/dev/null", O_PATH | O_CLOEXEC);
    if (fd > STDERR_FILENO)
      close(fd);
    if (fd < 0 || fd > STDERR_FILENO)
      return;
    low->at[low->len++] = fd;
  }
}

/* The host may have replaced one with a file of its own; that one is not closed. */
void tm_standard_fds_release(struct tm_standard_fds *low)
{
  while (low->len > 0) {
    int fd = low->at[--low->len], flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_PATH))
      close(fd);
  }
}
