/* failed_tries.c - see failed_tries.h. */
#include "step/failed_tries.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "step/isolate.h"
#include "step/row_items.h"
#include "sys/clock.h"

/* Records that the mini-batch has failed for good, whole or in parts. */
static void add_failed(struct tm_supervisor *s, const struct tm_in_flight *held,
                       const struct tm_failed_try *t)
{
  struct tm_outcome outcome = { .index = t->index,
                                .try = t->try,
                                .items = held->is_uncounted ? 0 : held->items };
  struct tm_buf lines = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;

  tm_require(held->part == 0 && held->items > 0); /* tm_rows_settle() has counted them */
  if (tm_attempt_list_items(&lines, t, 0, s, &err) < 0)
    tm_supervisor_fail(s, &err);
  else
    tm_commit_add_failed(s->commit, &outcome, lines.data, lines.len);
  tm_buf_release(&lines);
  tm_tally_add_failed(&s->tally, held->items);
}

static void count_failed_try(struct tm_tally *t, enum tm_status status)
{
  switch (status) {
  case TM_RUN_TIMEOUT:
  case TM_LOAD_TIMEOUT:
  case TM_INIT_TIMEOUT: tm_tally_add_failed_try(t, TM_FAILED_BY_TIMEOUT); break;
  case TM_PROCESS_DIED: tm_tally_add_failed_try(t, TM_FAILED_WITH_WORKER); break;
  case TM_CANCELED: break;
  default: tm_tally_add_failed_try(t, TM_FAILED_BY_ERROR); break;
  }
}

/* Does what follows from a failed try, and forgets what the worker held. */
static void settle_failed_try(struct tm_worker *w, struct tm_in_flight *held, struct tm_answer *a,
                              const struct tm_sched_action *action)
{
  struct tm_supervisor *s = w->s;
  char *log, *named = NULL;
  struct tm_failed_try t;
  int64_t failed = 0;

  if (action->kind != TM_SCHED_RETRY)
    tm_rows_settle(s, held);
  t = tm_attempt_failed(w, held, a, &log);
  count_failed_try(&s->tally, a->status);
  if (a->status == TM_RUN_TIMEOUT)
    tm_workers_arm_workers(s);
  if (action->kind == TM_SCHED_SEARCH) {
    failed = tm_isolate_failed(s, held, &t, action);
  } else if (action->kind == TM_SCHED_FAIL) {
    failed = held->items;
    t.names = named = tm_attempt_named_item(s, held, a);
    add_failed(s, held, &t);
  }
  tm_attempt_emit(w, held, a, failed);
  tm_workers_forget(w, held);
  free(named);
  free(log);
}

void tm_failed_tries_end(struct tm_worker *w, struct tm_in_flight *held, struct tm_answer *a)
{
  struct tm_sched_event e = { .kind = TM_SCHED_ON_FAILED,
                              .node = w->node->id,
                              .worker = w->number,
                              .seq = held->seq,
                              .what = tm_announced_what(held),
                              .rows = held->rows,
                              .items = held->items,
                              .is_timeout = a->status == TM_RUN_TIMEOUT,
                              .no_halves = a->no_halves };

  tm_workers_tell(w->s, &e);
  tm_workers_carry_out(w->s, &(struct tm_try_end) { .answer = a, .w = w, .held = held });
}

enum tm_status tm_failed_tries_status(const struct tm_ended *ended)
{
  if (ended->cause != TM_END_TIMEOUT)
    return TM_PROCESS_DIED;
  switch (ended->view.phase) {
  case TM_PHASE_LOAD:
  case TM_PHASE_PREFETCH:
  case TM_PHASE_RETURN: return TM_LOAD_TIMEOUT;
  case TM_PHASE_START:
  case TM_PHASE_INIT: return TM_INIT_TIMEOUT;
  default: return TM_RUN_TIMEOUT;
  }
}

/* A message for a try that has timed out, to free(); NULL: what is known of its worker says
 * enough. */
static char *timeout_text(const struct tm_config *config, enum tm_status status,
                          const struct tm_ended *ended)
{
  bool has_grace =
      config->interruptible != TM_NOT_INTERRUPTIBLE &&
      ended->phase_ns >= config->run_invocation_timeout_ns + config->interrupt_grace_ns;

  if (status == TM_RUN_TIMEOUT)
    return tm_xprintf(
        "run() took longer than run_invocation_timeout (%g s); its worker was killed%s",
        (double)config->run_invocation_timeout_ns / 1e9,
        has_grace ? ", for it could not be interrupted: it was in a C function, or "
                    "waited for a program"
                  : "");
  if (status == TM_LOAD_TIMEOUT && ended->view.phase == TM_PHASE_PREFETCH)
    return tm_xprintf("prefetch() of this mini-batch or of the next one took longer than "
                      "task_overhead_timeout (%g s); its worker was killed",
                      (double)config->load_timeout_ns / 1e9);
  if (status == TM_LOAD_TIMEOUT)
    return tm_xprintf("to %s took longer than task_overhead_timeout (%g s); its worker was killed",
                      ended->view.phase == TM_PHASE_LOAD ? "load it" : "write its result",
                      (double)config->load_timeout_ns / 1e9);
  return NULL;
}

