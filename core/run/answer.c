/* answer.c - what workers say, and what becomes of a try: see supervisor_own.h.
 *
 * A result names its seq; one that is not in the worker's hand any more (taken back, answered) is dropped and said. The
 * first complete result of a mini-batch is committed: an entry is in one hand at a time, so there is no second.
 *
 * A worker runs the user's code, which can write anything into its socket. What cannot be, by its bytes or by the worker's
 * state, ends the worker, and nothing that it has said after it counts.
 */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "data/item.h"
#include "run/supervisor_own.h"
#include "sys/clock.h"

struct answer { /* how a try ended */
  struct tm_result_head head;
  enum tm_status status;
  const char *message, *stack, *where;
  uint32_t marked; /* items that the script has marked as failed */
};

static void emit_attempt(struct tm_worker *w, const struct tm_held *held, const struct answer *a,
                         bool is_final)
{
  struct tm_supervisor *s = w->s;
  const struct tm_step *step = s->o.step;
  const char *name = held->dataset < step->inputs_len ? step->inputs[held->dataset]->name : NULL;
  int64_t succeeded =
      a->status == TM_RUN_DONE ? tm_tally_succeeded(held->items, a->marked, a->head.returned) : 0;
  struct tm_attempt attempt = { .index = held->entry.index,
                                .try = held->entry.try,
                                .picked = held->entry.picked,
                                .status = a->status,
                                .is_final = is_final,
                                .items = held->items,
                                .succeeded = succeeded,
                                .failed = is_final ? held->items - succeeded : 0,
                                .begin_wall_ns = a->head.begin_wall_ns,
                                .total_ns = a->head.total_ns,
                                .run_ns = a->head.run_ns,
                                .cpu_ns = a->head.cpu_ns,
                                .message = a->message,
                                .stack = a->stack,
                                .script_where = a->where,
                                .dataset = name ? name : "",
                                .first_item = tm_buf_str(&held->first_item),
                                .first_item_len = held->first_item.len,
                                .manifest_at = held->manifest_at };
  struct tm_event e = { .kind = TM_EVENT_TRY_ENDED, .attempt = &attempt };

  tm_supervisor_emit(s, &e, w);
}

/* The lines of the failures log. */

static void add_failed_item(struct tm_buf *out, const struct tm_worker *w,
                            const struct tm_held *held, const struct tm_item *item,
                            const struct answer *a)
{
  char *log = tm_xprintf("%s/user/error/0/%s.txt", w->s->logs_dir, w->name);

  tm_buf_printf(out, "{\"mini_batch\":%" PRIu64 ",\"item\":", held->entry.index);
  tm_json_write_string(out, item->path, item->path_len);
  tm_buf_printf(out, ",\"try\":%" PRIu32 ",\"status\":\"%s\",\"error\":", held->entry.try,
                tm_status_name(a->status));
  tm_json_write_string(out, a->message, strlen(a->message));
  tm_buf_add_str(out, ",\"log\":");
  tm_json_write_string(out, log, strlen(log));
  tm_buf_add_str(out, "}\n");
  free(log);
}

static int list_failed_items(struct tm_buf *out, struct tm_worker *w, const struct tm_held *held,
                             const struct answer *a, struct tm_err *err)
{
  struct tm_manifest_entry entry;
  struct tm_reader r;
  struct tm_item item;
  int rc = tm_manifest_read(w->s->manifest, held->entry.index, &entry, err);

  if (rc < 0)
    return rc;
  tm_reader_init(&r, entry.bytes, entry.len);
  while (tm_item_next(&r, &item))
    add_failed_item(out, w, held, &item, a);
  return 0;
}

/* Items that no element stands for, and no mark: which ones is not known. */
static void note_short_return(struct tm_supervisor *s, const struct tm_held *held,
                              const struct answer *a)
{
  struct tm_buf line = TM_BUF_NONE;
  uint32_t good = held->items - a->marked;

  if (a->head.returned >= good)
    return;
  tm_buf_printf(&line,
                "{\"mini_batch\":%" PRIu64 ",\"item\":null,\"count\":%" PRIu32
                ",\"error\":\"run() returned %" PRIu32 " %s for %" PRIu32 " %s",
                held->entry.index, good - a->head.returned, a->head.returned,
                tm_text_counted(a->head.returned, "element", "elements"), held->items,
                tm_text_counted(held->items, "item", "items"));
  if (a->marked > 0)
    tm_buf_printf(&line, ", of which %" PRIu32 " are marked as failed", a->marked);
  tm_buf_add_str(&line, "\"}\n");
  tm_commit_note_failures(s->commit, line.data, line.len);
  tm_buf_release(&line);
}

