/* worker_results.c - messages from workers, and what follows from them: see supervisor_own.h.
 *
 * A result names its seq. If the worker no longer holds that assignment (taken back, answered),
 * the result is dropped and reported. The first complete result of a mini-batch is committed: only
 * one worker holds an assignment at a time, so there is no second.
 *
 * A worker runs the user's code, which can send anything over its link. A message that cannot be
 * right, by its bytes or by the worker's state, ends the worker; its later ones do not count.
 */
#include <inttypes.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "commit/part_read.h"
#include "data/item.h"
#include "record/part.h"
#include "step/announced.h"
#include "step/copying.h"
#include "step/failed_tries.h"
#include "step/isolate.h"
#include "step/returns.h"
#include "step/row_items.h"
#include "sys/clock.h"

/* Items without an element and without a mark: nobody knows which, unless it is all of them. */
static int add_short_return(struct tm_buf *out, const struct tm_worker *w,
                            const struct tm_in_flight *held, struct tm_answer *a,
                            struct tm_err *err)
{
  char *log;
  struct tm_failed_try t = tm_attempt_failed(w, held, a, &log);
  int rc = 0;

  if (a->marked > 0 || a->head.returned > 0) {
    tm_failed_lines_short(out, &t, held->items, a->marked, a->head.returned);
  } else {
    t.message_len = strlen(t.message = TM_SHORT_RETURN);
    rc = tm_attempt_list_items(out, &t, held->part, w->s, err);
  }
  free(log);
  return rc;
}

/* A line for each marked item. */
static int add_marks(struct tm_buf *out, struct tm_worker *w, const struct tm_in_flight *held,
                     struct tm_answer *a, const struct tm_marks *marks, struct tm_err *err)
{
  struct tm_manifest_entry entry;
  char *log;
  struct tm_failed_try t = tm_attempt_failed(w, held, a, &log);
  uint64_t part = held->part;
  int rc = tm_part_read(w->s->manifest, held->index, part, &entry, err);

  if (rc == 0)
    tm_failed_lines_marks(out, &t, &entry, part ? tm_part_first(part) : 0, marks);
  free(log);
  return rc;
}

/* Reads what the script reported: makes lines of marks, and keeps names of files. */
static int read_said(struct tm_good_try *g, struct tm_worker *w, const struct tm_in_flight *held,
                     const struct tm_said *said, struct tm_answer *a, struct tm_err *err)
{
  struct tm_marks marks;
  int rc = tm_failed_lines_read_marks(&marks, said->marks, held->items) ? 0 : TM_EPROTOCOL;

  a->marked = rc == 0 ? (uint32_t)marks.len : 0;
  if (rc == 0 && marks.len > 0)
    rc = add_marks(&g->lines, w, held, a, &marks, err);
  TM_ARRAY_RELEASE(&marks);
  if (said->files.at == said->files.end)
    return rc;
  g->staging = tm_staging_path(w->s->staging_dir, w->name, held->seq);
  g->files = said->files.at;
  g->files_len = (size_t)(said->files.end - said->files.at);
  return rc;
}

/* Reads the rows, or the name of the file that holds them. */
static int read_rows(struct tm_good_try *g, const struct tm_worker *w, struct tm_reader *r,
                     const struct tm_answer *a)
{
  struct tm_spilled file;

  if (!a->head.is_spilled) {
    g->rows = r->at;
    g->rows_len = (size_t)(r->end - r->at);
    return 0;
  }
  if (!tm_spilled_read(&file, w->s->spill_dir, r))
    return TM_EPROTOCOL;
  g->spilled = file.path;
  g->length = file.length;
  g->hash = file.hash;
  return 0;
}

/* The columns of a data frame: puts them in the order of the output's columns. */
static int fit_columns(struct tm_good_try *g, struct tm_worker *w, const struct tm_said *said,
                       struct tm_err *err)
{
  struct tm_columns_rows rows = { .rows = g->rows,
                                  .rows_len = g->rows_len,
                                  .spilled = g->spilled,
                                  .length = g->length,
                                  .hash = g->hash };
  int rc;

  if (!w->s->output_file)
    return 0;
  if (said)
    rows.names = said->columns;
  g->is_frame = rows.names.at < rows.names.end;
  rc = tm_columns_fit(&w->s->columns, &rows, &g->own, err);
  if (rc <= 0)
    return rc;
  free(g->spilled);
  g->spilled = NULL;
  g->rows = tm_buf_str(&g->own);
  g->rows_len = g->own.len;
  return 0;
}

