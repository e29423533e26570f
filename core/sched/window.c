/* window.c - see window.h.
 *
 * A worker's page has a word for each seq of the span first..next, so the span is never longer than
 * the page, even if assignments in between have been taken back.
 */
#include "sched/window.h"

#include "base/check.h"

/* A worker that holds one assignment waits for a round trip after each. That is too much if a
 * mini-batch takes less than so many round trips. */
#define WORTH_HIDING 20

void tm_window_init(struct tm_window *w, size_t span_max)
{
  tm_require(span_max >= 2 && span_max <= UINT32_MAX);
  *w = (struct tm_window) { .span_max = (uint32_t)span_max };
  tm_ring_init(&w->ring, sizeof(struct tm_inflight));
}

void tm_window_release(struct tm_window *w)
{
  tm_ring_release(&w->ring, NULL);
}

size_t tm_window_len(const struct tm_window *w)
{
  return w->ring.len;
}

/* As measured. Half of the page is enough for a short way. Only to hide a long one, all of it is
 * used. */
static size_t measured_size(const struct tm_window *w, int64_t distance_ns)
{
  int64_t work_ns = TM_WINDOW_WORK_NS, most = (int64_t)w->span_max / 2, more;

  if (w->mean_ns == 0)
    return 1;
  if (2 * distance_ns > work_ns) {
    work_ns = 2 * distance_ns;
    most = (int64_t)w->span_max;
  }
  more = work_ns / w->mean_ns;
  if (w->mean_ns < WORTH_HIDING * distance_ns && work_ns % w->mean_ns > 0)
    more++;
  return 1 + (size_t)(more < most - 1 ? more : most - 1);
}

size_t tm_window_size(const struct tm_window *w, int64_t distance_ns)
{
  size_t size = measured_size(w, distance_ns);

  return size > w->least ? size : w->least;
}

bool tm_window_has_room(const struct tm_window *w, int64_t distance_ns)
{
  return w->ring.len < tm_window_size(w, distance_ns) && w->ring.next - w->ring.first < w->span_max;
}

/* What counts is not how old the first is: in a window that is full, all are as old as the work
 * before them took. */
bool tm_window_is_late(const struct tm_window *w, int64_t distance_ns, int64_t now_ns)
{
  return w->ring.len > 0 && w->ring.len >= w->least &&
         now_ns - w->first_ns >= tm_window_late_ns(distance_ns);
}

struct tm_inflight *tm_window_add(struct tm_window *w, const struct tm_assignment *what,
                                  int64_t now_ns)
{
  struct tm_inflight *in;

  tm_require(w->ring.next - w->ring.first < w->span_max);
  if (w->ring.len == 0)
    w->first_ns = now_ns;
  in = tm_ring_add(&w->ring);
  in->what = *what;
  in->handed_ns = now_ns;
  in->is_recalled = false;
  return in;
}

struct tm_inflight *tm_window_find(const struct tm_window *w, uint64_t seq)
{
  return tm_ring_find(&w->ring, seq);
}

void tm_window_remove(struct tm_window *w, uint64_t seq, int64_t now_ns)
{
  if (seq == w->ring.first)
    w->first_ns = now_ns;
  tm_ring_remove(&w->ring, seq);
}

void tm_window_measure(struct tm_window *w, int64_t ns)
{
  if (ns < 1)
    ns = 1;
  w->mean_ns = w->mean_ns == 0 ? ns : (7 * w->mean_ns + ns) / 8;
  if (w->mean_ns < 1)
    w->mean_ns = 1;
}

/* The next one after `seq`; NULL: it was the last. */
static struct tm_inflight *after(const struct tm_window *w, uint64_t seq)
{
  struct tm_inflight *in = NULL;

  while (!in && ++seq < w->ring.next)
    in = tm_ring_find(&w->ring, seq);
  return in;
}

int64_t tm_window_waits_since(const struct tm_window *w)
{
  const struct tm_inflight *in = after(w, w->ring.first);

  return in ? in->handed_ns : INT64_MAX;
}

size_t tm_window_recall(struct tm_window *w, int64_t until_ns)
{
  size_t late = 0, n = 0;

  for (struct tm_inflight *in = after(w, w->ring.first); in && in->handed_ns <= until_ns;
       in = after(w, in->seq))
    late++;
  for (struct tm_inflight *in = after(w, w->ring.first); in && n < late; in = after(w, in->seq))
    in->is_recalled = ++n + TM_WINDOW_RECALL_MAX > late;
  return late < TM_WINDOW_RECALL_MAX ? late : TM_WINDOW_RECALL_MAX;
}
