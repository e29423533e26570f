/* answer.c - frames from workers, and what follows from them: see supervisor_own.h.
 *
 * A result names its seq. If the worker no longer holds that entry (taken back, answered),
 * the result is dropped and reported. The first complete result of a mini-batch is committed: only
 * one worker holds an entry at a time, so there is no second.
 *
 * A worker runs the user's code, which can write anything into its socket. A frame that cannot be
 * right, by its bytes or by the worker's state, ends the worker; its later frames do not count.
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
#include "step/isolate.h"
#include "step/returns.h"
#include "step/row_items.h"
#include "sys/clock.h"

#define LOST_RESULTS_MAX 3 /* lost results of a part that do not count as a try */

struct answer { /* how a try ended */
  struct tm_result_head head;
  enum tm_status status;
  const char *message, *stack, *where;
  uint32_t marked;         /* items that the script has marked as failed */
  struct tm_causes causes; /* RUN_DONE: why items failed although run() returned */
  bool no_halves;          /* of a part: halves would fail for the same reason */
};

/* `failed`: items that have failed for good with this try. */
static void emit_attempt(struct tm_worker *w, const struct tm_held *held, const struct answer *a,
                         int64_t failed)
{
  struct tm_supervisor *s = w->s;
  const struct tm_step *step = s->o.step;
  const struct tm_dataset *input =
      held->dataset < step->inputs_len ? step->inputs[held->dataset] : NULL;
  int64_t succeeded =
      a->status == TM_RUN_DONE ? tm_returns_succeeded(s, held, a->marked, a->head.returned) : 0;
  bool is_unknown = held->is_uncounted || (held->items == 0 && a->status != TM_RUN_DONE);
  bool has_causes = a->status == TM_RUN_DONE && a->causes.list.len > 0;
  struct tm_buf words = TM_BUF_NONE;
  struct tm_attempt attempt = { .index = held->entry.index,
                                .try = held->entry.try,
                                .picked = held->entry.picked,
                                .status = a->status,
                                .part_first = held->entry.part != 0
                                                  ? (int64_t)tm_part_first(held->entry.part) + 1
                                                  : 0,
                                .is_final = a->status == TM_RUN_DONE || failed > 0,
                                .items = is_unknown ? 1 : held->items,
                                .is_uncounted = is_unknown,
                                .succeeded = succeeded,
                                .failed = failed,
                                .begin_wall_ns = a->head.begin_wall_ns,
                                .total_ns = a->head.total_ns,
                                .run_ns = a->head.run_ns,
                                .cpu_ns = a->head.cpu_ns,
                                .stack = a->stack,
                                .script_where = a->where,
                                .dataset = input && input->name ? input->name : "",
                                .first_item = tm_buf_str(&held->first_item),
                                .first_item_len = held->first_item.len,
                                .are_rows = input && tm_dataset_is_table(input),
                                .manifest_at = held->manifest_at };
  struct tm_event e = { .kind = TM_EVENT_TRY_ENDED, .attempt = &attempt };

  if (has_causes) {
    attempt.causes = a->causes.list.at;
    attempt.causes_len = a->causes.list.len;
    tm_causes_add_text(&words, &a->causes);
  }
  attempt.message = has_causes ? words.data : a->message;
  tm_supervisor_emit(s, &e, w);
  tm_buf_release(&words);
}

/* The path of the script's log, or of its output if it logged nothing: the logger makes its file
 * with the first line. To free(). */
static char *log_of_script(const struct tm_worker *w)
{
  char *log = tm_xprintf("%s/user/entry_script_log/0/%s.log.txt", w->s->logs_dir, w->name);
  if (tm_fs_exists(w->s->o.fs, log))
    return log;
  free(log);
  return tm_xprintf("%s/user/stdout/0/%s.stdout.txt", w->s->logs_dir, w->name);
}