/* Ends of tries. */

/* The entry leaves the hand; what follows from a failed try. */
static void end_failed_try(struct tm_worker *w, struct tm_held *held, const struct answer *a)
{
  struct tm_supervisor *s = w->s;
  struct tm_outcome outcome = { .index = held->entry.index,
                                .try = held->entry.try,
                                .items = held->items };
  struct tm_buf lines = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  bool is_final = !tm_queue_fail(&s->queue, &held->entry, w->id);

  tm_tally_add_failed_try(&s->tally, a->status);
  if (is_final) {
    if (list_failed_items(&lines, w, held, a, &err) < 0)
      tm_supervisor_fail(s, &err);
    else
      tm_commit_add_failed(s->commit, &outcome, lines.data, lines.len);
    tm_buf_release(&lines);
    tm_tally_add_failed(&s->tally, held->items);
  }
  s->running--;
  emit_attempt(w, held, a, is_final);
  tm_hand_remove(&w->hand, held->seq);
}

void tm_answer_lost_try(struct tm_worker *w, struct tm_held *held, enum tm_status status,
                        const char *words, int64_t ns)
{
  struct answer a = { .status = status, .message = words, .stack = "", .where = "" };
  char *text = NULL;

  a.head.total_ns = a.head.run_ns = ns;
  a.head.begin_wall_ns = ns > 0 ? tm_clock_wall_ns() - ns : 0;
  if (status == TM_RUN_TIMEOUT) {
    text = tm_xprintf("run() took longer than run_invocation_timeout (%g s); its worker was killed",
                      (double)w->s->o.step->config.run_invocation_timeout_ns / 1e9);
    a.message = text;
  } else if (status == TM_LOAD_TIMEOUT) {
    text = tm_xprintf("to load it took longer than task_overhead_timeout (%g s); its worker was "
                      "killed",
                      (double)w->s->o.step->config.load_timeout_ns / 1e9);
    a.message = text;
  }
  char *staging = tm_staging_path(w->s->staging_dir, w->name, held->seq);
  tm_tree_remove(staging, NULL); /* what it had made goes with it */
  free(staging);
  end_failed_try(w, held, &a);
  free(text);
}

static void warn_surplus(struct tm_supervisor *s, const struct tm_held *held,
                         const struct answer *a)
{
  uint32_t returned = a->head.returned, good = held->items - a->marked;

  if (returned <= good || s->has_surplus_warning)
    return;
  s->has_surplus_warning = true;
  tm_supervisor_say(s, TM_WARNING,
                    "run() returned %" PRIu32 " %s for the %" PRIu32 " %s of mini-batch %" PRIu64
                    "%s; each element should stand for one item (said once)",
                    returned, tm_text_counted(returned, "element", "elements"), good,
                    tm_text_counted(good, "item", "items"), held->entry.index,
                    a->marked == 0 ? ""
                                   : tm_text_counted(good, " that is not marked as failed",
                                                     " that are not marked as failed"));
}

/* What the script said beside the rows. Its memory is the frame's. */
struct said {
  struct tm_reader marks, files;
};

/* The message of each marked item, by its number from 0; NULL: the bytes are none that a worker of ours sends. To free(). */
static struct tm_reader *read_marks(struct tm_reader r, uint32_t items, uint32_t *marked)
{
  struct tm_reader *messages = tm_xcalloc(items + 1u, sizeof(*messages));

  *marked = 0;
  while (r.at < r.end && !r.bad) {
    uint32_t number = tm_read_u32(&r);
    size_t len = 0;
    const char *message = tm_read_bytes32(&r, &len);
    if (r.bad || number < 1 || number > items || messages[number - 1].at) {
      free(messages);
      return NULL;
    }
    tm_reader_init(&messages[number - 1], message, len);
    ++*marked;
  }
  if (!r.bad)
    return messages;
  free(messages);
  return NULL;
}

static void add_marked_item(struct tm_buf *out, const struct tm_worker *w,
                            const struct tm_held *held, const struct tm_item *item,
                            const struct tm_reader *message)
{
  char *log = tm_xprintf("%s/user/entry_script_log/0/%s.log.txt", w->s->logs_dir, w->name);

  tm_buf_printf(out, "{\"mini_batch\":%" PRIu64 ",\"item\":", held->entry.index);
  tm_json_write_string(out, item->path, item->path_len);
  tm_buf_printf(out, ",\"try\":%" PRIu32 ",\"status\":\"RUN_DONE\",\"error\":", held->entry.try);
  tm_json_write_string(out, message->at, (size_t)(message->end - message->at));
  tm_buf_add_str(out, ",\"log\":");
  tm_json_write_string(out, log, strlen(log));
  tm_buf_add_str(out, "}\n");
  free(log);
}

