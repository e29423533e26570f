/* returns.h - the parameter `returns`: what the number of elements that run() returned says about
 * its items.
 *
 *   items   each element stands for an item that succeeded: items without one have failed
 *   any     the number says nothing: all items have succeeded except those that the script marked
 *   auto    any for rows of tables, which run() may filter and aggregate; items otherwise, and
 *           for rows of tables if error_threshold is set
 *
 * Part of the supervisor, on its thread.
 */
#ifndef TM_STEP_RETURNS_H
#define TM_STEP_RETURNS_H

#include "step/supervisor_own.h"

/* How many items succeeded in a try that ended well. */
uint32_t tm_returns_succeeded(const struct tm_supervisor *s, const struct tm_in_flight *held,
                              uint32_t marked, uint32_t returned);
/* Warns once per step about more elements than items, and about rows without an element that
 * error_threshold counts. */
void tm_returns_warn(struct tm_supervisor *s, const struct tm_in_flight *held, uint32_t marked,
                     uint32_t returned);

#endif
