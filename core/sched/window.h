/* window.h - the in-flight window of a worker: the assignments that it holds, and how many it
 * should have.
 *
 * Pure. Assignments are numbered by seq, from 1, and end in any order. The window is measured, not
 * configured: it has work for TM_WINDOW_WORK_NS, or for two round trips to the worker's node if
 * those take longer, so that the worker stays busy while answers and new work travel; a single
 * assignment if mini-batches take so long that the round trip does not matter. Memory grows with
 * the window.
 *
 * A worker whose script has prefetch() should have at least three, however long they take: the one
 * in front, the one that prefetch() is called for before it, and one on its way. With two, the next
 * one would leave only when the answer of the last one has arrived, and come too late.
 *
 * `distance_ns` is the round trip to the node, between 0 and TM_WINDOW_DISTANCE_MAX_NS. The caller
 * passes it to each call, because it changes.
 */
#ifndef TM_SCHED_WINDOW_H
#define TM_SCHED_WINDOW_H

#include "base/ring.h"
#include "sched/queue.h"

#define TM_WINDOW_WORK_NS         (2 * INT64_C(1000000))
#define TM_WINDOW_LATE_NS         (10 * INT64_C(1000000))
#define TM_WINDOW_DISTANCE_MAX_NS INT64_C(1000000000)
#define TM_WINDOW_PREFETCH        3   /* `least`, for a script that has prefetch() */
#define TM_WINDOW_RECALL_MAX      120 /* their numbers fit into a message of 1,024 bytes */

struct tm_inflight {
  uint64_t seq; /* ring.h */
  struct tm_assignment what;
  int64_t handed_ns; /* monotonic */
  bool is_recalled;  /* the keeper was asked to take it back, and has not answered */
};

struct tm_window {
  struct tm_ring ring; /* of struct tm_inflight */
  int64_t mean_ns;     /* duration of a mini-batch, moving average; 0: none has ended yet */
  int64_t first_ns;    /* since when its first has been the first, if there is one */
  uint32_t span_max;   /* from the first seq to the last */
  uint32_t least;      /* how many it should have, whatever else; 0 at first */
};

/* `span_max`: the worker's page has as many words. */
void tm_window_init(struct tm_window *w, size_t span_max);
void tm_window_release(struct tm_window *w);
/* How long something may be in the window before it is late. */
static inline int64_t tm_window_late_ns(int64_t distance_ns)
{
  return TM_WINDOW_LATE_NS + distance_ns;
}
/* Whether to send it one more, if its first is not late. */
bool tm_window_has_room(const struct tm_window *w, int64_t distance_ns);
/* Whether its first assignment has been the first for tm_window_late_ns(): then it gets no more
 * than `least`, whatever the mean is, because waiting mini-batches are better off elsewhere. */
bool tm_window_is_late(const struct tm_window *w, int64_t distance_ns, int64_t now_ns);
/* Adds the next seq. Only if there is room. */
struct tm_inflight *tm_window_add(struct tm_window *w, const struct tm_assignment *what,
                                  int64_t now_ns);
struct tm_inflight *tm_window_find(const struct tm_window *w, uint64_t seq); /* NULL: not there */
void tm_window_remove(struct tm_window *w, uint64_t seq, int64_t now_ns);
size_t tm_window_len(const struct tm_window *w);
/* A mini-batch has taken `ns` in the worker. */
void tm_window_measure(struct tm_window *w, int64_t ns);
/* How many assignments it should have. */
size_t tm_window_size(const struct tm_window *w, int64_t distance_ns);
/* When the oldest that waits behind the first was handed out; INT64_MAX: none waits. */
int64_t tm_window_waits_since(const struct tm_window *w);
/* Marks those after the first that were handed out until `until_ns` as recalled, at most the last
 * TM_WINDOW_RECALL_MAX of them: those before may have begun when the recall arrives. Returns their
 * number. */
size_t tm_window_recall(struct tm_window *w, int64_t until_ns);

#endif
