/* handoff.h - passes bytes between the loop's thread and another thread, in one direction. It keeps
 * at most `limit` bytes. The loop's thread never waits. The other thread waits for room or for
 * bytes until the handoff is closed.
 *
 * The handoff does not wake the loop; its user does (sys/errand.h).
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
  size_t at; /* the first byte that was not taken */
  size_t limit;
  bool is_closed;
};

void tm_handoff_init(struct tm_handoff *h, size_t limit);
void tm_handoff_release(struct tm_handoff *h); /* when no thread uses it */

/* ---- the other thread ---- */

/* Waits until there was room for all bytes. False: it was closed. */
bool tm_handoff_put(struct tm_handoff *h, const char *p, size_t n);
/* Waits until there are n bytes, and takes them. False: it was closed. n may exceed the limit. */
bool tm_handoff_get(struct tm_handoff *h, char *p, size_t n);

/* ---- the loop's thread ---- */

/* Moves up to `max` bytes to `out`. Returns how many. */
size_t tm_handoff_take(struct tm_handoff *h, struct tm_buf *out, size_t max);
/* False: there is no room for all bytes, and none was added. */
bool tm_handoff_give(struct tm_handoff *h, const char *p, size_t n);
size_t tm_handoff_len(struct tm_handoff *h);
/* Ends all waits. The remaining bytes are lost. */
void tm_handoff_close(struct tm_handoff *h);

#endif
