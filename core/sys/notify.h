/* notify.h - reports files in a folder that appear, grow, or are closed by their writer (inotify).
 *
 * Changes made on another machine that shares the file system are not reported. Caller: open; add
 * folders; close.
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
  /* `path`: the file or folder; NULL: events were lost, look at everything. */
  void (*on_change)(void *data, const char *path);
  void *data;
};

int tm_notify_open(struct tm_notify *n, struct tm_loop *loop,
                   void (*on_change)(void *data, const char *path), void *data, struct tm_err *err);
/* Returns 0 for a folder that does not exist or was added before. Negative: the machine's limit of
 * watches is reached. */
int tm_notify_add(struct tm_notify *n, const char *folder, struct tm_err *err);
void tm_notify_close(struct tm_notify *n); /* not open (zeroed): a no-op */

#endif
