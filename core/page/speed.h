/* speed.h - how many items per second a step did: the median and the peak over windows of equal
 * length. Pure. */
#ifndef TM_PAGE_SPEED_H
#define TM_PAGE_SPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "insight/step_model.h"

struct tm_speed { /* items per second */
  size_t windows; /* in which a worker lived; 0: too few for a median and a peak */
  double median, peak, average;
};

/* False: the step has not done two mini-batches, or lasted less than a second. A window has
 * a second at least; time without workers, between sessions, does not count. */
bool tm_speed_of(const struct tm_step_model *m, struct tm_speed *speed);

#endif
