/* watchdog.c - what happens to a step because time passes: see supervisor_own.h.
 *
 *  (1) If all workers are stuck in init(), the step fails. First the workers are interrupted and
 *      have interrupt_grace to report where they are. Meanwhile no worker starts, and no other rule
 *      is applied.
 *
 * Ten times a second it checks for progress (progress_timeout.h), for workers that do not get
 * through init() (init_rules.h), and for workers that have lost their link. The first two rules
 * count time awake: while the supervisor is stopped, no timeout runs.
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

/* Does not count workers that have not started yet, or that were asked to end. */
static struct tm_init_look init_look(const struct tm_supervisor *s)
{
  struct tm_init_look look = { .age_ns = s->progress.clock.now_ns, .shortest_ns = INT64_MAX };

  for (size_t i = 0; i < s->workers.len; i++) {
    const struct tm_worker *w = s->workers.at[i];
    enum tm_worker_state state = tm_workers_state(w);
    bool is_in_init = state == TM_WORKER_LOADING || state == TM_WORKER_INIT;
    int64_t since_ns = look.age_ns - w->started_ns;
    look.living += is_in_init || state == TM_WORKER_READY;
    look.in_init += is_in_init;
    if (is_in_init && since_ns < look.shortest_ns)
      look.shortest_ns = since_ns;
  }
  return look;
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

  if (!tm_stuck_is_over(&s->stuck, init_look(s).in_init, grace_ns, tm_clock_mono_ns()))
    return;
  tm_stuck_cause(&s->stuck, s->logs_dir, &s->cause);
  tm_supervisor_happen(s, TM_STEP_ON_GIVE_UP);
}

static int judge_time(struct tm_supervisor *s, struct tm_err *err)
{
  struct tm_init_look look;
  struct tm_err last = s->cause; /* of an init() that failed, if one did */
  int rc = tm_progress_timeout_look(&s->progress, &s->tally.counts, tm_clock_mono_ns(), err);

  if (rc < 0) {
    tm_doing_name_stuck(s, err);
    s->view.failing = TM_FAILING_STUCK;
    return rc;
  }
  look = init_look(s);
  rc = tm_init_rules_look(&s->init_rules, &look, err);
  if (rc < 0 && tm_init_rules_is_stuck(&s->init_rules, &look) && ask_where(s, err))
    return 0;
  if (rc < 0 && s->init_rules.failures > 0 && last.code < 0) {
    struct tm_err rule = *err;
    tm_err_set(err, rule.code, "%s; the last: %s", rule.text, last.text);
  }
  return rc;
}

void tm_watchdog_tick(struct tm_supervisor *s)
{
  struct tm_err err = TM_ERR_NONE;

  tm_doing_tick(s);
  look_at_mute(s);
  if (tm_step_life_may(&s->life, TM_STEP_MAY_ASK)) {
    look_at_stuck(s);
    return;
  }
  if (!tm_step_life_may(&s->life, TM_STEP_MAY_START) || judge_time(s, &err) == 0)
    return;
  s->cause = err;
  tm_supervisor_happen(s, TM_STEP_ON_GIVE_UP);
}
