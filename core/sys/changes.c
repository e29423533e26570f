/* changes.c - see changes.h. An epoll descriptor over two: inotify, and a timer. */
#include "sys/changes.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/time.h"
#include "sys/standard_fds.h"

#define WANTED                                                                                     \
  (IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_ONLYDIR)

/* Of a call that has just returned `fd`. */
static int made(int fd)
{
  return fd < 0 ? -errno : tm_fd_lift(fd);
}

static int watch(struct tm_changes *c, int fd)
{
  struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

  return epoll_ctl(c->fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static int start_timer(struct tm_changes *c, int64_t every_ns)
{
  struct timespec every = { .tv_sec = every_ns / TM_S, .tv_nsec = every_ns % TM_S };
  struct itimerspec spec = { .it_interval = every, .it_value = every };

  return timerfd_settime(c->timer, 0, &spec, NULL) < 0 ? -errno : 0;
}

int tm_changes_open(struct tm_changes *c, int64_t every_ns, struct tm_err *err)
{
  int rc;

  tm_require(every_ns > 0);
  c->fd = made(epoll_create1(EPOLL_CLOEXEC));
  c->timer = made(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  c->notify = made(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  rc = c->fd < 0 ? c->fd : c->timer < 0 ? c->timer : start_timer(c, every_ns);
  if (rc == 0)
    rc = watch(c, c->timer);
  if (rc == 0 && c->notify >= 0) /* else the limit of instances is reached: the timer is left */
    rc = watch(c, c->notify);
  if (rc < 0) {
    tm_changes_close(c);
    return tm_err_system(err, rc, "cannot watch files");
  }
  return 0;
}

void tm_changes_add(struct tm_changes *c, const char *folder)
{
  if (c->notify >= 0)
    (void)inotify_add_watch(c->notify, folder, WANTED);
}

bool tm_changes_take(struct tm_changes *c)
{
  char bytes[16384];
  bool was_readable = false;

  while (c->notify >= 0 && read(c->notify, bytes, sizeof bytes) > 0)
    was_readable = true;
  while (read(c->timer, bytes, 8) > 0)
    was_readable = true;
  return was_readable;
}

void tm_changes_close(struct tm_changes *c)
{
  int fds[] = { c->fd, c->notify, c->timer };

  for (size_t i = 0; i < TM_COUNT_OF(fds) && c->fd != 0; i++)
    if (fds[i] >= 0)
      close(fds[i]);
  *c = (struct tm_changes) { .fd = 0 };
}