static int note_marks(struct tm_worker *w, const struct tm_held *held,
                      const struct tm_reader *messages, struct tm_err *err)
{
  struct tm_buf lines = TM_BUF_NONE;
  struct tm_manifest_entry entry;
  struct tm_reader r;
  struct tm_item item;
  int rc = tm_manifest_read(w->s->manifest, held->entry.index, &entry, err);

  if (rc < 0)
    return rc;
  tm_reader_init(&r, entry.bytes, entry.len);
  for (uint32_t i = 0; i < held->items && tm_item_next(&r, &item); i++)
    if (messages[i].at)
      add_marked_item(&lines, w, held, &item, &messages[i]);
  tm_commit_note_failures(w->s->commit, lines.data, lines.len);
  tm_buf_release(&lines);
  return 0;
}

static int note_files(struct tm_worker *w, const struct tm_held *held,
                      const struct tm_reader *files, struct tm_err *err)
{
  char *dir = tm_staging_path(w->s->staging_dir, w->name, held->seq);
  int rc = files->at == files->end ? 0
                                   : tm_commit_note_files(w->s->commit, dir, files->at,
                                                          (size_t)(files->end - files->at), err);

  if (rc < 0)
    tm_tree_remove(dir, NULL);
  free(dir);
  return rc;
}

/* Marks and files go to the commit, for the add that comes next. False: the try has failed for it, or the job has. */
static bool note_said(struct tm_worker *w, struct tm_held *held, const struct said *said,
                      struct answer *a)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_reader *messages = read_marks(said->marks, held->items, &a->marked);
  int rc = messages ? note_files(w, held, &said->files, &err)
                    : tm_err_set(&err, TM_EPROTOCOL, "a result of %s cannot be read", w->name);
  bool is_refused = rc == TM_EDAMAGE || rc == TM_EPROTOCOL;

  if (rc == 0 && a->marked > 0)
    rc = note_marks(w, held, messages, &err);
  free(messages);
  if (is_refused) {
    a->marked = 0;
    a->status = TM_RUN_EXCEPTION;
    a->message = err.text;
    end_failed_try(w, held, a);
  } else if (rc < 0) {
    tm_supervisor_fail(w->s, &err);
  }
  return rc == 0;
}

/* Rows that came in a file. False: it is not what the worker said, and the try has failed. */
static bool add_spilled(struct tm_worker *w, struct tm_held *held, const struct tm_outcome *o,
                        struct tm_reader *r, struct answer *a)
{
  struct tm_supervisor *s = w->s;
  struct tm_err err = TM_ERR_NONE;
  size_t name_len;
  const char *name = tm_read_bytes32(r, &name_len);
  uint64_t length = tm_read_u64(r), hash = tm_read_u64(r);
  char *text = name ? tm_xstrndup(name, name_len) : tm_xstrdup("");
  char *path = tm_path_join(s->spill_dir, tm_path_base(text));
  int rc = r->bad ? tm_err_set(&err, TM_EPROTOCOL, "a result of %s cannot be read", w->name)
                  : tm_commit_add_spilled(s->commit, o, path, length, hash, &err);

  free(text);
  free(path);
  if (rc == TM_EDAMAGE || rc == TM_EPROTOCOL) {
    a->status = TM_RUN_EXCEPTION;
    a->message = err.text;
    end_failed_try(w, held, a);
  } else if (rc < 0) { /* the output itself: nobody's try has failed, the job ends */
    tm_supervisor_fail(s, &err);
  }
  return rc >= 0;
}

static void end_good_try(struct tm_worker *w, struct tm_held *held, struct tm_reader *r,
                         const struct said *said, struct answer *a)
{
  struct tm_supervisor *s = w->s;
  uint32_t returned = a->head.returned;
  struct tm_outcome o = {
    .index = held->entry.index, .try = held->entry.try, .items = held->items, .returned = returned
  };

  if (said && !note_said(w, held, said, a))
    return;
  o.succeeded = (uint32_t)tm_tally_succeeded(held->items, a->marked, returned);
  note_short_return(s, held, a);
  if (!a->head.is_spilled)
    tm_commit_add_done(s->commit, &o, r->at, (size_t)(r->end - r->at));
  else if (!add_spilled(w, held, &o, r, a))
    return;
  tm_tally_add_done(&s->tally, held->items, a->marked, returned);
  tm_hand_measure(&w->hand, a->head.total_ns);
  s->running--;
  s->lost_nodes = 0;
  warn_surplus(s, held, a);
  emit_attempt(w, held, a, true);
  tm_hand_remove(&w->hand, held->seq);
}

