/* watchdog.c - what happens to a step because time passes: see supervisor_own.h.
 *
 *  (1) If all workers are stuck in init(), the step fails. First the workers are interrupted and
 *      have interrupt_grace to report where they are. Meanwhile no worker starts, and no other rule
 *      is applied.
 *
 * Ten times a second it looks for workers that have lost their link, and tells the scheduler the
 * time, which applies the rules for progress and init() (sched/time_rules.h). Both wait while a
 * large result is copied, because the results and the ends of workers behind it wait.
 */
#include "base/time.h"
#include "step/supervisor_own.h"
#include "sys/clock.h"

#define MUTE_NS (2 * TM_S) /* from the end of a worker's link to the news of its end */

static void look_at_mute(struct tm_supervisor *s)
{
  int64_t now_ns = tm_clock_mono_ns();

  for (size_t i = 0; i < s->workers.len; i++) {
    struct tm_worker *w = s->workers.at[i];
    if (w->mute_ns == 0 || now_ns - w->mute_ns < MUTE_NS || w->is_rubbish || !w->node->node)
      continue;
    tm_worker_results_on_rubbish(w);
  }
}

/* ---- stuck in init(): (1) ---- */

void tm_watchdog_note_init(struct tm_supervisor *s, const char *worker, const char *where)
{
  if (tm_step_life_may(&s->life, TM_STEP_MAY_ASK))
    tm_stuck_note(&s->stuck, worker, where);
}

static bool end_init(const struct tm_supervisor *s)
{
  bool is_any = false;

  for (size_t i = 0; i < s->nodes.len; i++) {
    const struct tm_step_node *n = s->nodes.at[i];
    if (!n || !n->node)
      continue;
    tm_node_end_init(n->node, n->step);
    is_any = true;
  }
  return is_any;
}

/* False: the workers cannot be interrupted. */
static bool ask_where(struct tm_supervisor *s, const struct tm_err *why)
{
  if (s->o.step->config.interruptible == TM_NOT_INTERRUPTIBLE || !end_init(s))
    return false;
  tm_supervisor_happen(s, TM_STEP_ON_STUCK);
  tm_stuck_begin(&s->stuck, why, tm_clock_mono_ns());
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NO_STARTS });
  return true;
}

static void look_at_stuck(struct tm_supervisor *s)
{
  int64_t grace_ns = s->o.step->config.interrupt_grace_ns;

  if (!tm_stuck_is_over(&s->stuck, tm_sched_in_init(&s->sched), grace_ns, tm_clock_mono_ns()))
    return;
  tm_stuck_cause(&s->stuck, s->logs_dir, &s->cause);
  tm_supervisor_happen(s, TM_STEP_ON_GIVE_UP);
}

void tm_watchdog_give_up(struct tm_supervisor *s, enum tm_sched_action_kind rule)
{
  struct tm_err err = s->sched.time.why;
  const struct tm_err *last = &s->cause; /* of an init() that failed, if one did */

  if (!tm_step_life_may(&s->life, TM_STEP_MAY_START))
    return; /* what was decided before has ended the step */
  if (rule == TM_SCHED_INIT_STUCK && ask_where(s, &err))
    return;
  if (rule == TM_SCHED_NO_PROGRESS) {
    tm_doing_name_stuck(s, &err);
    s->view.failing = TM_FAILING_STUCK;
  } else if (s->sched.time.init.failures > 0 && last->code < 0) {
    tm_err_set(&err, err.code, "%s; the last: %s", err.text, last->text);
  }
  s->cause = err;
  tm_supervisor_happen(s, TM_STEP_ON_GIVE_UP);
}

void tm_watchdog_tick(struct tm_supervisor *s)
{
  tm_doing_tick(s);
  if (!s->copying.is_on)
    look_at_mute(s);
  if (tm_step_life_may(&s->life, TM_STEP_MAY_ASK)) {
    look_at_stuck(s);
  } else if (tm_step_life_may(&s->life, TM_STEP_MAY_START) && !s->copying.is_on) {
    tm_workers_tell(
        s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TIME, .counts = &s->tally.counts });
    tm_workers_carry_out(s, NULL);
  }
}
