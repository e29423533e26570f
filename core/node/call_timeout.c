/* call_timeout.c - a call that has passed its timeout in a worker that can be interrupted.
 *
 *   late --> INTERRUPT: names the call on the page, sends an alarm --> AGAIN, ... --> KILL
 *                           `--> the call has ended: the page shows another phase
 *
 * KILL follows after the grace time. AGAIN is needed because the alarm may arrive when the worker's
 * handler cannot act (agent/interruption.c), and user code may catch the error. A worker that
 * cannot be interrupted is killed at once.
 */
#include "base/time.h"
#include "base/check.h"
#include "node/node_own.h"
#include "sys/alarm.h"
#include "sys/clock.h"

#define SOON_NS  (5 * TM_MS)  /* between two alarms, at first */
#define LATER_NS (50 * TM_MS) /* between two alarms, later */

static uint64_t call_of(const struct tm_page_view *view)
{
  switch (view->phase) {
  case TM_PHASE_RUN: return view->seq;
  case TM_PHASE_PREFETCH: return TM_PAGE_PREFETCH(view->seq);
  case TM_PHASE_INIT: return TM_PAGE_INIT;
  default: return 0;
  }
}

enum tm_late_action tm_keeper_late(const struct tm_keeper_interrupt *i,
                                   const struct tm_page_view *view, bool can_interrupt,
                                   int64_t grace_ns, int64_t now_ns)
{
  uint64_t call = call_of(view);
  if (grace_ns <= 0 || call == 0)
    return TM_LATE_KILL;
  /* a worker that can no longer be interrupted may be about to report where it was */
  if (i->call == call)
    return now_ns - i->begun_ns >= grace_ns ? TM_LATE_KILL : TM_LATE_AGAIN;
  return can_interrupt ? TM_LATE_INTERRUPT : TM_LATE_KILL;
}

static void begin(struct tm_keeper_worker *w, int64_t now_ns)
{
  bool is_prefetch = w->view.phase == TM_PHASE_PREFETCH;
  w->interrupt = (struct tm_keeper_interrupt) { .call = call_of(&w->view), .begun_ns = now_ns };
  tm_require(w->interrupt.call != 0);
  atomic_store(&w->page->interrupt, w->interrupt.call);
  if (w->view.phase == TM_PHASE_INIT)
    tm_keeper_log(w->step, TM_WARNING, "%s: init() %s and is interrupted", w->name,
                  w->step->is_init_late ? "has taken too long" : "passed init_timeout");
  else
    tm_keeper_log(w->step, TM_WARNING,
                  "%s: %s mini-batch %llu, try %u, passed %s and is interrupted", w->name,
                  is_prefetch ? "prefetch() before run() of" : "run() of",
                  (unsigned long long)w->view.index, w->view.try,
                  is_prefetch ? "task_overhead_timeout" : "run_invocation_timeout");
}

bool tm_keeper_interrupt(struct tm_keeper_worker *w)
{
  int64_t now_ns = tm_clock_mono_ns(), grace_ns = w->step->s.interrupt_grace_ns;
  bool can_interrupt =
      atomic_load(&w->page->can_interrupt) == 1 || atomic_load(&w->page->has_stoppable) == 1;
  enum tm_late_action action =
      tm_keeper_late(&w->interrupt, &w->view, can_interrupt, grace_ns, now_ns);
  if (action == TM_LATE_KILL)
    return false;
  if (action == TM_LATE_INTERRUPT)
    begin(w, now_ns);
  if (can_interrupt)
    tm_alarm_send(w->pid);
  int64_t again_ns = now_ns + (now_ns - w->interrupt.begun_ns < LATER_NS ? SOON_NS : LATER_NS);
  int64_t last_ns = w->interrupt.begun_ns + grace_ns;
  w->due_ns = again_ns < last_ns ? again_ns : last_ns;
  return true;
}
