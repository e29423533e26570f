/* window.c - see window.h.
 *
 * A worker's page has a word for each seq of the span first..next, so the span is never longer than
 * the page, even if assignments in between have been taken back.
 */
#include "sched/window.h"

#include "base/check.h"
#include "base/time.h"

#define WORK_NS (2 * TM_MS) /* amount of work that a worker should have ahead */

void tm_window_init(struct tm_window *w, size_t span_max)
{
  tm_require(span_max >= 2);
  *w = (struct tm_window) { .span_max = span_max };
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

size_t tm_window_size(const struct tm_window *w)
{
  int64_t more, most = (int64_t)w->span_max / 2;

  if (w->mean_ns == 0)
    return 1;
  more = WORK_NS / w->mean_ns;
  return 1 + (size_t)(more < most - 1 ? more : most - 1);
}

bool tm_window_has_room(const struct tm_window *w)
{
  return w->ring.len < tm_window_size(w) && w->ring.next - w->ring.first < w->span_max;
}

bool tm_window_is_late(const struct tm_window *w, int64_t now_ns)
{
  const struct tm_inflight *first = tm_ring_first(&w->ring);

  return first && now_ns - first->handed_ns >= TM_WINDOW_LATE_NS;
}

struct tm_inflight *tm_window_add(struct tm_window *w, const struct tm_assignment *what,
                                  int64_t now_ns)
{
  struct tm_inflight *in;

  tm_require(w->ring.next - w->ring.first < w->span_max);
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

void tm_window_remove(struct tm_window *w, uint64_t seq)
{
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

size_t tm_window_recall(struct tm_window *w, int64_t before_ns)
{
  size_t n = 0;

  for (uint64_t seq = w->ring.first + 1; seq < w->ring.next; seq++) {
    struct tm_inflight *in = tm_ring_find(&w->ring, seq);
    if (!in || in->handed_ns >= before_ns)
      continue;
    in->is_recalled = true;
    n++;
  }
  return n;
}