static int read_good(struct tm_good_try *g, struct tm_worker *w, const struct tm_in_flight *held,
                     struct tm_reader *r, const struct tm_said *said, struct tm_answer *a,
                     struct tm_err *err)
{
  int rc = said ? read_said(g, w, held, said, a, err) : 0;
  if (rc == 0)
    rc = read_rows(g, w, r, a);
  if (rc == 0)
    rc = fit_columns(g, w, said, err);
  if (rc == TM_EPROTOCOL)
    return tm_err_set(err, rc, "a result of %s cannot be read", w->name);
  a->bytes = g->spilled ? (int64_t)g->length : (int64_t)g->rows_len;
  uint32_t succeeded = tm_returns_succeeded(w->s, held, a->marked, a->head.returned);
  if (rc == 0 && succeeded < held->items - a->marked)
    rc = add_short_return(&g->lines, w, held, a, err);
  g->outcome = (struct tm_outcome) { .index = held->index,
                                     .try = held->try,
                                     .items = held->items,
                                     .succeeded = succeeded,
                                     .returned = a->head.returned };
  return rc;
}

/* TM_EDAMAGE: files or rows differ from what the worker reported. */
static int commit_good(struct tm_supervisor *s, const struct tm_good_try *g, struct tm_err *err)
{
  int rc = g->files_len > 0
               ? tm_commit_note_files(s->commit, g->staging, g->files, g->files_len, err)
               : 0;

  if (rc < 0)
    return rc;
  if (g->lines.len > 0)
    tm_commit_note_failures(s->commit, g->lines.data, g->lines.len);
  rc = tm_columns_begin_add(&s->columns, s->commit, g->outcome.index, g->is_frame, err);
  if (rc == 0 && g->spilled)
    rc = tm_commit_add_spilled(s->commit, &g->outcome, g->spilled, g->length, g->hash, err);
  else if (rc == 0)
    tm_commit_add_done(s->commit, &g->outcome, g->rows, g->rows_len);
  if (rc == 0)
    tm_columns_end_add(&s->columns, s->commit, g->is_frame);
  return rc;
}

/* An event about it, also if it is announced and has left the worker. */
static struct tm_sched_event about(const struct tm_worker *w, const struct tm_in_flight *held,
                                   enum tm_sched_event_kind kind)
{
  return (struct tm_sched_event) { .kind = kind,
                                   .node = w->node->id,
                                   .worker = w->number,
                                   .seq = held->seq,
                                   .what = tm_announced_what(held) };
}

/* The result of a part was lost on its way. That says nothing about its items, which have only this
 * try: the part runs again, uncounted, a few times. */
static bool give_back(struct tm_worker *w, const struct tm_in_flight *held,
                      const struct tm_answer *a, const struct tm_err *err)
{
  struct tm_sched_event e = about(w, held, TM_SCHED_ON_UNUSABLE);
  uint64_t part = held->part;

  if (a->no_halves || !tm_workers_tell(w->s, &e))
    return false;
  tm_supervisor_say(w->s, TM_WARNING,
                    "mini-batch %" PRIu64 ", items %" PRIu32 " to %" PRIu32 " are run again: %s",
                    held->index, tm_part_first(part) + 1, tm_part_first(part) + tm_part_count(part),
                    err->text);
  tm_workers_forget(w, held);
  return true;
}

/* A result that cannot count: the try fails, and its output is removed. Or the job fails. */
static void refuse_good(struct tm_worker *w, struct tm_in_flight *held, const struct tm_good_try *g,
                        struct tm_answer *a, int rc, const struct tm_err *err)
{
  if (rc != TM_EDAMAGE && rc != TM_EPROTOCOL && rc != TM_ESCRIPT) {
    tm_supervisor_fail(w->s, err);
    return;
  }
  if (g->staging)
    tm_staging_remove(tm_fs_real(), w->s->output_dir, g->staging);
  if (give_back(w, held, a, err))
    return;
  a->marked = 0;
  if (g->spilled)
    tm_fs_real()->unlink(tm_fs_real()->self, g->spilled); /* refused before the commit saw it */
  a->status = rc == TM_ESCRIPT ? TM_RUN_WRONG_RETURN : TM_RUN_EXCEPTION;
  a->no_halves = a->no_halves || rc == TM_ESCRIPT;
  a->message = err->text;
  tm_failed_tries_end(w, held, a);
}

static void good_try_release(struct tm_good_try *g)
{
  tm_buf_release(&g->lines);
  tm_buf_release(&g->own);
  free(g->staging);
  free(g->spilled);
}

/* False: its rows are copied first, and `f` comes again. */
static bool end_good_try(struct tm_worker *w, struct tm_in_flight *held, const struct tm_msg *f,
                         struct tm_reader *r, const struct tm_said *said, struct tm_answer *a)
{
  struct tm_supervisor *s = w->s;
  struct tm_good_try g = { .rows = NULL };
  struct tm_sched_event e;
  struct tm_err err = TM_ERR_NONE;
  int rc = read_good(&g, w, held, r, said, a, &err);

