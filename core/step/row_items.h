/* row_items.h - how many items a mini-batch of a table has: its rows. Part of the supervisor.
 *
 * Only workers count rows. A worker reports the number in its answer, and before that on the page
 * that it shares with the keeper: the number is known even if run() kills the worker. When a worker
 * dies while it loads the rows, the next try counts them first (agent/agent.c). If no try could
 * count them, the number is not known: the mini-batch counts as one failed item, and the result
 * says so. The supervisor itself reads no row: a row that has just killed a worker would kill or
 * block it, too.
 */
#ifndef TM_STEP_ROW_ITEMS_H
#define TM_STEP_ROW_ITEMS_H

#include "step/supervisor_own.h"

/* What a worker reports in its answer. False: more rows than the part has, which cannot be. */
bool tm_rows_learn(const struct tm_supervisor *s, struct tm_in_flight *held,
                   const struct tm_result_head *head);
/* What was on the page of a worker that has ended. */
void tm_rows_learn_lost(const struct tm_supervisor *s, struct tm_in_flight *held,
                        const struct tm_page_view *view);
/* The mini-batch has failed for good. If nobody has counted its rows, it becomes one item, marked
 * as uncounted. */
void tm_rows_settle(struct tm_supervisor *s, struct tm_in_flight *held);
/* Faults in rows that were loaded or returned, as a list of data/frame/fault_list.h. Each kind is
 * reported once per step; with logging_level DEBUG, for every mini-batch. */
void tm_rows_warn(struct tm_supervisor *s, const struct tm_in_flight *held,
                  const struct tm_reader *faults);
/* At the end of the step, reports the number of faults of each kind, unless the first warning said
 * it: that is, if more than one mini-batch had some. */
void tm_rows_sum_up(struct tm_supervisor *s);

#endif
