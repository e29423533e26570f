/* handed.h - with logging_level DEBUG, an event for each mini-batch that a worker gets. Other jobs
 * pay one comparison for it. */
#ifndef TM_STEP_HANDED_H
#define TM_STEP_HANDED_H

#include "step/supervisor_own.h"

void tm_handed_emit(struct tm_worker *w, const struct tm_in_flight *held);

static inline void tm_handed_tell(struct tm_worker *w, const struct tm_in_flight *held)
{
  if (w->s->o.step->config.logging_level == TM_DEBUG)
    tm_handed_emit(w, held);
}

#endif
