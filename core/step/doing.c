/* doing.c - what the workers of a step are doing: see supervisor_own.h. activity.h decides what to
 * make of it.
 *
 *  (1) A mini-batch costs no work here. Ten times a second, doing.c compares each worker with what
 *      it saw before (worker_phase.h): the worker's state, and the first mini-batch that it holds,
 *      which it works on.
 *  (2) The keeper is asked for more at most once a second, and only while a worker of its
 *      has been at one mini-batch for almost TM_ACTIVITY_SHOWN_NS.
 */
#include <stdio.h>

#include "base/time.h"
#include "record/part.h"
#include "step/supervisor_own.h"
#include "sys/clock.h"

#define ASK_EVERY_NS (900 * TM_MS)

static const struct tm_in_flight *first_held(const struct tm_worker *w)
{
  return tm_workers_held(w, tm_sched_first(&w->s->sched, w->number));
}

static enum tm_phase call_of(const struct tm_worker *w)
{
  bool is_busy = tm_sched_first(&w->s->sched, w->number) != 0;

  switch (tm_workers_state(w)) {
  case TM_WORKER_STARTING: return TM_PHASE_START;
  case TM_WORKER_LOADING:
  case TM_WORKER_INIT: return TM_PHASE_INIT;
  case TM_WORKER_READY: return is_busy ? TM_PHASE_RUN : TM_PHASE_IDLE;
  case TM_WORKER_STOPPING: return is_busy ? TM_PHASE_RUN : TM_PHASE_SHUTDOWN;
  default: return TM_PHASE_IDLE;
  }
}

static void look_at(struct tm_worker *w, int64_t now_ns) /* keeps (1) */
{
  const struct tm_in_flight *held = first_held(w);

  tm_worker_phase_look(&w->doing, call_of(w), held ? held->seq : 0, now_ns);
}

static bool may_ask(const struct tm_step_node *n, int64_t now_ns)
{
  return n->node && (n->asked_doing_ns == 0 || now_ns - n->asked_doing_ns >= ASK_EVERY_NS);
}

static void ask(struct tm_supervisor *s, int64_t now_ns) /* keeps (2) */
{
  for (size_t i = 0; i < s->workers.len; i++) {
    struct tm_step_node *n = s->workers.at[i]->node;
    if (!may_ask(n, now_ns) || !tm_worker_phase_is_asked(&s->workers.at[i]->doing, now_ns))
      continue;
    n->asked_doing_ns = now_ns;
    tm_node_ask_doing(n->node, n->step);
  }
}

void tm_doing_on_told(void *data, const struct tm_worker_doing *told)
{
  struct tm_supervisor *s = data;
  struct tm_worker *w = told->worker < s->by_number.len ? s->by_number.at[told->worker] : NULL;

  if (w)
    tm_worker_phase_tell(&w->doing, told, tm_sched_awake_ns(&s->sched, tm_clock_mono_ns()));
}

/* ---- the list ---- */

static void add_mini_batch(struct tm_activity *a, const struct tm_in_flight *held)
{
  a->seq = held->seq;
  a->index = held->index;
  a->try = held->try;
  if (held->part != 0) {
    a->part_first = tm_part_first(held->part) + 1;
    a->part_last = tm_part_first(held->part) + tm_part_count(held->part);
  }
  if (held->first_item->len > 0)
    a->first_item = tm_xstrndup(held->first_item->bytes, held->first_item->len);
}

static void add(struct tm_activities *out, const struct tm_worker *w, int64_t now_ns)
{
  const struct tm_in_flight *held = first_held(w);
  bool is_recover = w->doing.told == TM_PHASE_RECOVER;
  struct tm_activity *a;

  a = TM_ARRAY_ADD(&out->list);
  *a = (struct tm_activity) { .pid = w->pid,
                              .node_id = w->node->name,
                              .node_address = w->node->address,
                              .phase = held || is_recover ? w->doing.told : w->doing.call,
                              .is_stopped = w->doing.is_stopped,
                              .is_waiting = w->doing.is_waiting,
                              .ns = now_ns - w->doing.since_ns };
  snprintf(a->worker, sizeof(a->worker), "%s", w->name);
  if (held && !is_recover) {
    a->begun_wall_ns = tm_step_node_our_time(w->node, w->doing.begun_wall_ns);
    add_mini_batch(a, held);
  }
}

/* Lists what has taken at least `least_ns`. */
static void fill(struct tm_supervisor *s, int64_t least_ns)
{
  int64_t now_ns = s->sched.time.progress.clock.now_ns;
  struct tm_activities *out = &s->activities;
  int64_t sum_ns = 0, measured = 0;

  tm_activities_clear(out);
  out->workers = out->in_init = 0;
  for (size_t i = 0; i < s->workers.len; i++) {
    const struct tm_worker *w = s->workers.at[i];
    out->workers++;
    int64_t mean_ns = tm_sched_mean_ns(&s->sched, w->number);
    out->in_init += tm_workers_state(w) < TM_WORKER_READY;
    sum_ns += mean_ns;
    measured += mean_ns > 0;
    if (w->doing.call != TM_PHASE_IDLE && now_ns - w->doing.since_ns >= least_ns)
      add(out, w, now_ns);
  }
  tm_activities_sort(out);
  out->typical_ns = measured > 0 ? sum_ns / measured : 0;
  out->init_timeout_ns = s->o.step->config.init_timeout_ns;
  out->script = s->view.script_name;
}

void tm_doing_tick(struct tm_supervisor *s)
{
  int64_t now_ns = tm_sched_awake_ns(&s->sched, tm_clock_mono_ns());

  for (size_t i = 0; i < s->workers.len; i++)
    look_at(s->workers.at[i], now_ns);
  fill(s, TM_ACTIVITY_SHOWN_NS);
  ask(s, now_ns);
}

void tm_doing_name_stuck(struct tm_supervisor *s, struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;

  fill(s, 0);
  tm_activities_add_stuck(&words, &s->activities);
  if (words.len > 0) {
    tm_err_append(err, "; ");
    tm_err_append(err, words.data);
  }
  tm_buf_release(&words);
}
