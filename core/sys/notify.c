/* notify.c - see notify.h.
 *
 * It does not use libuv's uv_fs_event, which does not report that a file was closed. The close of a
 * file that a killed process held open tells its watcher that the process has ended.
 */
#include "sys/notify.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/path.h"
#include "sys/standard_fds.h"

#define WANTED (IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE)

static void tell(struct tm_notify *n, const struct inotify_event *e)
{
  if (e->mask & IN_Q_OVERFLOW) {
    n->on_change(n->data, NULL);
  } else if (e->len > 0 && e->wd >= 0 && (size_t)e->wd < n->folders.len && n->folders.at[e->wd]) {
    char *path = tm_path_join(n->folders.at[e->wd], e->name);
    n->on_change(n->data, path);
    free(path);
  }
}

static void on_ready(struct tm_poll *p, int events)
{
  struct tm_notify *n = p->data;
  union {
    struct inotify_event first; /* for its alignment */
    char bytes[16384];
  } all;
  ssize_t got;
  while (n->poll.is_open && (got = read(n->fd, all.bytes, sizeof(all.bytes))) > 0)
    for (char *at = all.bytes; n->poll.is_open && at < all.bytes + got;) {
      const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
      at += sizeof(*e) + e->len;
      tell(n, e);
    }
}

int tm_notify_open(struct tm_notify *n, struct tm_loop *loop,
                   void (*on_change)(void *data, const char *path), void *data, struct tm_err *err)
{
  *n = (struct tm_notify) { .on_change = on_change, .data = data };
  n->fd = tm_fd_lift(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (n->fd < 0)
    return tm_err_system(err, -errno, "cannot watch files (fs.inotify.max_user_instances)");
  int rc = tm_poll_open(&n->poll, loop, n->fd, on_ready, n, err);
  if (rc < 0)
    close(n->fd);
  else
    tm_poll_want(&n->poll, TM_READABLE);
  return rc;
}

int tm_notify_add(struct tm_notify *n, const char *folder, struct tm_err *err)
{
  int wd = inotify_add_watch(n->fd, folder, WANTED | IN_ONLYDIR);
  if (wd < 0 && (errno == ENOENT || errno == ENOTDIR))
    return 0;
  if (wd < 0)
    return tm_err_system(err, -errno, "cannot watch '%s' (fs.inotify.max_user_watches)", folder);
  while (n->folders.len <= (size_t)wd)
    *TM_ARRAY_ADD(&n->folders) = NULL;
  if (!n->folders.at[wd])
    n->folders.at[wd] = tm_xstrdup(folder);
  return 0;
}

void tm_notify_close(struct tm_notify *n)
{
  if (!n->poll.is_open)
    return;
  tm_poll_close(&n->poll);
  close(n->fd);
  for (size_t i = 0; i < n->folders.len; i++)
    free(n->folders.at[i]);
  TM_ARRAY_RELEASE(&n->folders);
}
