/* returns.h - what the number of elements that run() returned says of its items.
 *
 * Part of the supervisor, on its thread.
 */
#ifndef TM_RUN_RETURNS_H
#define TM_RUN_RETURNS_H

#include "run/supervisor_own.h"

/* Warns of more elements than items that are not marked, once for a step. */
void tm_returns_warn(struct tm_supervisor *s, const struct tm_held *held, uint32_t marked,
                     uint32_t returned);

#endif