/* A try that ended without an answer, because its worker died or was killed. */
static void settle_lost_try(struct tm_worker *w, struct tm_in_flight *held,
                            const struct tm_sched_action *action, const struct tm_try_end *end)
{
  const struct tm_ended *ended = end->ended;
  struct tm_answer a = { .status = tm_failed_tries_status(ended),
                         .message = end->words,
                         .stack = "",
                         .where = "",
                         .signal = ended->signal };
  char *staging = tm_staging_path(w->s->staging_dir, w->name, held->seq);
  char *text = timeout_text(&w->s->o.step->config, a.status, ended);

  a.head.total_ns = a.head.run_ns = ended->phase_ns;
  if (ended->view.seq == held->seq && ended->view.begun_wall_ns > 0)
    a.head.begin_wall_ns = ended->view.begun_wall_ns;
  else if (ended->phase_ns > 0)
    a.head.begin_wall_ns = tm_step_node_its_time(w->node, tm_clock_wall_ns() - ended->phase_ns);
  if (text)
    a.message = text;
  tm_staging_remove(tm_fs_real(), w->s->output_dir, staging); /* its output files go too */
  settle_failed_try(w, held, &a, action);
  free(staging);
  free(text);
}

/* How long ago the worker had begun the try; at least the time in its phase. */
static int64_t begun_ago_ns(const struct tm_worker *w, const struct tm_ended *ended)
{
  int64_t ns = tm_step_node_its_time(w->node, tm_clock_wall_ns()) - ended->view.begun_wall_ns;

  if (ended->view.begun_wall_ns <= 0 || ns < ended->phase_ns || ns > ended->lived_ns)
    return ended->phase_ns;
  return ns;
}

void tm_failed_tries_cut_off(struct tm_worker *w, const struct tm_ended *ended, const char *words)
{
  const struct tm_in_flight *held = tm_workers_held(w, ended->view.seq);
  struct tm_answer a = {
    .status = TM_CANCELED, .message = words, .stack = "", .where = "", .signal = ended->signal
  };

  if (!held || tm_page_states_of(&ended->states, held->seq) != TM_ASSIGNMENT_BEGUN)
    return;
  a.head.total_ns = begun_ago_ns(w, ended);
  a.head.run_ns = ended->view.phase == TM_PHASE_RUN ? ended->phase_ns : 0;
  a.head.begin_wall_ns = tm_step_node_its_time(w->node, tm_clock_wall_ns()) - a.head.total_ns;
  tm_attempt_emit(w, held, &a, 0);
}

static void add_node(struct tm_buf *out, const struct tm_supervisor *s, uint32_t id)
{
  const struct tm_step_node *n = s->nodes.at[id];

  tm_buf_printf(out, "node %s", n->name);
  if (n->address[0])
    tm_buf_printf(out, " (%s)", n->address);
}

/* A try that ended with its node, the last that the mini-batch may lose. */
static void settle_with_node(struct tm_worker *w, struct tm_in_flight *held,
                             const struct tm_sched_action *action)
{
  const uint32_t *lost_at = action->what.lost_at;
  struct tm_answer a = { .status = TM_PROCESS_DIED, .stack = "", .where = "" };
  struct tm_buf text = TM_BUF_NONE;

  tm_buf_printf(&text, "%d nodes were lost while they ran it: ", TM_LOST_NODES_MAX);
  for (size_t i = 0; i < TM_LOST_NODES_MAX; i++) {
    tm_buf_add_str(&text, i == 0 ? "" : i + 1 < TM_LOST_NODES_MAX ? ", " : " and ");
    add_node(&text, w->s, lost_at[i]);
  }
  a.message = tm_buf_str(&text);
  settle_failed_try(w, held, &a, action);
  tm_buf_release(&text);
}

/* What ends the node may have made it fail. */
static void settle_uncounted(struct tm_worker *w, struct tm_in_flight *held,
                             const struct tm_answer *a)
{
  tm_supervisor_say(w->s, TM_INFO,
                    "a try of mini-batch %" PRIu64 " has failed on node %s, which ends, so it does "
                    "not count: %s",
                    held->index, w->node->name, a->message);
  tm_workers_forget(w, held);
}

void tm_failed_tries_settle(struct tm_supervisor *s, const struct tm_sched_action *action,
                            const struct tm_try_end *end)
{
  struct tm_worker *w;
  struct tm_in_flight *held;

  if (!tm_check(end))
    return;
  w = end->w ? end->w : s->by_number.at[action->worker];
  held = end->w ? end->held : tm_workers_held(w, action->seq);
  if (!tm_check(held && w->number == action->worker && held->seq == action->seq))
    return;
  if (end->is_lost)
    settle_with_node(w, held, action);
  else if (end->ended)
    settle_lost_try(w, held, action, end);
  else if (action->kind == TM_SCHED_AGAIN)
    settle_uncounted(w, held, end->answer);
  else
    settle_failed_try(w, held, end->answer, action);
}
