/* moment.h - clocks: when it is, and what something has cost. */
#ifndef TM_PORTAL_MOMENT_H
#define TM_PORTAL_MOMENT_H

#include <stdint.h>

/* Of a clock that never jumps. */
int64_t tm_moment_now_ns(void);
/* What this thread has computed so far. On a busy machine the clock above counts waiting, too. */
int64_t tm_moment_spent_ns(void);

#endif