/* The caller frees `log`. */
static struct tm_failed_try failed_try(const struct tm_worker *w, const struct tm_held *held,
                                       struct answer *a, char **log)
{
  *log = a->status == TM_RUN_DONE ? log_of_script(w)
                                  : tm_xprintf("%s/user/error/0/%s.txt", w->s->logs_dir, w->name);
  return (struct tm_failed_try) { .index = held->entry.index,
                                  .try = held->entry.try,
                                  .dataset = held->dataset,
                                  .status = a->status,
                                  .message = a->message,
                                  .message_len = strlen(a->message),
                                  .where = a->where,
                                  .log = *log,
                                  .is_uncounted = held->is_uncounted,
                                  .causes = a->status == TM_RUN_DONE ? &a->causes : NULL };
}

static int list_failed_items(struct tm_buf *out, const struct tm_failed_try *t, uint64_t part,
                             struct tm_supervisor *s, struct tm_err *err)
{
  struct tm_manifest_entry entry;
  int rc = tm_part_read(s->manifest, t->index, part, &entry, err);

  if (rc == 0)
    tm_failed_lines_all(out, t, &entry);
  return rc;
}

/* Items without an element and without a mark: nobody knows which, unless it is all of them. */
static int add_short_return(struct tm_buf *out, const struct tm_worker *w,
                            const struct tm_held *held, struct answer *a, struct tm_err *err)
{
  char *log;
  struct tm_failed_try t = failed_try(w, held, a, &log);
  int rc = 0;

  if (a->marked > 0 || a->head.returned > 0) {
    tm_failed_lines_short(out, &t, held->items, a->marked, a->head.returned);
  } else {
    t.message_len = strlen(t.message = TM_SHORT_RETURN);
    rc = list_failed_items(out, &t, held->entry.part, w->s, err);
  }
  free(log);
  return rc;
}

/* Ends of tries. */

/* Records that the mini-batch has failed for good, whole or in parts. */
static void add_failed(struct tm_supervisor *s, const struct tm_held *held,
                       const struct tm_failed_try *t)
{
  struct tm_outcome outcome = { .index = t->index,
                                .try = t->try,
                                .items = held->is_uncounted ? 0 : held->items };
  struct tm_buf lines = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;

  if (list_failed_items(&lines, t, 0, s, &err) < 0)
    tm_supervisor_fail(s, &err);
  else
    tm_commit_add_failed(s->commit, &outcome, lines.data, lines.len);
  tm_buf_release(&lines);
  tm_tally_add_failed(&s->tally, held->items);
}

/* Acts on a failed try, and takes the entry from the worker's hand. */
static void end_failed_try(struct tm_worker *w, struct tm_held *held, struct answer *a)
{
  struct tm_supervisor *s = w->s;
  char *log;
  struct tm_failed_try t;
  bool is_again;
  int64_t failed;

  held->entry.due_ns = tm_vigil_retry_due(s, &held->entry, a->status);
  is_again = tm_queue_fail(&s->queue, &held->entry, w->id);
  if (!is_again)
    tm_rows_settle(s, held);
  t = failed_try(w, held, a, &log);
  failed = is_again ? 0 : held->items;
  tm_vigil_count_failed(s, a->status);
  if (a->status == TM_RUN_TIMEOUT)
    tm_crew_arm_workers(s);
  if (!is_again && tm_isolate_is_wanted(s, held))
    failed = tm_isolate_failed(s, held, &t, a->no_halves);
  else if (!is_again)
    add_failed(s, held, &t);
  s->running--;
  emit_attempt(w, held, a, failed);
  tm_hand_remove(&w->hand, held->seq);
  free(log);
}

