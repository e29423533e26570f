/* workers.c - the workers of a step: see supervisor_own.h. The scheduler decides (sched/sched.h).
 *
 * The keeper starts a worker on request; then the worker gets its setup over its link. It is gone
 * when the keeper says so. Its last answers are read from the link first. What becomes of its
 * other mini-batches, the scheduler decides by the worker's page.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/path.h"
#include "base/time.h"
#include "commit/part_read.h"
#include "record/part.h"
#include "record/temp_dirs.h"
#include "snapshot/snapshot.h"
#include "step/failed_tries.h"
#include "step/handed.h"
#include "step/isolate.h"
#include "step/row_items.h"
#include "sys/clock.h"

#define MINI_BATCH_HEAD 16u /* bytes before the items */

static struct tm_worker *find(const struct tm_supervisor *s, uint32_t number)
{
  return number < s->by_number.len ? s->by_number.at[number] : NULL;
}

enum tm_worker_state tm_workers_state(const struct tm_worker *w)
{
  return tm_sched_state(&w->s->sched, w->number);
}

struct tm_in_flight *tm_workers_held(const struct tm_worker *w, uint64_t seq)
{
  return tm_ring_find(&w->held, seq);
}

void tm_workers_forget(struct tm_worker *w, const struct tm_in_flight *held)
{
  if (!held->is_announced)
    tm_ring_remove(&w->held, held->seq);
}

bool tm_workers_tell(struct tm_supervisor *s, const struct tm_sched_event *e)
{
  return tm_sched_event(&s->sched, e, tm_clock_mono_ns());
}

void tm_workers_deafen(struct tm_worker *w)
{
  w->is_deaf = true;
  tm_workers_tell(w->s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_DEAF, .worker = w->number });
}

/* The scheduler. */

static bool is_over(void *data, uint64_t index)
{
  struct tm_supervisor *s = data;

  return tm_commit_state(s->commit, index) != TM_MINI_BATCH_OPEN;
}

static bool may_start(void *data)
{
  struct tm_supervisor *s = data;

  return !s->o.may_start || s->o.may_start(s->o.data, s);
}

void tm_workers_tell_created(struct tm_supervisor *s)
{
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_CREATED,
                                                .count = tm_manifest_count(s->manifest) });
}

void tm_workers_init(struct tm_supervisor *s)
{
  const struct tm_config *config = &s->o.step->config;
  struct tm_sched_options o = { .run_max_try = config->run_max_try,
                                .retry_delay_ns = config->retry_delay_ns,
                                .isolates = config->isolate_failures,
                                .isolation_max_try = config->isolation_max_try,
                                .window_max = TM_PAGE_WORDS,
                                .seed = s->o.epoch,
                                .time = { .first_ns = config->first_timeout_ns,
                                          .update_ns = config->progress_timeout_ns,
                                          .workers = tm_step_nodes_workers(s),
                                          .run_timeout_ns = config->run_invocation_timeout_ns },
                                .is_over = is_over,
                                .may_start = may_start,
                                .data = s };

  tm_sched_init(&s->sched, &o, s->found.committed + s->found.failed);
  tm_workers_tell_created(s);
}

/* Starting. */

static void start_worker(struct tm_supervisor *s, uint32_t node, uint32_t number)
{
  struct tm_worker *w = TM_NEW(struct tm_worker);

  tm_require(node < s->nodes.len && s->nodes.at[node]->node);
  w->s = s;
  w->node = s->nodes.at[node];
  w->number = number;
  snprintf(w->name, sizeof(w->name), "process%03" PRId64, s->next_number++);
  tm_in_flight_init(&w->held);
  w->id = tm_node_start_worker(w->node->node, w->node->step, number, w->name);
  w->at = (uint32_t)s->workers.len;
  *TM_ARRAY_ADD(&s->workers) = w;
  while (s->by_number.len <= number)
    *TM_ARRAY_ADD(&s->by_number) = NULL;
  s->by_number.at[number] = w;
}

static void on_link_end(void *data, int code)
{
  /* Only the keeper knows when and how the worker ended; a grandchild may hold the socket open. But
   * a worker without a link cannot answer, and one that sent rubbish is not believed. */
  struct tm_worker *w = data;

  if (code < 0 && !w->is_rubbish)
    tm_worker_results_on_rubbish(w);
  w->mute_ns = tm_clock_mono_ns();
}