  if (rc == 0 && tm_copying_begin(w, f, held, &g)) {
    good_try_release(&g);
    return false;
  }
  if (rc == 0 && held->part != 0)
    rc = tm_isolate_done(s, held, &g, &a->no_halves, &err);
  else if (rc == 0 && (rc = commit_good(s, &g, &err)) >= 0) {
    tm_tally_add_done(&s->tally, held->items, g.outcome.succeeded, a->head.returned);
    if (s->o.on_committed)
      s->o.on_committed(s->o.data, s, w->node->id);
  }
  if (rc < 0)
    refuse_good(w, held, &g, a, rc, &err);
  good_try_release(&g);
  if (rc < 0)
    return true;
  e = about(w, held, TM_SCHED_ON_RESULT);
  e.ns = a->head.total_ns;
  tm_workers_tell(s, &e);
  tm_workers_carry_out(s, NULL);
  tm_returns_warn(s, held, a->marked, a->head.returned);
  if (said)
    tm_rows_warn(s, held, &said->faults);
  tm_attempt_emit(w, held, a, held->items - g.outcome.succeeded);
  tm_workers_forget(w, held);
  return true;
}

/* Messages. */

static void after_answer(struct tm_worker *w)
{
  tm_workers_fill(w->s);
  tm_supervisor_judge(w->s);
}

static struct tm_in_flight *find_held(struct tm_worker *w, const struct tm_result_head *head)
{
  struct tm_in_flight *held = tm_workers_held(w, head->seq);

  if (!held)
    tm_supervisor_say(w->s, TM_DEBUG,
                      "%s: an answer for entry %" PRIu64 ", which it does not hold, is dropped",
                      w->name, head->seq);
  return held;
}

void tm_worker_results_on_rubbish(struct tm_worker *w)
{
  w->is_rubbish = true;
  tm_workers_deafen(w);
  tm_supervisor_say(w->s, TM_ERROR, "%s %s; it is killed", w->name,
                    w->mute_ns == 0 ? "sent bytes that cannot be read"
                                    : "closed its connection, but has not been reported as ended");
  if (w->node->node)
    tm_node_kill(w->node->node, w->id);
}

/* A message of a good try. */
struct result {
  struct tm_answer a;
  struct tm_reader r;  /* what follows the head, and what the script said */
  struct tm_said said; /* its memory is the message's */
  bool has_said;
};

static bool read_result(struct result *x, const struct tm_msg *f)
{
  *x = (struct result) { .a = { .status = TM_RUN_DONE, .message = "", .stack = "", .where = "" } };
  tm_reader_init(&x->r, f->payload, f->length);
  x->has_said = tm_result_head_read(&x->r, &x->a.head) && (x->a.head.flags & TM_RESULT_EXTRAS);
  return !x->r.bad && (!x->has_said || tm_extras_read(&x->r, &x->said));
}

static bool end_result(struct tm_worker *w, struct tm_in_flight *held, const struct tm_msg *f,
                       struct result *x)
{
  bool is_over = end_good_try(w, held, f, &x->r, x->has_said ? &x->said : NULL, &x->a);

  tm_causes_release(&x->a.causes);
  return is_over;
}

bool tm_worker_results_on_seen(struct tm_worker *w, struct tm_in_flight *held,
                               const struct tm_msg *f)
{
  struct result x;

  tm_require(read_result(&x, f)); /* it could be read before */
  return end_result(w, held, f, &x);
}

static void on_result(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_in_flight *held;
  struct result x;

  if (!read_result(&x, f)) {
    tm_worker_results_on_rubbish(w);
    return;
  }
  held = find_held(w, &x.a.head);
  if (!held || w->s->code != 0)
    return;
  if (!tm_rows_learn(w->s, held, &x.a.head)) {
    tm_worker_results_on_rubbish(w);
    return;
  }
  if (tm_announced_begin(w, f, held, &x.a.head, x.r, x.said.files)) {
    tm_workers_carry_out(w->s, NULL);
    tm_workers_fill(w->s);
  } else if (end_result(w, held, f, &x)) {
    after_answer(w);
  }
}

