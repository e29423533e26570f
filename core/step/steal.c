/* steal.c - takes back what waits at one worker for another worker that has nothing: see
 * supervisor_own.h. The keeper says which mini-batches had not begun (node/worker_page.h); only
 * these come back.
 */
#include "base/time.h"
#include "step/supervisor_own.h"
#include "sys/clock.h"

#define STEAL_NS TM_HAND_LATE_NS /* what waits longer at a worker is taken back for an idle one */

/* One worker is idle, and another one has a waiting mini-batch. */
static bool should_steal(const struct tm_supervisor *s)
{
  bool has_idle = false, has_waiting = false;

  for (size_t i = 0; i < s->workers.len; i++) {
    const struct tm_worker *w = s->workers.at[i];
    has_idle |= w->state == TM_WORKER_READY && w->hand.len == 0 && !w->is_deaf;
    has_waiting |= w->hand.len > 1;
  }
  return has_idle && has_waiting && !s->is_ending;
}

void tm_steal_arm(struct tm_supervisor *s)
{
  if (s->is_steal_armed || !should_steal(s))
    return;
  s->is_steal_armed = true;
  tm_timer_start(&s->steal_timer, STEAL_NS, 0);
}

/* Asks for the entries that wait behind the first and were handed out before `before_ns`. */
void tm_steal_ask_back(struct tm_worker *w, int64_t before_ns)
{
  uint64_t seqs[TM_PAGE_WORDS];
  size_t n =
      w->is_asked || w->state != TM_WORKER_READY ? 0 : tm_hand_waiting(&w->hand, before_ns, seqs);

  if (n == 0 || !w->s->node)
    return;
  w->is_asked = true;
  tm_node_take_back(w->s->node, w->id, seqs, n);
}

void tm_steal_on_time(struct tm_timer *t)
{
  struct tm_supervisor *s = t->data;
  int64_t before = tm_clock_mono_ns() - STEAL_NS;

  s->is_steal_armed = false;
  for (size_t i = 0; i < s->workers.len && should_steal(s); i++)
    tm_steal_ask_back(s->workers.at[i], before);
  tm_steal_arm(s);
}