static void free_worker(struct tm_worker *w)
{
  w->is_closed = true;
  if (w->announced > 0)
    return;
  tm_in_flight_release(&w->held);
  free(w);
}

static void on_link_closed(void *data)
{
  struct tm_worker *w = data;
  struct tm_supervisor *s = w->s;

  free_worker(w);
  tm_supervisor_closed_one(s);
}

static const struct tm_worker_link_user link_user = { .on_msg = tm_worker_results_on_msg,
                                                      .on_end = on_link_end,
                                                      .on_closed = on_link_closed };

void tm_workers_on_started(struct tm_supervisor *s, uint32_t number, int64_t pid,
                           struct tm_worker_link *link)
{
  struct tm_worker *w = find(s, number);
  struct tm_event e = { .kind = TM_EVENT_WORKER_STARTED };
  struct tm_err err = TM_ERR_NONE;

  if (!tm_check(w)) {
    tm_worker_link_close(link);
    return;
  }
  if (tm_worker_link_open(link, s->o.loop, &link_user, w, &err) < 0) {
    tm_supervisor_say(s, TM_ERROR, "%s: %s", w->name, err.text);
    if (w->node->node)
      tm_node_kill(w->node->node, w->id);
    return;
  }
  w->link = link;
  s->open++;
  w->pid = (uint32_t)pid;
  w->started_ns = tm_clock_mono_ns();
  e.clock_offset_ns = w->node->clock_offset_ns;
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_STARTED, .worker = number });
  tm_supervisor_emit(s, &e, w);
  tm_workers_carry_out(s, NULL);
}

/* Handing out. */

static int send_mini_batch(struct tm_worker *w, const struct tm_sched_action *a, struct tm_err *err)
{
  struct tm_supervisor *s = w->s;
  struct tm_manifest_entry entry;
  struct tm_in_flight *held;
  struct tm_msg f = { .type = TM_MSG_MINI_BATCH,
                      .index = a->what.index,
                      .try = a->what.try,
                      .part = a->what.part,
                      .worker = w->id,
                      .fd = -1 };
  int rc = tm_part_read(s->manifest, a->what.index, a->what.part, &entry, err);

  if (rc < 0)
    return rc;
  if (entry.len > TM_MSG_MAX - MINI_BATCH_HEAD)
    return tm_err_set(err, TM_ELIMIT,
                      "mini-batch %" PRIu64 ": its list of items is %zu bytes long, more than the "
                      "%u that can be handed to a worker; make mini_batch_size smaller, or choose "
                      "partition_keys with more values",
                      a->what.index, entry.len, TM_MSG_MAX - MINI_BATCH_HEAD);
  held = tm_in_flight_add(&w->held, &a->what, &entry, &s->scratch);
  tm_require(held->seq == a->seq);
  tm_buf_clear(&s->scratch);
  tm_mini_batch_head_encode(tm_buf_extend(&s->scratch, MINI_BATCH_HEAD),
                            &(struct tm_mini_batch_head) {
                                .seq = held->seq, .dataset = entry.dataset, .items = held->items });
  tm_buf_add(&s->scratch, entry.bytes, entry.len);
  f.payload = s->scratch.data;
  f.length = (uint32_t)s->scratch.len;
  tm_worker_link_send(w->link, &f);
  tm_handed_tell(w, held);
  return 0;
}

static void hand_out(struct tm_worker *w, const struct tm_sched_action *a)
{
  struct tm_err err = TM_ERR_NONE;

  if (w->s->code == 0 && send_mini_batch(w, a, &err) < 0)
    tm_supervisor_fail(w->s, &err);
}

static void arm_due_timer(struct tm_supervisor *s)
{
  int64_t due_ns = tm_sched_due(&s->sched), now_ns;

  if (due_ns == s->due_ns || due_ns == INT64_MAX || !tm_step_life_may(&s->life, TM_STEP_MAY_RUN))
    return;
  s->due_ns = due_ns;
  now_ns = tm_clock_mono_ns();
  tm_timer_start(&s->due_timer, due_ns > now_ns ? due_ns - now_ns : 0, 0);
}

