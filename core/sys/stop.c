/* stop.c - see stop.h.
 *
 *   waiting thread: poll { input, fd } <--- eventfd --- tm_stop_set()
 *
 *  (1) The flag is set before the descriptor becomes readable, so that a woken thread sees it.
 *  (2) Input is polled before each read, also before the first: a FIFO without a writer would read
 *      as ended.
 */
#include "sys/stop.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/standard_fds.h"

int tm_stop_open(struct tm_stop *s, struct tm_err *err)
{
  atomic_init(&s->is_set, false);
  s->on_wait = NULL;
  s->fd = tm_fd_lift(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return s->fd < 0 ? tm_err_system(err, -errno, "cannot make an event descriptor") : 0;
}

void tm_stop_set(struct tm_stop *s)
{
  uint64_t one = 1;
  atomic_store(&s->is_set, true); /* keeps (1) */
  tm_check(write(s->fd, &one, sizeof one) == (ssize_t)sizeof one || errno == EAGAIN);
}

bool tm_stop_is_set(const struct tm_stop *s)
{
  return atomic_load_explicit(&s->is_set, memory_order_acquire);
}

void tm_stop_close(struct tm_stop *s)
{
  if (s->fd >= 0)
    close(s->fd);
  s->fd = -1;
}

/* Waits for either; 0 or a negated errno. */
static int wait_for(const struct tm_stop *s, struct pollfd both[2])
{
  int rc = poll(both, 2, 0);
  if (rc == 0 && s && s->on_wait)
    s->on_wait(s->data);
  while (rc == 0 || (rc < 0 && errno == EINTR))
    rc = poll(both, 2, -1);
  return rc < 0 ? -errno : 0;
}

int64_t tm_stop_read(const struct tm_stop *s, int fd, void *p, size_t n)
{
  for (;;) {
    struct pollfd both[] = { { .fd = fd, .events = POLLIN },
                             { .fd = s ? s->fd : -1, .events = POLLIN } };
    int rc = wait_for(s, both); /* keeps (2) */
    if (rc < 0)
      return rc;
    if (s && tm_stop_is_set(s))
      return -ECANCELED;
    ssize_t got = both[0].revents ? read(fd, p, n) : 0;
    if (got < 0 && errno != EINTR && errno != EAGAIN)
      return -errno;
    if (got >= 0 && both[0].revents)
      return got;
  }
}
