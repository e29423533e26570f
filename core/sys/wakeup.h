/* wakeup.h - wakes a thread that polls, from another thread or from a signal handler. Several rings
 * may be heard as one. */
#ifndef TM_SYS_WAKEUP_H
#define TM_SYS_WAKEUP_H

#include <stdbool.h>

#include "base/err.h"

struct tm_wakeup {
  int fd; /* readable from a ring until it is heard */
};

/* Negative, with a message, if no descriptor is left. */
int tm_wakeup_open(struct tm_wakeup *b, struct tm_err *err);
void tm_wakeup_close(struct tm_wakeup *b);
void tm_wakeup_send(struct tm_wakeup *b); /* any thread; async-signal-safe */
/* Waits up to `timeout_ms` (negative: without limit) for a ring, and consumes it. False: none came
 * in time, or a signal interrupted the wait. */
bool tm_wakeup_wait(struct tm_wakeup *b, int timeout_ms);

#endif