void tm_workers_fill(struct tm_supervisor *s)
{
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
  tm_workers_carry_out(s, NULL);
  if (s->lister)
    tm_lister_set_hungry(s->lister, !tm_sched_has_waiting(&s->sched));
  arm_due_timer(s);
}

void tm_workers_on_due(struct tm_timer *t)
{
  struct tm_supervisor *s = t->data;

  s->due_ns = INT64_MAX;
  if (tm_step_life_may(&s->life, TM_STEP_MAY_RUN))
    tm_workers_fill(s);
}

void tm_workers_on_taken(struct tm_supervisor *s, uint32_t number, const uint64_t *seqs, size_t n)
{
  struct tm_worker *w = find(s, number);

  if (!w)
    return;
  for (size_t i = 0; i < n; i++) {
    struct tm_in_flight *held = tm_workers_held(w, seqs[i]);
    if (held) /* else the user's code has written to the page */
      tm_workers_forget(w, held);
  }
  tm_workers_tell(s,
                  &(struct tm_sched_event) {
                      .kind = TM_SCHED_ON_TAKEN, .worker = number, .seqs = seqs, .seqs_len = n });
  tm_workers_carry_out(s, NULL);
  tm_workers_fill(s);
}

/* Stopping. */

static void stop_worker(struct tm_worker *w)
{
  struct tm_msg f = { .type = TM_MSG_STOP, .worker = w->id, .fd = -1 };

  tm_worker_link_send(w->link, &f);
  if (w->node->node)
    tm_node_stopping(w->node->node, w->id);
}

static void recall(struct tm_worker *w)
{
  uint64_t seqs[TM_PAGE_WORDS];
  size_t n = tm_sched_recalled(&w->s->sched, w->number, seqs);

  if (w->node->node)
    tm_node_take_back(w->node->node, w->id, seqs, n);
}

static void fail_node(struct tm_supervisor *s, int losses)
{
  struct tm_err err = TM_ERR_NONE;

  tm_err_set(&err, TM_ENODE, "the node was lost %d times in a row without one result between",
             losses);
  tm_supervisor_fail(s, &err);
}

static void report_sick(struct tm_supervisor *s, const struct tm_sched_action *a)
{
  struct tm_buf figures = TM_BUF_NONE;

  tm_sickness_describe(&figures, &a->sickness);
  if (s->o.on_sick)
    s->o.on_sick(s->o.data, a->node, tm_buf_str(&figures));
  tm_buf_release(&figures);
}

static void carry_out(struct tm_supervisor *s, const struct tm_sched_action *a,
                      const struct tm_try_end *end)
{
  struct tm_worker *w = find(s, a->worker);

  switch (a->kind) {
  case TM_SCHED_START: start_worker(s, a->node, a->worker); break;
  case TM_SCHED_SETUP: tm_workers_send_setup(w); break;
  case TM_SCHED_HAND: hand_out(w, a); break;
  case TM_SCHED_RECALL: recall(w); break;
  case TM_SCHED_STOP: stop_worker(w); break;
  case TM_SCHED_KILL:
    if (w->node->node)
      tm_node_kill(w->node->node, w->id);
    break;
  case TM_SCHED_RETRY:
  case TM_SCHED_AGAIN:
  case TM_SCHED_FAIL:
  case TM_SCHED_SEARCH: tm_failed_tries_settle(s, a, end); break;
  case TM_SCHED_SEARCH_OVER: tm_isolate_finish(s, a->search); break;
  case TM_SCHED_NODE_FAILED: fail_node(s, a->losses); break;
  case TM_SCHED_NODE_SICK: report_sick(s, a); break;
  case TM_SCHED_NO_PROGRESS:
  case TM_SCHED_INIT_FAILS:
  case TM_SCHED_INIT_STUCK: tm_watchdog_give_up(s, a->kind); break;
  }
}

void tm_workers_carry_out(struct tm_supervisor *s, const struct tm_try_end *end)
{
  struct tm_sched_action a;

  if (s->is_carrying_out)
    return;
  s->is_carrying_out = true;
  while (tm_sched_next(&s->sched, &a))
    carry_out(s, &a, end);
  s->is_carrying_out = false;
}

