/* tally.h - what is done, what has failed, and whether a step is over.
 *
 * The supervisor tells it of every mini-batch that ends. It reads no clock and no file, and calls nobody.
 *
 *  (1) items_failed = items of mini-batches that used up their tries + items without a returned element, where each item
 *      must have one (returns.h) + items that the script marked as failed. An element that is returned for a marked item does not make it succeed. A failed mini-batch
 *      whose rows nobody could count is one item.
 *  (2) The verdict leaves TM_RUNNING once, and never returns to it.
 */
#ifndef TM_RUN_TALLY_H
#define TM_RUN_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "run/events.h"

/* What is tolerated; the step fails as soon as one is exceeded. */
struct tm_limits {
  int64_t failed_items;        /* error_threshold; -1 all */
  int64_t failed_mini_batches; /* allowed_failed_count; -1 all */
  double
      failed_percent; /* allowed_failed_percent, of all mini-batches; judged once all are created; negative: all */
};

struct tm_tally {
  struct tm_counts counts;
  struct tm_limits limits;
  /* Without one item that succeeded the step has failed; else, where what run() returns is not looked at and may be {}, without one
   * mini-batch that did. */
  bool append_row;
  enum tm_verdict verdict;
};

void tm_tally_init(struct tm_tally *t, const struct tm_limits *limits, bool append_row);
/* What earlier sessions of the job have left; before anything else. */
void tm_tally_add_earlier(struct tm_tally *t, int64_t succeeded, int64_t failed, int64_t items,
                          int64_t items_succeeded, int64_t returned);
/* `items`: those that are known of; where more have ended, these count. */
void tm_tally_set_created(struct tm_tally *t, int64_t mini_batches, int64_t items, bool all);
/* How many items of a mini-batch succeeded: as many as there are elements, but those that are marked. */
int64_t tm_tally_succeeded(int64_t items, int64_t marked, int64_t returned);
/* A mini-batch has ended well: `returned` elements for `items` items, of which `succeeded` did. Keeps (1). */
void tm_tally_add_done(struct tm_tally *t, int64_t items, int64_t succeeded, int64_t returned);
/* A mini-batch has used up its tries. Keeps (1). */
void tm_tally_add_failed(struct tm_tally *t, int64_t items);
/* Of the failed mini-batches, so many count as one item because nobody could count their rows. */
void tm_tally_add_uncounted(struct tm_tally *t, int64_t mini_batches);
/* A part has been tried, with what result ever. */
void tm_tally_add_part(struct tm_tally *t);
/* A try has failed, finally or not. */
void tm_tally_add_failed_try(struct tm_tally *t, enum tm_status status);
/* TM_RUNNING, TM_COMPLETED or TM_FAILED; for TM_FAILED the first call says in `err` what was exceeded, and by how much.
 * No input at all is not judged here: the lister knows the words. Keeps (2). */
enum tm_verdict tm_tally_verdict(struct tm_tally *t, struct tm_err *err);

#endif