static void on_failed(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_failure failure;
  struct tm_err err = TM_ERR_NONE;
  struct tm_in_flight *held;

  if (tm_failure_decode(&failure, f->payload, f->length, &err) < 0) {
    tm_worker_results_on_rubbish(w);
    return;
  }
  held = find_held(w, &failure.head);
  if (held && w->s->code == 0 && (failure.head.flags & TM_FAILURE_BAD_STATE)) {
    tm_err_set(&err, TM_EDAMAGE, "%s", failure.message);
    tm_supervisor_fail(w->s, &err);
  } else if (held && w->s->code == 0) {
    struct tm_answer a = { .head = failure.head,
                           .status = failure.status,
                           .message = failure.message,
                           .stack = failure.stack,
                           .where = failure.where };
    if (tm_rows_learn(w->s, held, &a.head)) {
      tm_failed_tries_end(w, held, &a);
      after_answer(w);
    } else {
      tm_worker_results_on_rubbish(w);
    }
  }
  tm_failure_release(&failure);
}

/* A script without run() is refused: nothing was handed out, and no second worker was started. */
static void refuse_without_run(struct tm_supervisor *s, const struct tm_failure *failure)
{
  struct tm_err err = TM_ERR_NONE;

  tm_err_set(&err, TM_EUSAGE, "%s", failure->message);
  tm_supervisor_fail(s, &err);
}

static void on_init_failed(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_supervisor *s = w->s;
  struct tm_failure failure;
  struct tm_err err = TM_ERR_NONE;

  if (tm_failure_decode(&failure, f->payload, f->length, &err) < 0) {
    tm_worker_results_on_rubbish(w);
    return;
  }
  w->has_failed_init = true;
  if (s->code == 0)
    tm_err_set(&s->cause, TM_ESCRIPT, "%s%s%s", failure.where, *failure.where ? ": " : "",
               failure.message);
  tm_workers_emit_init_failure(w, tm_workers_state(w),
                               &(struct tm_attempt) { .status = failure.status,
                                                      .begin_wall_ns = tm_step_node_our_time(
                                                          w->node, failure.head.begin_wall_ns),
                                                      .total_ns = failure.head.total_ns,
                                                      .cpu_ns = failure.head.cpu_ns,
                                                      .message = failure.message,
                                                      .stack = failure.stack,
                                                      .script_where = failure.where },
                               failure.head.flags);
  tm_watchdog_note_init(s, w->name, failure.where);
  if ((failure.head.flags & TM_FAILURE_NO_RUN) && tm_step_life_may(&s->life, TM_STEP_MAY_RUN))
    refuse_without_run(s, &failure);
  tm_failure_release(&failure);
}

static void on_loaded(struct tm_worker *w)
{
  tm_workers_tell(w->s,
                  &(struct tm_sched_event) { .kind = TM_SCHED_ON_LOADED, .worker = w->number });
  tm_workers_fill(w->s);
}

static void on_ready(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_event e = { .kind = TM_EVENT_WORKER_READY };
  struct tm_reader r;
  uint64_t flags;

  tm_reader_init(&r, f->payload, f->length);
  e.init_ns = (int64_t)tm_read_u64(&r);
  flags = tm_read_u64(&r);
  if (r.bad || r.at != r.end || e.init_ns < 0) {
    tm_worker_results_on_rubbish(w);
    return;
  }
  tm_workers_tell(w->s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_READY,
                                                   .worker = w->number,
                                                   .has_prefetch = flags & TM_READY_PREFETCH });
  tm_supervisor_emit(w->s, &e, w);
  tm_workers_fill(w->s);
}

/* Whether this message can come in the worker's state. A worker that is being stopped may send some
 * from before it heard of that. */
static bool may_come(const struct tm_worker *w, uint32_t type)
{
  enum tm_worker_state state = tm_workers_state(w);

  if (w->is_rubbish)
    return false;
  switch (type) {
  case TM_MSG_LOADED: return state == TM_WORKER_LOADING || state == TM_WORKER_STOPPING;
  case TM_MSG_READY: return state == TM_WORKER_INIT || state == TM_WORKER_STOPPING;
  case TM_MSG_INIT_FAILED: return state != TM_WORKER_READY;
  case TM_MSG_RETIRED: return state == TM_WORKER_READY || state == TM_WORKER_STOPPING;
  default: return true;
  }
}

void tm_worker_results_on_msg(void *worker, const struct tm_msg *f)
{
  struct tm_worker *w = worker;

  if (!may_come(w, f->type)) {
    if (!w->is_rubbish)
      tm_worker_results_on_rubbish(w);
    return;
  }
  switch (f->type) {
  case TM_MSG_LOADED: on_loaded(w); break;
  case TM_MSG_READY: on_ready(w, f); break;
  case TM_MSG_INIT_FAILED: on_init_failed(w, f); break;
  case TM_MSG_RESULT: on_result(w, f); break;
  case TM_MSG_FAILED: on_failed(w, f); break;
  case TM_MSG_RETIRED: tm_worker_results_retired(w, f); break;
  case TM_MSG_BYE: tm_worker_results_bye(w, f); break;
  default: tm_worker_results_on_rubbish(w); break;
  }
}