/* Ends. */

static void remove_worker(struct tm_worker *w)
{
  struct tm_supervisor *s = w->s;
  struct tm_worker *last = s->workers.at[--s->workers.len];

  tm_require(w->at <= s->workers.len && s->by_number.at[w->number] == w);
  s->workers.at[w->at] = last;
  last->at = w->at;
  s->by_number.at[w->number] = NULL;
  if (w->link)
    tm_worker_link_close(w->link);
  else
    free_worker(w);
}

/* For the scheduler: a mini-batch of a worker that has ended. */
struct ended_worker {
  struct tm_worker *w;
  const struct tm_ended *ended;
};

static void look_at_try(void *data, uint64_t seq, struct tm_lost_try *out)
{
  const struct ended_worker *e = data;
  struct tm_in_flight *held = tm_workers_held(e->w, seq);

  switch (tm_page_states_of(&e->ended->states, seq)) {
  case TM_ASSIGNMENT_BEGUN: out->state = TM_TRY_BEGUN; break;
  case TM_ASSIGNMENT_DONE: out->state = TM_TRY_DONE; break;
  default: out->state = TM_TRY_QUEUED; break;
  }
  if (!held || out->state == TM_TRY_QUEUED)
    return;
  tm_rows_learn_lost(e->w->s, held, &e->ended->view);
  out->rows = held->rows;
  out->items = held->items;
}

/* It ended before it was ready, and did not report why. `ended` NULL: it did not even start. */
static void note_init_failure(struct tm_worker *w, const struct tm_ended *ended, const char *words,
                              enum tm_worker_state state)
{
  struct tm_supervisor *s = w->s;
  struct tm_attempt a = {
    .status = TM_INIT_EXCEPTION, .message = words, .stack = "", .script_where = ""
  };

  if (state == TM_WORKER_STOPPING || state == TM_WORKER_READY || w->has_failed_init)
    return;
  if (ended) {
    a.status = tm_failed_tries_status(ended);
    a.total_ns = ended->lived_ns;
    a.begin_wall_ns = tm_clock_wall_ns() - ended->lived_ns;
  }
  if (s->code == 0)
    tm_err_set(&s->cause, TM_ESCRIPT, "%s %s", w->name, words);
  tm_workers_emit_init_failure(w, state, &a, 0);
}

/* What it has spilled and did not report: on the disk it would outlive the job. */
static void remove_spilled(const struct tm_worker *w)
{
  char *begin = tm_xprintf("%s.", w->name);

  tm_commit_remove_spilled(w->s->commit, begin);
  free(begin);
}

/* `state`: before its end. */
static void end_worker(struct tm_worker *w, const struct tm_ended *ended, const char *words,
                       enum tm_worker_state state, enum tm_level level)
{
  struct tm_supervisor *s = w->s;
  struct tm_event e = {
    .kind = TM_EVENT_WORKER_ENDED, .level = level, .text = words, .ended = ended
  };

  note_init_failure(w, ended, words, state);
  tm_supervisor_emit(s, &e, w);
  w->node->worker_ns += e.lived_ns;
  w->has_ended = true;
  if (w->announced == 0)
    remove_spilled(w);
  remove_worker(w);
}

void tm_workers_keep(struct tm_worker *w)
{
  w->announced++;
}

void tm_workers_let_go(struct tm_worker *w)
{
  tm_require(w->announced > 0);
  if (--w->announced > 0)
    return;
  if (w->has_ended)
    remove_spilled(w);
  if (w->is_closed)
    free_worker(w);
}

/* A worker that was ready and ended unasked. */
static void note_end(struct tm_worker *w, const char *words)
{
  struct tm_supervisor *s = w->s;

  if (tm_roster_node(&s->sched.roster, w->node->id)->pool.idle_ends > 0 && s->code == 0)
    tm_err_set(&s->cause, TM_ESCRIPT, "%s %s", w->name, words);
}

static void note_freed(const struct tm_supervisor *s)
{
  if (s->o.on_freed)
    s->o.on_freed(s->o.data);
}

