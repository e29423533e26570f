/* returns.h - what the number of elements that run() returned says of its items: the parameter `returns`.
 *
 *   items   each element stands for an item that succeeded: items without one have failed
 *   any     the number says nothing: all items have succeeded but those that the script marked as failed
 *   auto    any for rows of tables, which run() may filter and aggregate, unless error_threshold is set; else items
 *
 * Part of the supervisor, on its thread.
 */
#ifndef TM_RUN_RETURNS_H
#define TM_RUN_RETURNS_H

#include "run/supervisor_own.h"

/* Pure. */
bool tm_returns_any(const struct tm_config *config, bool are_rows);

/* How many items of a try that has ended well succeeded. */
uint32_t tm_returns_succeeded(const struct tm_supervisor *s, const struct tm_held *held,
                              uint32_t marked, uint32_t returned);
/* Warns, once for a step, of more elements than items, and of rows without an element that error_threshold counts. */
void tm_returns_warn(struct tm_supervisor *s, const struct tm_held *held, uint32_t marked,
                     uint32_t returned);

#endif