/* Frames. */

static void after_answer(struct tm_worker *w)
{
  struct tm_supervisor *s = w->s;

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
                    w->mute_ns != 0 ? "has no channel any more" : "sent bytes that cannot be read");
  if (w->s->node)
    tm_node_kill(w->s->node, w->id);
}

static void on_result(struct tm_worker *w, const struct tm_frame *f)
{
  struct tm_reader r;
  struct answer a = { .status = TM_RUN_DONE, .message = "", .stack = "", .where = "" };
  struct tm_held *held;
  struct said said;
  bool has_said;

  tm_reader_init(&r, f->payload, f->length);
  has_said = tm_result_head_read(&r, &a.head) && (a.head.flags & TM_RESULT_EXTRAS);
  if (r.bad || (has_said && !tm_extras_read(&r, &said.marks, &said.files))) {
    tm_answer_on_rubbish(w);
    return;
  }
  held = find_held(w, &a.head);
  if (!held || w->s->code != 0)
    return;
  end_good_try(w, held, &r, has_said ? &said : NULL, &a);
  after_answer(w);
}

static void on_failed(struct tm_worker *w, const struct tm_frame *f)
{
  struct tm_failure failure;
  struct tm_err err = TM_ERR_NONE;
  struct tm_held *held;

  if (tm_failure_decode(&failure, f->payload, f->length, &err) < 0) {
    tm_answer_on_rubbish(w);
    return;
  }
  held = find_held(w, &failure.head);
  if (held && w->s->code == 0) {
    struct answer a = { .head = failure.head,
                        .status = failure.status,
                        .message = failure.message,
                        .stack = failure.stack,
                        .where = failure.where };
    end_failed_try(w, held, &a);
    after_answer(w);
  }
  tm_failure_release(&failure);
}

/* Without run() the job is refused: nothing has been handed out, no second worker was started. */
static void refuse_without_run(struct tm_supervisor *s, const struct tm_failure *failure)
{
  struct tm_err err = TM_ERR_NONE;

  tm_err_set(&err, TM_EUSAGE, "%s", failure->message);
  tm_supervisor_fail(s, &err);
}

static void on_init_failed(struct tm_worker *w, const struct tm_frame *f)
{
  struct tm_supervisor *s = w->s;
  struct tm_failure failure;
  struct tm_err err = TM_ERR_NONE;
  struct tm_event e = { .kind = TM_EVENT_INIT_FAILED };

  if (tm_failure_decode(&failure, f->payload, f->length, &err) < 0) {
    tm_answer_on_rubbish(w);
    return;
  }
  w->has_failed_init = true;
  e.message = failure.message;
  e.stack = failure.stack;
  e.script_where = failure.where;
  if (s->code == 0)
    tm_err_set(&s->cause, TM_ESCRIPT, "%s%s%s", failure.where, *failure.where ? ": " : "",
               failure.message);
  tm_supervisor_emit(s, &e, w);
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

/* In a worker's life each comes at its time; a worker that is being stopped may not have heard of it. */
static bool may_come(const struct tm_worker *w, uint32_t type)
{
  if (w->is_rubbish)
    return false;
  switch (type) {
  case TM_FRAME_LOADED: return w->state == TM_WORKER_LOADING || w->state == TM_WORKER_STOPPING;
  case TM_FRAME_READY: return w->state == TM_WORKER_INIT || w->state == TM_WORKER_STOPPING;
  case TM_FRAME_INIT_FAILED: return w->state != TM_WORKER_READY;
  default: return true;
  }
}

void tm_answer_on_frame(struct tm_channel *c, const struct tm_frame *f)
{
  struct tm_worker *w = c->data;

  tm_fs_close(tm_fs_real(), f->fd); /* a worker has none to give */
  if (!may_come(w, f->type)) {
    if (!w->is_rubbish)
      tm_answer_on_rubbish(w);
    return;
  }
  switch (f->type) {
  case TM_FRAME_LOADED: on_loaded(w); break;
  case TM_FRAME_READY: on_ready(w); break;
  case TM_FRAME_INIT_FAILED: on_init_failed(w, f); break;
  case TM_FRAME_RESULT: on_result(w, f); break;
  case TM_FRAME_FAILED: on_failed(w, f); break;
  case TM_FRAME_BYE: break; /* its end is the keeper's to say */
  default: tm_answer_on_rubbish(w); break;
  }
}