static void after_end(struct tm_supervisor *s)
{
  tm_workers_fill(s);
  tm_supervisor_judge(s);
  tm_supervisor_check_end(s);
  note_freed(s);
}

bool tm_workers_on_ended(struct tm_supervisor *s, uint32_t number, const struct tm_ended *ended)
{
  struct tm_worker *w = find(s, number);
  struct ended_worker look = { .w = w, .ended = ended };
  struct tm_sched_event e = { .kind = TM_SCHED_ON_ENDED,
                              .worker = number,
                              .is_timeout = ended->cause == TM_END_TIMEOUT,
                              .has_begun = ended->states.has_begun,
                              .look = look_at_try,
                              .data = &look };
  struct tm_buf words = TM_BUF_NONE;
  enum tm_worker_state state;

  if (!tm_check(w))
    return true;
  tm_workers_deafen(w);
  tm_worker_link_drain(w->link);
  if (s->copying.is_on)
    return false;
  state = tm_workers_state(w);
  tm_ended_describe(&words, ended);
  tm_workers_tell(s, &e);
  if (state == TM_WORKER_READY)
    note_end(w, tm_buf_str(&words));
  tm_workers_carry_out(s, &(struct tm_try_end) { .ended = ended, .words = tm_buf_str(&words) });
  tm_failed_tries_cut_off(w, ended, tm_buf_str(&words)); /* one that nothing follows from */
  end_worker(w, ended, tm_buf_str(&words), state,
             state == TM_WORKER_STOPPING ? TM_INFO : TM_WARNING);
  tm_buf_release(&words);
  after_end(s);
  return true;
}

static char *with_node(const struct tm_step_node *n, const char *text)
{
  return n->id == TM_LOCAL_NODE ? tm_xstrdup(text)
                                : tm_xprintf("node %s (%s) %s", n->name, n->address, text);
}

void tm_workers_on_start_failed(struct tm_supervisor *s, uint32_t number, const char *text)
{
  struct tm_worker *w = find(s, number);
  enum tm_worker_state state;
  char *why;

  if (!tm_check(w))
    return;
  state = tm_workers_state(w);
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_ENDED, .worker = number });
  why = with_node(w->node, text);
  end_worker(w, NULL, why, state, state == TM_WORKER_STOPPING ? TM_INFO : TM_ERROR);
  free(why);
  after_end(s);
}

void tm_workers_drop_all(struct tm_supervisor *s)
{
  while (s->workers.len > 0)
    remove_worker(s->workers.at[0]);
}

void tm_workers_silence(struct tm_supervisor *s, const struct tm_step_node *n)
{
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_SILENT, .node = n->id });
  for (size_t i = 0; i < s->workers.len; i++)
    s->workers.at[i]->is_deaf |= s->workers.at[i]->node == n;
}

/* Removes the output files of the mini-batch that may have been running. If an orphan still writes
 * them, the end of the step tries again. */
static void remove_begun(const struct tm_worker *w)
{
  const struct tm_in_flight *first = tm_ring_first(&w->held);
  char *staging;

  if (!first)
    return;
  staging = tm_staging_path(w->s->staging_dir, w->name, first->seq);
  tm_staging_remove(tm_fs_real(), w->s->output_dir, staging);
  free(staging);
}

bool tm_workers_lose(struct tm_supervisor *s, const struct tm_step_node *n)
{
  for (size_t i = 0; i < s->workers.len; i++)
    if (s->workers.at[i]->node == n)
      tm_worker_link_drain(s->workers.at[i]->link);
  if (s->copying.is_on)
    return false;
  tm_announced_drop(s, n);
  for (size_t i = 0; i < s->workers.len; i++)
    if (s->workers.at[i]->node == n)
      remove_begun(s->workers.at[i]);
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_LOST, .node = n->id });
  tm_workers_carry_out(s, &(struct tm_try_end) { .is_lost = true });
  for (size_t i = 0; i < s->workers.len;)
    if (s->workers.at[i]->node == n) /* its end is not its own failure */
      end_worker(s->workers.at[i], NULL, "lost with its node", TM_WORKER_STOPPING, TM_WARNING);
    else
      i++;
  tm_supervisor_judge(s); /* a mini-batch may have failed with it */
  return true;
}