void tm_answer_lost_try(struct tm_worker *w, struct tm_held *held, enum tm_status status,
                        const char *words, const struct tm_ended *ended)
{
  struct answer a = { .status = status, .message = words, .stack = "", .where = "" };
  int64_t ns = ended->phase_ns;
  char *text = NULL;

  a.head.total_ns = a.head.run_ns = ns;
  if (ended->view.seq == held->seq && ended->view.begun_wall_ns > 0)
    a.head.begin_wall_ns = ended->view.begun_wall_ns;
  else if (ns > 0)
    a.head.begin_wall_ns = tm_clock_wall_ns() - ns;
  if (status == TM_RUN_TIMEOUT) {
    const struct tm_config *config = &w->s->o.step->config;
    bool has_grace = config->interruptible != TM_NOT_INTERRUPTIBLE &&
                     ns >= config->run_invocation_timeout_ns + config->interrupt_grace_ns;
    text =
        tm_xprintf("run() took longer than run_invocation_timeout (%g s); its worker was killed%s",
                   (double)config->run_invocation_timeout_ns / 1e9,
                   has_grace ? ", for it could not be interrupted: it was in a C function, or "
                               "waited for a program"
                             : "");
    a.message = text;
  } else if (status == TM_LOAD_TIMEOUT) {
    text = tm_xprintf("to %s took longer than task_overhead_timeout (%g s); its worker was killed",
                      ended->view.phase == TM_PHASE_LOAD ? "load it" : "write its result",
                      (double)w->s->o.step->config.load_timeout_ns / 1e9);
    a.message = text;
  }
  tm_rows_learn_lost(w->s, held, &ended->view);
  char *staging = tm_staging_path(w->s->staging_dir, w->name, held->seq);
  tm_staging_remove(tm_fs_real(), w->s->output_dir, staging); /* its output files go too */
  free(staging);
  end_failed_try(w, held, &a);
  free(text);
}

/* A line for each marked item. */
static int add_marks(struct tm_buf *out, struct tm_worker *w, const struct tm_held *held,
                     struct answer *a, const struct tm_reader *messages, struct tm_err *err)
{
  struct tm_manifest_entry entry;
  char *log;
  struct tm_failed_try t = failed_try(w, held, a, &log);
  uint64_t part = held->entry.part;
  int rc = tm_part_read(w->s->manifest, held->entry.index, part, &entry, err);

  if (rc == 0)
    tm_failed_lines_marks(out, &t, &entry, part ? tm_part_first(part) : 0, messages, held->items);
  free(log);
  return rc;
}

/* Reads what the script reported: makes lines of marks, and keeps names of files. */
static int read_said(struct tm_good_try *g, struct tm_worker *w, const struct tm_held *held,
                     const struct tm_said *said, struct answer *a, struct tm_err *err)
{
  struct tm_reader *messages = tm_failed_lines_read_marks(said->marks, held->items, &a->marked);
  int rc = messages ? 0 : TM_EPROTOCOL;

  if (rc == 0 && a->marked > 0)
    rc = add_marks(&g->lines, w, held, a, messages, err);
  free(messages);
  if (said->files.at == said->files.end)
    return rc;
  g->staging = tm_staging_path(w->s->staging_dir, w->name, held->seq);
  g->files = said->files.at;
  g->files_len = (size_t)(said->files.end - said->files.at);
  return rc;
}

