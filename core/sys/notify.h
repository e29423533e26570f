/* notify.h - being told that files in a folder come, grow, or are closed by who wrote them (inotify).
 *
 * What happens on another machine that shares the file system is not told. Caller: open; add folders; close.
 */
#ifndef TM_SYS_NOTIFY_H
#define TM_SYS_NOTIFY_H

#include "base/err.h"
#include "base/mem.h"
#include "sys/loop.h"

struct tm_notify {
  int fd;
  struct tm_poll poll;
  struct TM_ARRAY(char *) folders; /* by the number of the watch */
  /* `path`: the file or folder; NULL: more happened than could be told, look at all. */
  void (*on_change)(void *data, const char *path);
  void *data;
};

int tm_notify_open(struct tm_notify *n, struct tm_loop *loop,
                   void (*on_change)(void *data, const char *path), void *data, struct tm_err *err);
/* A folder that is not there, or was added before, is passed over: 0. Negative: the machine's limit of watches. */
int tm_notify_add(struct tm_notify *n, const char *folder, struct tm_err *err);
void tm_notify_close(struct tm_notify *n); /* not open (zeroed): a no-op */

#endif
