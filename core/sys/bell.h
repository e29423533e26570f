/* bell.h - what one thread, or a signal handler, wakes another with that polls. Several rings may be heard as one. */
#ifndef TM_SYS_BELL_H
#define TM_SYS_BELL_H

#include <stdbool.h>

#include "base/err.h"

struct tm_bell {
  int fd; /* readable from a ring until it is heard */
};

int tm_bell_open(struct tm_bell *b,
                 struct tm_err *err); /* negative and words when no descriptor can be had */
void tm_bell_close(struct tm_bell *b);
void tm_bell_ring(struct tm_bell *b); /* any thread; async-signal-safe */
/* Waits for a ring up to `timeout_ms` (negative: without limit), and hears it. False: none came in time, or a signal did. */
bool tm_bell_wait(struct tm_bell *b, int timeout_ms);

#endif
