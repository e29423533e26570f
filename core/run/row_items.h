/* row_items.h - how many items a mini-batch of a table has: its rows, which who loads them counts. Part of the supervisor.
 */
#ifndef TM_RUN_ROW_ITEMS_H
#define TM_RUN_ROW_ITEMS_H

#include "run/supervisor_own.h"

/* What a worker says in its answer. */
void tm_rows_learn(const struct tm_supervisor *s, struct tm_held *held,
                   const struct tm_result_head *head);
/* Of a mini-batch that has failed and whose rows no worker has counted: they are read here, on the loop; at least one has
 * failed. */
void tm_rows_count(struct tm_supervisor *s, struct tm_held *held);
/* What was not as it should be in rows that were loaded, in words that may be any bytes: said once a step, the others at level
 * DEBUG. */
void tm_rows_warn(struct tm_supervisor *s, const struct tm_held *held,
                  const struct tm_reader *faults);

#endif
