/* hand.h - the mini-batches that a worker holds, and how many it should have.
 *
 * Pure. Entries are numbered by seq (node/worker_page.h), from 1, and end in any order. The window
 * is measured, not configured: enough to keep the worker busy during a round trip; a single one if
 * mini-batches take long.
 */
#ifndef TM_SCHED_HAND_H
#define TM_SCHED_HAND_H

#include "base/buf.h"
#include "node/worker_page.h"
#include "sched/queue.h"

#define TM_HAND_LATE_NS (10 * INT64_C(1000000))

struct tm_held {
  uint64_t seq; /* 0: free */
  struct tm_assignment entry;
  uint32_t dataset;
  uint32_t items;    /* 0: rows of a table that are not counted yet */
  bool is_uncounted; /* it has failed, and its rows could not be counted: `items` is 1 */
  int64_t manifest_at;
  int64_t handed_ns;        /* monotonic */
  struct tm_buf first_item; /* path; its memory is reused */
};

struct tm_hand {
  struct tm_held at[TM_PAGE_WORDS]; /* by seq % TM_PAGE_WORDS */
  uint64_t first, next;             /* all entries are in first .. next - 1 */
  size_t len;
  int64_t mean_ns; /* duration of a mini-batch, moving average; 0: none has ended yet */
};

void tm_hand_init(struct tm_hand *h);
void tm_hand_release(struct tm_hand *h);
/* Whether to send it one more. An empty hand has room. If its first entry has been there for
 * TM_HAND_LATE_NS, it has none, whatever the mean is: waiting mini-batches are better off
 * elsewhere. */
bool tm_hand_has_room(const struct tm_hand *h, int64_t now_ns);
/* Adds the next seq; the caller fills the rest. Only if there is room. */
struct tm_held *tm_hand_add(struct tm_hand *h);
struct tm_held *tm_hand_find(struct tm_hand *h, uint64_t seq); /* NULL: not there */
void tm_hand_remove(struct tm_hand *h, uint64_t seq);
/* A mini-batch has taken `ns` in the worker. */
void tm_hand_measure(struct tm_hand *h, int64_t ns);
size_t tm_hand_window(const struct tm_hand *h);
/* The seqs after the first that were sent before `before_ns`; returns their number. */
size_t tm_hand_waiting(const struct tm_hand *h, int64_t before_ns, uint64_t seqs[TM_PAGE_WORDS]);

#endif
