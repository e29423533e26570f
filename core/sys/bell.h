/* bell.h - wakes a thread that polls, from another thread or from a signal handler. Several rings
 * may be heard as one. */
#ifndef TM_SYS_BELL_H
#define TM_SYS_BELL_H

#include <stdbool.h>

#include "base/err.h"

struct tm_bell {
  int fd; /* readable from a ring until it is heard */
};

/* Negative, with a message, if no descriptor is left. */
int tm_bell_open(struct tm_bell *b, struct tm_err *err);
void tm_bell_close(struct tm_bell *b);
void tm_bell_ring(struct tm_bell *b); /* any thread; async-signal-safe */
/* Waits up to `timeout_ms` (negative: without limit) for a ring, and consumes it. False: none came
 * in time, or a signal interrupted the wait. */
bool tm_bell_wait(struct tm_bell *b, int timeout_ms);

#endif
