/* retirement.c - which workers can be interrupted, and those that retire afterwards: see
 * supervisor_own.h.
 *
 * With interruptible = "auto" workers begin unarmed, because being interruptible makes tight loops
 * slower. The first run() or init() of the step that times out arms all current and future workers.
 * A worker is armed before the mini-batch that timed out comes back to it: both go through its
 * link, in this order.
 */
#include "base/text.h"
#include "step/supervisor_own.h"

#define WHY_MAX 400 /* bytes of the reason why a worker has retired */

void tm_workers_arm_workers(struct tm_supervisor *s)
{
  struct tm_msg f = { .type = TM_MSG_ARM, .fd = -1 };

  if (s->arms_workers || s->o.step->config.interruptible != TM_INTERRUPTIBLE_AUTO)
    return;
  s->arms_workers = true;
  tm_supervisor_say(s, TM_INFO,
                    "a call has timed out: workers can be interrupted from now on, and a call that "
                    "times out again shows where it was (interruptible = \"auto\")");
  for (size_t i = 0; i < s->workers.len; i++) {
    struct tm_worker *w = s->workers.at[i];
    enum tm_worker_state state = tm_workers_state(w);
    bool has_setup =
        state == TM_WORKER_LOADING || state == TM_WORKER_INIT || state == TM_WORKER_READY;
    f.worker = w->id;
    if (has_setup && !w->is_deaf)
      tm_worker_link_send(w->link, &f);
  }
}

void tm_worker_results_retired(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_buf why = TM_BUF_NONE;

  tm_text_one_line(&why, f->length ? f->payload : "", f->length, WHY_MAX);
  tm_supervisor_say(w->s, TM_WARNING, "%s is replaced: %s", w->name, tm_buf_str(&why));
  tm_buf_release(&why);
  tm_workers_tell(w->s,
                  &(struct tm_sched_event) { .kind = TM_SCHED_ON_RETIRED, .worker = w->number });
  tm_workers_carry_out(w->s, NULL);
}

/* What failed before init(), or NULL. A worker that reports a failure may be stopping already. */
static const char *failed_before_init(enum tm_worker_state state, uint32_t flags)
{
  if (state == TM_WORKER_STARTING)
    return "starting a worker";
  return state == TM_WORKER_LOADING || (flags & TM_FAILURE_LOADING) ? "loading the script" : NULL;
}

void tm_workers_emit_init_failure(struct tm_worker *w, enum tm_worker_state state,
                                  struct tm_attempt *a, uint32_t flags)
{
  struct tm_event e = { .kind = TM_EVENT_INIT_FAILED,
                        .message = a->message,
                        .stack = a->stack,
                        .script_where = a->script_where,
                        .failed = failed_before_init(state, flags),
                        .attempt = flags & TM_FAILURE_NO_RUN ? NULL : a };

  a->dataset = a->first_item = "";
  if (a->status == TM_INIT_TIMEOUT)
    tm_workers_arm_workers(w->s);
  tm_supervisor_emit(w->s, &e, w);
}