/* Reads the rows, or the name of the file that holds them. */
static int read_rows(struct tm_good_try *g, const struct tm_worker *w, struct tm_reader *r,
                     const struct answer *a)
{
  size_t name_len;
  const char *name;

  if (!a->head.is_spilled) {
    g->rows = r->at;
    g->rows_len = (size_t)(r->end - r->at);
    return 0;
  }
  name = tm_read_bytes32(r, &name_len);
  g->length = tm_read_u64(r);
  g->hash = tm_read_u64(r);
  if (r->bad)
    return TM_EPROTOCOL;
  char *text = tm_xstrndup(name, name_len);
  g->spilled = tm_path_join(w->s->spill_dir, tm_path_base(text));
  free(text);
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

static int read_good(struct tm_good_try *g, struct tm_worker *w, const struct tm_held *held,
                     struct tm_reader *r, const struct tm_said *said, struct answer *a,
                     struct tm_err *err)
{
  int rc = said ? read_said(g, w, held, said, a, err) : 0;
  if (rc == 0)
    rc = read_rows(g, w, r, a);
  if (rc == 0)
    rc = fit_columns(g, w, said, err);
  if (rc == TM_EPROTOCOL)
    return tm_err_set(err, rc, "a result of %s cannot be read", w->name);
  uint32_t succeeded = tm_returns_succeeded(w->s, held, a->marked, a->head.returned);
  if (rc == 0 && succeeded < held->items - a->marked)
    rc = add_short_return(&g->lines, w, held, a, err);
  g->outcome = (struct tm_outcome) { .index = held->entry.index,
                                     .try = held->entry.try,
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

/* The result of a part was lost on its way. That says nothing about its items, which have only this
 * try: the part runs again, uncounted, a few times. */
static bool give_back(struct tm_worker *w, struct tm_held *held, const struct answer *a,
                      const struct tm_err *err)
{
  struct tm_assignment again = held->entry;

  if (again.part == 0 || a->no_halves || again.lost_answers >= LOST_RESULTS_MAX)
    return false;
  again.lost_answers++;
  tm_supervisor_say(w->s, TM_WARNING,
                    "mini-batch %" PRIu64 ", items %" PRIu32 " to %" PRIu32 " are run again: %s",
                    again.index, tm_part_first(again.part) + 1,
                    tm_part_first(again.part) + tm_part_count(again.part), err->text);
  w->s->running--;
  tm_hand_remove(&w->hand, held->seq);
  tm_queue_put_back(&w->s->queue, &again);
  return true;
}

/* A result that cannot count: the try fails, and its output is removed. Or the job fails. */
static void refuse_good(struct tm_worker *w, struct tm_held *held, const struct tm_good_try *g,
                        struct answer *a, int rc, const struct tm_err *err)
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
  end_failed_try(w, held, a);
}

static void end_good_try(struct tm_worker *w, struct tm_held *held, struct tm_reader *r,
                         const struct tm_said *said, struct answer *a)
{
  struct tm_supervisor *s = w->s;
  struct tm_good_try g = { .rows = NULL };
  struct tm_err err = TM_ERR_NONE;
  int rc = read_good(&g, w, held, r, said, a, &err);

  if (rc == 0 && held->entry.part != 0)
    rc = tm_isolate_done(s, held, &g, &a->no_halves, &err);
  else if (rc == 0 && (rc = commit_good(s, &g, &err)) >= 0)
    tm_tally_add_done(&s->tally, held->items, g.outcome.succeeded, a->head.returned);
  if (rc < 0)
    refuse_good(w, held, &g, a, rc, &err);
  tm_buf_release(&g.lines);
  tm_buf_release(&g.own);
  free(g.staging);
  free(g.spilled);
  if (rc < 0)
    return;
  tm_hand_measure(&w->hand, a->head.total_ns);
  s->running--;
  s->lost_nodes = 0;
  tm_returns_warn(s, held, a->marked, a->head.returned);
  if (said)
    tm_rows_warn(s, held, &said->faults);
  emit_attempt(w, held, a, held->items - g.outcome.succeeded);
  tm_hand_remove(&w->hand, held->seq);
}

/* Frames. */

static void after_answer(struct tm_worker *w)
{
  struct tm_supervisor *s = w->s;

  w->has_worked = true;
  if (s->is_ending && w->state == TM_WORKER_READY && w->hand.len == 0 && s->node && !w->is_deaf)
    tm_crew_stop_worker(w);
  else if (tm_queue_has_waiting(&s->queue))
    tm_crew_hand_out(s, w);
  if (w->hand.len == 0)
    tm_crew_fill(s);
  tm_supervisor_judge(s);
}

static struct tm_held *find_held(struct tm_worker *w, const struct tm_result_head *head)
{
  struct tm_held *held = tm_hand_find(&w->hand, head->seq);

  if (!held)
    tm_supervisor_say(w->s, TM_DEBUG,
                      "%s: an answer for entry %" PRIu64 ", which it does not hold, is dropped",
                      w->name, head->seq);
  return held;
}

void tm_answer_on_rubbish(struct tm_worker *w)
{
  w->is_deaf = w->is_rubbish = true;
  tm_supervisor_say(w->s, TM_ERROR, "%s %s; it is killed", w->name,
                    w->mute_ns == 0 ? "sent bytes that cannot be read"
                                    : "closed its connection, but has not been reported as ended");
  if (w->s->node)
    tm_node_kill(w->s->node, w->id);
}

static void on_result(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_reader r;
  struct answer a = { .status = TM_RUN_DONE, .message = "", .stack = "", .where = "" };
  struct tm_held *held;
  struct tm_said said; /* its memory is the frame's */
  bool has_said;

  tm_reader_init(&r, f->payload, f->length);
  has_said = tm_result_head_read(&r, &a.head) && (a.head.flags & TM_RESULT_EXTRAS);
  if (r.bad || (has_said && !tm_extras_read(&r, &said))) {
    tm_answer_on_rubbish(w);
    return;
  }
  held = find_held(w, &a.head);
  if (!held || w->s->code != 0)
    return;
  tm_rows_learn(w->s, held, &a.head);
  end_good_try(w, held, &r, has_said ? &said : NULL, &a);
  tm_causes_release(&a.causes);
  after_answer(w);
}

static void on_failed(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_failure failure;
  struct tm_err err = TM_ERR_NONE;
  struct tm_held *held;

  if (tm_failure_decode(&failure, f->payload, f->length, &err) < 0) {
    tm_answer_on_rubbish(w);
    return;
  }
  held = find_held(w, &failure.head);
  if (held && w->s->code == 0 && (failure.head.flags & TM_FAILURE_BAD_STATE)) {
    tm_err_set(&err, TM_EDAMAGE, "%s", failure.message);
    tm_supervisor_fail(w->s, &err);
  } else if (held && w->s->code == 0) {
    struct answer a = { .head = failure.head,
                        .status = failure.status,
                        .message = failure.message,
                        .stack = failure.stack,
                        .where = failure.where };
    tm_rows_learn(w->s, held, &a.head);
    end_failed_try(w, held, &a);
    after_answer(w);
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
    tm_answer_on_rubbish(w);
    return;
  }
  w->has_failed_init = true;
  if (s->code == 0)
    tm_err_set(&s->cause, TM_ESCRIPT, "%s%s%s", failure.where, *failure.where ? ": " : "",
               failure.message);
  tm_crew_emit_init_failure(w,
                            &(struct tm_attempt) { .status = failure.status,
                                                   .begin_wall_ns = failure.head.begin_wall_ns,
                                                   .total_ns = failure.head.total_ns,
                                                   .cpu_ns = failure.head.cpu_ns,
                                                   .message = failure.message,
                                                   .stack = failure.stack,
                                                   .script_where = failure.where },
                            failure.head.flags);
  tm_vigil_note_init(s, w->name, failure.where);
  if ((failure.head.flags & TM_FAILURE_NO_RUN) && !s->is_ending)
    refuse_without_run(s, &failure);
  tm_failure_release(&failure);
}

static void on_loaded(struct tm_worker *w)
{
  tm_crew_event(w, TM_WORKER_ON_LOADED);
  tm_crew_fill(w->s);
}

static void on_ready(struct tm_worker *w)
{
  struct tm_event e = { .kind = TM_EVENT_WORKER_READY };

  tm_crew_event(w, TM_WORKER_ON_READY);
  tm_supervisor_emit(w->s, &e, w);
  tm_crew_fill(w->s);
}

/* Whether this frame can come in the worker's state. A worker that is being stopped may send frames
 * from before it heard of that. */
static bool may_come(const struct tm_worker *w, uint32_t type)
{
  if (w->is_rubbish)
    return false;
  switch (type) {
  case TM_MSG_LOADED: return w->state == TM_WORKER_LOADING || w->state == TM_WORKER_STOPPING;
  case TM_MSG_READY: return w->state == TM_WORKER_INIT || w->state == TM_WORKER_STOPPING;
  case TM_MSG_INIT_FAILED: return w->state != TM_WORKER_READY;
  case TM_MSG_RETIRED: return w->state == TM_WORKER_READY || w->state == TM_WORKER_STOPPING;
  default: return true;
  }
}

void tm_answer_on_frame(struct tm_channel *c, const struct tm_msg *f)
{
  struct tm_worker *w = c->data;

  tm_fs_close(tm_fs_real(), f->fd); /* workers send no descriptors */
  if (!may_come(w, f->type)) {
    if (!w->is_rubbish)
      tm_answer_on_rubbish(w);
    return;
  }
  switch (f->type) {
  case TM_MSG_LOADED: on_loaded(w); break;
  case TM_MSG_READY: on_ready(w); break;
  case TM_MSG_INIT_FAILED: on_init_failed(w, f); break;
  case TM_MSG_RESULT: on_result(w, f); break;
  case TM_MSG_FAILED: on_failed(w, f); break;
  case TM_MSG_RETIRED: tm_answer_retired(w, f); break;
  case TM_MSG_BYE: tm_answer_bye(w, f); break;
  default: tm_answer_on_rubbish(w); break;
  }
}
