/* handoff.h - bytes on their way between the loop's thread and another thread, in one direction. At
 * most `limit` of them are kept. The loop's thread never waits; the other one waits for room, or
 * for bytes, until the handoff is closed.
 *
 * Who wakes the loop when something has changed is the user's to decide (sys/errand.h).
 */
#ifndef TM_SYS_HANDOFF_H
#define TM_SYS_HANDOFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sys/threads.h"

struct tm_handoff {
  struct tm_mutex gate;
  struct tm_cond changed;
  struct tm_buf bytes;
  size_t at; /* where those begin that were not taken */
  size_t limit;
  bool is_closed;
};

void tm_handoff_init(struct tm_handoff *h, size_t limit);
void tm_handoff_release(struct tm_handoff *h); /* when no thread uses it */

/* ---- the other thread ---- */

/* Waits until all of it has found room. False: it was closed. */
bool tm_handoff_put(struct tm_handoff *h, const char *p, size_t n);
/* Waits until there are n bytes, and takes them. False: it was closed. n may exceed the limit. */
bool tm_handoff_get(struct tm_handoff *h, char *p, size_t n);

/* ---- the loop's thread ---- */

/* Adds up to `max` bytes to `out`. Returns how many. */
size_t tm_handoff_take(struct tm_handoff *h, struct tm_buf *out, size_t max);
/* False: there is no room for it, and nothing was added. */
bool tm_handoff_give(struct tm_handoff *h, const char *p, size_t n);
size_t tm_handoff_len(struct tm_handoff *h);
/* Nobody waits any more, and the rest of the bytes is of no use. */
void tm_handoff_close(struct tm_handoff *h);

#endif
