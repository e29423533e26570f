/* window.h - the in-flight window of a worker: the assignments that it holds, and how many it
 * should have.
 *
 * Pure. Assignments are numbered by seq, from 1, and end in any order. The window is measured, not
 * configured: enough to keep the worker busy during a round trip; a single one if mini-batches take
 * long. Memory grows with the window.
 */
#ifndef TM_SCHED_WINDOW_H
#define TM_SCHED_WINDOW_H

#include "base/ring.h"
#include "sched/queue.h"

#define TM_WINDOW_LATE_NS (10 * INT64_C(1000000))

struct tm_inflight {
  uint64_t seq; /* ring.h */
  struct tm_assignment what;
  int64_t handed_ns; /* monotonic */
  bool is_recalled;  /* the keeper was asked to take it back, and has not answered */
};

struct tm_window {
  struct tm_ring ring; /* of struct tm_inflight */
  size_t span_max;     /* from the first seq to the last */
  int64_t mean_ns;     /* duration of a mini-batch, moving average; 0: none has ended yet */
};

/* `span_max`: the worker's page has as many words. */
void tm_window_init(struct tm_window *w, size_t span_max);
void tm_window_release(struct tm_window *w);
/* Whether to send it one more, if its first is not late. */
bool tm_window_has_room(const struct tm_window *w);
/* Whether its first assignment has been there for TM_WINDOW_LATE_NS: then it gets no more, whatever
 * the mean is, because waiting mini-batches are better off elsewhere. */
bool tm_window_is_late(const struct tm_window *w, int64_t now_ns);
/* Adds the next seq. Only if there is room. */
struct tm_inflight *tm_window_add(struct tm_window *w, const struct tm_assignment *what,
                                  int64_t now_ns);
struct tm_inflight *tm_window_find(const struct tm_window *w, uint64_t seq); /* NULL: not there */
void tm_window_remove(struct tm_window *w, uint64_t seq);
size_t tm_window_len(const struct tm_window *w);
/* A mini-batch has taken `ns` in the worker. */
void tm_window_measure(struct tm_window *w, int64_t ns);
/* How many assignments it should have. */
size_t tm_window_size(const struct tm_window *w);
/* Marks those after the first that were handed out before `before_ns` as recalled. Returns their
 * number. */
size_t tm_window_recall(struct tm_window *w, int64_t before_ns);

#endif
