/* wakeup.c - see wakeup.h. */
#include "sys/wakeup.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/standard_fds.h"

int tm_wakeup_open(struct tm_wakeup *b, struct tm_err *err)
{
  b->fd = tm_fd_lift(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return b->fd < 0 ? tm_err_system(err, -errno, "cannot make an event descriptor") : 0;
}

void tm_wakeup_close(struct tm_wakeup *b)
{
  if (b->fd >= 0)
    close(b->fd);
  b->fd = -1;
}

void tm_wakeup_send(struct tm_wakeup *b)
{
  uint64_t one = 1;
  int error = errno; /* a signal handler must keep it */
  tm_check(write(b->fd, &one, sizeof one) == (ssize_t)sizeof one || errno == EAGAIN);
  errno = error;
}

bool tm_wakeup_wait(struct tm_wakeup *b, int timeout_ms)
{
  struct pollfd fd = { .fd = b->fd, .events = POLLIN };
  uint64_t rings;
  return poll(&fd, 1, timeout_ms) > 0 && read(b->fd, &rings, sizeof rings) > 0;
}
