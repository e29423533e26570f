/* tally.h - counts what succeeded and what failed, and decides when a step is over.
 *
 * The supervisor reports every mini-batch that ends. The tally reads no clock and no file, and
 * calls nobody.
 *
 *  (1) items_failed = items of mini-batches that used up their tries + items without a returned
 *      element, if each item must have one (returns.h) + items that the script marked as failed. A
 *      returned element does not make a marked item succeed. A failed mini-batch whose rows nobody
 *      could count is one item.
 *  (2) The verdict leaves TM_RUNNING once, and never returns to it.
 */
#ifndef TM_SCHED_TALLY_H
#define TM_SCHED_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "record/counts.h"

/* The tolerated failures; the step fails as soon as one limit is exceeded. */
struct tm_limits {
  int64_t failed_items;        /* error_threshold; -1: all */
  int64_t failed_mini_batches; /* allowed_failed_count; -1: all */
  /* allowed_failed_percent, of all mini-batches; judged once all are created; negative: all */
  double failed_percent;
};

/* Why a try has failed. */
enum tm_tally_failure { TM_FAILED_BY_ERROR, TM_FAILED_BY_TIMEOUT, TM_FAILED_WITH_WORKER };

struct tm_tally {
  struct tm_counts counts;
  struct tm_limits limits;
  /* True: the step has failed if no item succeeded. False: the result of run() is ignored and may
   * be {}, so the step has failed if no mini-batch succeeded. */
  bool append_row;
  enum tm_verdict verdict;
};

void tm_tally_init(struct tm_tally *t, const struct tm_limits *limits, bool append_row);
/* What earlier sessions of the job left. Call it first. */
void tm_tally_add_earlier(struct tm_tally *t, int64_t succeeded, int64_t failed, int64_t items,
                          int64_t items_succeeded, int64_t returned);
/* `items`: the known number of items; if more have ended, their number counts. */
void tm_tally_set_created(struct tm_tally *t, int64_t mini_batches, int64_t items, bool all);
/* How many items of a mini-batch succeeded: the number of elements without those of marked
 * items. */
int64_t tm_tally_succeeded(int64_t items, int64_t marked, int64_t returned);
/* A mini-batch has ended well: `returned` elements for `items` items, of which `succeeded` did.
 * Keeps (1). */
void tm_tally_add_done(struct tm_tally *t, int64_t items, int64_t succeeded, int64_t returned);
/* A mini-batch has used up its tries. Keeps (1). */
void tm_tally_add_failed(struct tm_tally *t, int64_t items);
/* How many of the failed mini-batches count as one item because nobody could count their rows. */
void tm_tally_add_uncounted(struct tm_tally *t, int64_t mini_batches);
/* A part has been tried, with whatever result. */
void tm_tally_add_part(struct tm_tally *t);
/* A try has failed, finally or not. */
void tm_tally_add_failed_try(struct tm_tally *t, enum tm_tally_failure why);
/* TM_RUNNING, TM_COMPLETED or TM_FAILED. For TM_FAILED the first call says in `err` what was
 * exceeded, and by how much. It does not judge a step without input: the lister has the message for
 * that. Keeps (2). */
enum tm_verdict tm_tally_verdict(struct tm_tally *t, struct tm_err *err);
/* Mini-batches that were at workers may end after the verdict. If the cause is a limit that was
 * exceeded, says it again with the numbers of now, so that a report has one number. */
void tm_tally_count_again(const struct tm_tally *t, struct tm_err *cause);

#endif
