/* record.c - reads the files of a job for hosts: an inspection (inspect/inspection.h) as structs of
 * tidemill.h; the inspection owns their text. */
#include "records/disk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "report/errors.h"
#include "report/result.h"
#include "sys/clock.h"

/* The state by its name in a result; for another text, the state of the job. */
static enum tidemill_state state_of(const char *name, enum tidemill_state otherwise)
{
  for (int i = TIDEMILL_STATE_RUNNING; i <= TIDEMILL_STATE_WAITING; i++)
    if (name && strcmp(tidemill_state_name((enum tidemill_state)i), name) == 0)
      return (enum tidemill_state)i;
  return otherwise;
}

/* ---- steps ---- */

static void add_outputs(struct tm_record_step *step, const struct tm_step_inspection *s)
{
  const struct tm_json *list = s->outputs;
  bool is_list = list && list->type == TM_JSON_ARRAY && list->list.len > 0;
  for (size_t i = 0; is_list && i < list->list.len; i++)
    *TM_ARRAY_ADD(&step->outputs) = (struct tidemill_record_output) {
      .size = sizeof(struct tidemill_record_output),
      .name = tm_json_str(list->list.at[i], "name", ""),
      .path = tm_json_str(list->list.at[i], "path", ""),
      .destination = tm_json_str(list->list.at[i], "destination", ""),
    };
  if (!is_list && s->output)
    *TM_ARRAY_ADD(&step->outputs) =
        (struct tidemill_record_output) { .size = sizeof(struct tidemill_record_output),
                                          .name = "",
                                          .path = s->output,
                                          .destination = "" };
}

/* "process000" of ".../process000.txt" or "process000.stderr.txt", to free(). */
static char *worker_of(const char *log)
{
  const char *name = log ? tm_path_base(log) : "";
  return tm_xstrndup(name, strcspn(name, "."));
}

/* The reason as the report at the end of a job has it, to free(). */
static char *text_of(const struct tidemill_record *r, const struct tm_step_inspection *s,
                     const struct tm_inspection_error *e)
{
  struct tm_buf text = TM_BUF_NONE, again = TM_BUF_NONE, item = TM_BUF_NONE;
  bool is_items = !e->status;
  char *worker = worker_of(e->log),
       *list = tm_xprintf("%s/%s/failed_items.jsonl", r->info.dir, s->name);
  if (e->item)
    tm_text_one_line(&item, e->item, strlen(e->item), 0);
  tm_error_add_replay(&again, r->info.dir, r->inspection.steps_len > 1 ? s->name : NULL);
  tm_buf_printf(&again, " --mini-batch %" PRId64, e->mini_batch);
  const struct tm_error shown = { .message = e->message,
                                  .pattern = e->pattern,
                                  .is_mixed = e->is_mixed,
                                  .where = e->where ? e->where : (char *)(uintptr_t) "",
                                  .worker = worker,
                                  .log = is_items ? list
                                         : e->log ? e->log
                                                  : (char *)(uintptr_t) "",
                                  .item = item.len > 0 ? item.data : (char *)(uintptr_t) "",
                                  .items = e->first_items,
                                  .detail = is_items ? e->detail : e->status,
                                  .are_rows = e->are_rows,
                                  .row = e->row,
                                  .number = e->number,
                                  .index = (uint64_t)e->mini_batch,
                                  .again = again.data,
                                  .count = e->items,
                                  .is_items = is_items,
                                  .counts_items = true,
                                  .is_cut = s->errors_cut };
  tm_error_add_text(&text, &shown, 4, 5);
  tm_buf_release(&again);
  tm_buf_release(&item);
  free(worker);
  free(list);
  return tm_buf_take(&text);
}

static void add_errors(const struct tidemill_record *r, struct tm_record_step *step,
                       const struct tm_step_inspection *s)
{
  for (size_t i = 0; i < s->errors_len; i++)
    *TM_ARRAY_ADD(&step->errors) =
        (struct tidemill_failure) { .size = sizeof(struct tidemill_failure),
                                    .step = s->name,
                                    .mini_batch = s->errors[i].mini_batch,
                                    .item = tm_text_or_empty(s->errors[i].item),
                                    .error = s->errors[i].message,
                                    .status = tm_text_or_empty(s->errors[i].status),
                                    .log = tm_text_or_empty(s->errors[i].log),
                                    .items = s->errors[i].items,
                                    .are_rows = s->errors[i].are_rows,
                                    .where = tm_text_or_empty(s->errors[i].where),
                                    .text = text_of(r, s, &s->errors[i]) };
}

static struct tidemill_counts counts_of(const struct tm_step_inspection *s)
{
  return (struct tidemill_counts) { .size = sizeof(struct tidemill_counts),
                                    .created = s->total,
                                    .all_created = s->is_listed || s->status,
                                    .succeeded = s->succeeded,
                                    .failed = s->failed,
                                    .items = s->items_succeeded + s->items_failed,
                                    .items_succeeded = s->items_succeeded,
                                    .items_failed = s->items_failed,
                                    .uncounted = s->uncounted };
}

static void add_running(struct tm_record_step *step, const struct tm_step_inspection *s)
{
  for (size_t i = 0; i < s->activities.list.len; i++) {
    const struct tm_activity *a = &s->activities.list.at[i];
    bool has_mini_batch = a->seq != 0;
    struct tm_buf text = TM_BUF_NONE;
    tm_activity_add(&text, a);
    *TM_ARRAY_ADD(&step->running) = (struct tidemill_activity) {
      .size = sizeof(struct tidemill_activity),
      .worker = a->worker,
      .pid = a->pid,
      .phase = has_mini_batch && a->phase == TM_PHASE_IDLE ? "" : tm_phase_name(a->phase),
      .elapsed_ns = a->ns,
      .begun_ns = a->begun_wall_ns,
      .is_stopped = a->is_stopped,
      .mini_batch = has_mini_batch ? (int64_t)a->index : -1,
      .try_number = a->try,
      .first_item = tm_text_or_empty(a->first_item),
      .text = tm_buf_take(&text),
    };
  }
}

static void add_step(struct tidemill_record *r, const struct tm_step_inspection *s)
{
  struct tm_record_step *step = TM_ARRAY_ADD(&r->steps);
  enum tidemill_state open = s->sessions > 0 ? r->info.state : TIDEMILL_STATE_WAITING;
  *step = (struct tm_record_step) { .logs_dir = tm_xprintf("%s/%s/logs", r->info.dir, s->name),
                                    .counts = counts_of(s) };
  add_outputs(step, s);
  step->step = (struct tidemill_record_step) {
    .size = sizeof(struct tidemill_record_step),
    .name = s->name,
    .state = state_of(s->status, open),
    .cause = tm_text_or_empty(s->cause),
    .waits_for = tm_text_or_empty(s->waits_for),
    .reused_from = tm_text_or_empty(s->reused_from),
    .output = tm_text_or_empty(s->output),
    .logs_dir = step->logs_dir,
    .error_file = "",
    .sessions = s->sessions,
    .items_total = s->items_total,
    .mini_batches_per_second = tm_inspection_rate(&r->inspection, s),
    .damage_at_byte = s->damage_at,
    .outputs_len = step->outputs.len,
    .text = "",
  };
}

static bool is_over(enum tidemill_state state)
{
  return state == TIDEMILL_STATE_COMPLETED || state == TIDEMILL_STATE_FAILED ||
         state == TIDEMILL_STATE_CANCELED || state == TIDEMILL_STATE_SKIPPED;
}

static struct tm_counts counts_to_show(const struct tm_step_inspection *s)
{
  return (struct tm_counts) { .created = s->total,
                              .all_created = s->is_listed,
                              .succeeded = s->succeeded,
                              .failed = s->failed,
                              .items = s->items_succeeded + s->items_failed,
                              .items_succeeded = s->items_succeeded,
                              .items_failed = s->items_failed,
                              .uncounted = s->uncounted,
                              .errors = s->try_errors,
                              .timeouts = s->try_timeouts,
                              .lost = s->try_lost };
}

/* The lines about a step, to free(). */
static char *lines_of(const struct tidemill_record *r, const struct tm_record_step *step,
                      const struct tm_step_inspection *s)
{
  struct TM_ARRAY(struct tm_result_output) outputs = { 0 };
  struct tm_buf errors = TM_BUF_NONE, text = TM_BUF_NONE;
  struct tm_counts counts = counts_to_show(s);
  bool is_running = r->info.state == TIDEMILL_STATE_RUNNING, has_ended = is_over(step->step.state),
       is_open = s->waits_for || has_ended;
  char *dir = tm_path_join(r->info.dir, s->name);
  for (size_t i = 0; i < step->outputs.len; i++)
    *TM_ARRAY_ADD(&outputs) =
        (struct tm_result_output) { i == 0 && s->output ? s->output : step->outputs.at[i].path,
                                    step->outputs.at[i].destination };
  for (size_t i = 0; i < step->errors.len; i++)
    tm_buf_add_str(&errors, step->errors.at[i].text);
  tm_result_add(&text,
                &(struct tm_result) {
                    .name = s->name,
                    .state = tidemill_state_name(step->step.state),
                    .dir = dir,
                    .logs_dir = step->logs_dir,
                    .cause = strcmp(step->step.cause, r->info.cause) != 0 ? step->step.cause : "",
                    .waits_for = s->waits_for,
                    .reused_from = s->reused_from,
                    .has_no_numbers = s->sessions == 0 && !s->reused_from && is_open,
                    .is_running = is_running && !has_ended,
                    .counts = &counts,
                    .items_total = s->items_total,
                    .rate = step->step.mini_batches_per_second,
                    .running = &s->activities,
                    .nodes = &s->nodes,
                    .outputs = outputs.at,
                    .outputs_len = outputs.len,
                    .error_file = s->error_file,
                    .errors = tm_buf_str(&errors),
                    .errors_more = s->errors_more,
                    .errors_cut = s->errors_cut,
                    .damage_at = is_running ? -1 : s->damage_at },
                0);
  TM_ARRAY_RELEASE(&outputs);
  tm_buf_release(&errors);
  free(dir);
  return tm_buf_take(&text);
}

/* ---- the job ---- */

static int64_t elapsed(int64_t begin_ns, int64_t end_ns)
{
  return begin_ns == 0 || end_ns < begin_ns ? -1 : end_ns - begin_ns;
}

static void sum(struct tidemill_record *r, const struct tm_record_step *step)
{
  struct tidemill_counts *all = &r->counts;
  const struct tidemill_counts *c = &step->counts;
  r->info.steps_reused += *step->step.reused_from != '\0';
  all->created += c->created;
  all->all_created = all->all_created && c->all_created;
  all->succeeded += c->succeeded;
  all->failed += c->failed;
  all->items += c->items;
  all->items_succeeded += c->items_succeeded;
  all->items_failed += c->items_failed;
  all->uncounted += c->uncounted;
}

static char *text_of_nodes(const struct tm_nodes_sum *n)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_nodes_sum_add(&text, n);
  return tm_buf_take(&text);
}

static void take_inspection(struct tidemill_record *r)
{
  static const enum tidemill_state states[] = {
    [TM_JOB_RUNNING] = TIDEMILL_STATE_RUNNING,
    [TM_JOB_INTERRUPTED] = TIDEMILL_STATE_INTERRUPTED,
    [TM_JOB_COMPLETED] = TIDEMILL_STATE_COMPLETED,
    [TM_JOB_FAILED] = TIDEMILL_STATE_FAILED,
    [TM_JOB_CANCELED] = TIDEMILL_STATE_CANCELED,
  };
  const struct tm_inspection *s = &r->inspection;
  struct tidemill_record_info *info = &r->info;
  tm_require(r->steps.len == 0 && s->status < TM_COUNT_OF(states));
  info->pipeline = s->name;
  info->file = tm_text_or_empty(s->pipeline_file);
  info->state = states[s->status];
  info->cause = tm_text_or_empty(s->cause);
  info->begin_ns = s->begin_wall_ns;
  info->end_ns = s->end_wall_ns;
  info->elapsed_ns = elapsed(s->begin_wall_ns, s->end_wall_ns ? s->end_wall_ns : s->now_wall_ns);
  info->pid = s->pid;
  info->host = tm_text_or_empty(s->host);
  info->is_stopped = s->is_stopped;
  if (s->is_cancel_asked)
    r->cancel_asked_by = tm_xprintf("user %s on host %s (pid %" PRId64 ")", s->cancel.user,
                                    s->cancel.host, s->cancel.pid);
  info->cancel_asked_by = tm_text_or_empty(r->cancel_asked_by);
  if (s->has_nodes && s->nodes.asked > 0)
    r->nodes = text_of_nodes(&s->nodes);
  info->nodes = tm_text_or_empty(r->nodes);
  info->cancel_is_taken = s->is_cancel_taken;
  info->steps_len = s->steps_len;
  r->counts.all_created = true;
  for (size_t i = 0; i < s->steps_len; i++) {
    add_step(r, &s->steps[i]);
    sum(r, &r->steps.at[i]);
  }
  tm_require(r->steps.len == info->steps_len);
  for (size_t i = 0; i < s->steps_len; i++) /* the steps stay where they are from now on */
    r->steps.at[i].step.counts = &r->steps.at[i].counts;
}

static void clear_info(struct tidemill_record *r, const char *dir)
{
  r->counts = (struct tidemill_counts) { .size = sizeof(r->counts) };
  r->info = (struct tidemill_record_info) { .size = sizeof(struct tidemill_record_info),
                                            .dir = dir,
                                            .pipeline = "",
                                            .file = "",
                                            .state = TIDEMILL_STATE_INTERRUPTED,
                                            .fault = "",
                                            .cause = "",
                                            .elapsed_ns = -1,
                                            .host = "",
                                            .counts = &r->counts,
                                            .cancel_asked_by = "",
                                            .nodes = "" };
}

static int take_read(struct tidemill_record *r, int rc)
{
  clear_info(r, r->inspection.dir);
  if (rc < 0) {
    r->info.fault = r->fault.text;
    r->info.is_removed = !tm_fs_exists(tm_fs_real(), r->info.dir);
  } else {
    take_inspection(r);
  }
  return rc;
}

int tm_record_read(struct tidemill_record *r, const char *dir)
{
  tm_require(!r->known && !r->has_details);
  return take_read(r, tm_inspection_read(&r->inspection, dir, tm_clock_wall_ns(), &r->fault));
}

int tm_record_read_for_list(struct tidemill_record *r, const char *dir)
{
  tm_require(!r->known && !r->has_details);
  return take_read(r,
                   tm_inspection_read_for_list(&r->inspection, dir, tm_clock_wall_ns(), &r->fault));
}

void tm_record_read_details(struct tidemill_record *r)
{
  if (r->has_details)
    return;
  tm_require(r->steps.len <= r->inspection.steps_len);
  r->has_details = true;
  tm_inspection_read_details(&r->inspection);
  for (size_t i = 0; i < r->steps.len; i++) {
    struct tm_record_step *step = &r->steps.at[i];
    const struct tm_step_inspection *s = &r->inspection.steps[i];
    add_errors(r, step, s);
    add_running(step, s);
    step->step.errors_len = step->errors.len;
    step->step.running_len = step->running.len;
    step->step.errors_cut = s->errors_cut;
    step->step.errors_more = s->errors_more;
    step->step.error_file = tm_text_or_empty(s->error_file);
    step->step.try_errors = s->try_errors;
    step->step.try_timeouts = s->try_timeouts;
    step->step.try_lost = s->try_lost;
    step->step.text = step->text = lines_of(r, step, s);
  }
}

void tm_record_of_history(struct tidemill_record *r, const struct tm_history_job *job)
{
  tm_require(r->steps.len == 0 && !r->known);
  r->known = job;
  clear_info(r, job->dir);
  r->info.is_removed = true;
  r->info.pipeline = tm_text_or_empty(job->pipeline);
  r->info.file = tm_text_or_empty(job->file);
  r->info.state = state_of(job->status, TIDEMILL_STATE_INTERRUPTED);
  r->info.begin_ns = job->begin_ns;
  r->info.end_ns = job->end_ns;
  r->info.elapsed_ns = elapsed(job->begin_ns, job->end_ns);
  r->info.steps_len = (size_t)job->steps;
  r->info.steps_reused = (size_t)job->reused;
  r->counts = (struct tidemill_counts) { .size = sizeof(r->counts),
                                         .created = job->total,
                                         .all_created = true,
                                         .succeeded = job->succeeded,
                                         .failed = job->failed,
                                         .items = job->items_succeeded < 0
                                                      ? -1
                                                      : job->items_succeeded + job->items_failed,
                                         .items_succeeded = job->items_succeeded,
                                         .items_failed = job->items_failed };
}

/* Releases what was made of the inspection. */
static void forget(struct tidemill_record *r)
{
  for (size_t i = 0; i < r->steps.len; i++) {
    TM_ARRAY_RELEASE(&r->steps.at[i].outputs);
    for (size_t k = 0; k < r->steps.at[i].errors.len; k++)
      free((char *)(uintptr_t)r->steps.at[i].errors.at[k].text);
    TM_ARRAY_RELEASE(&r->steps.at[i].errors);
    for (size_t k = 0; k < r->steps.at[i].running.len; k++)
      free((char *)(uintptr_t)r->steps.at[i].running.at[k].text);
    TM_ARRAY_RELEASE(&r->steps.at[i].running);
    TM_ARRAY_RELEASE(&r->steps.at[i].sessions);
    free(r->steps.at[i].logs_dir);
    free(r->steps.at[i].text);
  }
  TM_ARRAY_RELEASE(&r->steps);
  free(r->cancel_asked_by);
  free(r->nodes);
  free(r->json);
  free(r->definition);
  free(r->command);
  free(r->directory);
  TM_ARRAY_RELEASE_EACH(&r->words);
  tm_rerun_release(&r->again);
  free((char *)(uintptr_t)r->rerun.text);
  free(r->result);
  free(r->metrics_text);
  *r = (struct tidemill_record) { .is_lent = r->is_lent,
                                  .inspection = r->inspection,
                                  .errors = r->errors,
                                  .metrics = r->metrics,
                                  .mark = r->mark,
                                  .changes = r->changes };
}

void tm_record_release(struct tidemill_record *r)
{
  forget(r);
  tm_record_release_errors(r);
  for (size_t i = 0; i < r->metrics.len; i++)
    tm_metrics_release_step(&r->metrics.at[i]);
  TM_ARRAY_RELEASE(&r->metrics);
  tm_inspection_release(&r->inspection);
  tm_changes_close(&r->changes);
}

int tm_record_renew(struct tidemill_record *r)
{
  tm_require(!r->known);
  forget(r);
  return take_read(r, tm_inspection_renew(&r->inspection, tm_clock_wall_ns(), &r->fault));
}

void tm_record_set_now(struct tidemill_record *r)
{
  if (r->info.state == TIDEMILL_STATE_RUNNING)
    r->info.elapsed_ns = elapsed(r->info.begin_ns, tm_clock_wall_ns());
}

int tidemill_record_open(struct tidemill_record **out, struct tidemill_workspace *ws,
                         const char *job, struct tm_err *err)
{
  struct tidemill_record *r;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_record_open()", "out", out, "job", job, NULL) < 0)
    return TM_EUSAGE;
  char *dir = tm_workspace_job_dir(ws, job, TM_TO_READ, err);
  if (!dir)
    return err->code;
  r = TM_NEW(struct tidemill_record);
  if (tm_record_read(r, dir) < 0)
    *err = r->fault;
  else
    *out = r;
  free(dir);
  if (!*out)
    tidemill_record_close(r);
  return *out ? 0 : err->code;
}

void tidemill_record_close(struct tidemill_record *r)
{
  if (!r || r->is_lent)
    return;
  tm_record_release(r);
  free(r);
}

/* ---- questions ---- */

const struct tidemill_record_info *tidemill_record_info(const struct tidemill_record *r)
{
  return r ? &r->info : NULL;
}

/* Reads details only when a step is requested. The cast is safe: all records are made here, and
 * none is constant. */
static const struct tm_record_step *step_at(const struct tidemill_record *r, size_t i)
{
  if (!r || i >= r->steps.len)
    return NULL;
  tm_record_read_details((struct tidemill_record *)(uintptr_t)r);
  return &r->steps.at[i];
}

const struct tidemill_record_step *tidemill_record_step(const struct tidemill_record *r,
                                                        size_t step)
{
  const struct tm_record_step *s = step_at(r, step);
  return s ? &s->step : NULL;
}

const struct tidemill_record_output *tidemill_record_output(const struct tidemill_record *r,
                                                            size_t step, size_t i)
{
  const struct tm_record_step *s = step_at(r, step);
  return s && i < s->outputs.len ? &s->outputs.at[i] : NULL;
}

const struct tidemill_failure *tidemill_record_error(const struct tidemill_record *r, size_t step,
                                                     size_t i)
{
  const struct tm_record_step *s = step_at(r, step);
  return s && i < s->errors.len ? &s->errors.at[i] : NULL;
}

const struct tidemill_activity *tidemill_record_running(const struct tidemill_record *r,
                                                        size_t step, size_t i)
{
  const struct tm_record_step *s = step_at(r, step);
  return s && i < s->running.len ? &s->running.at[i] : NULL;
}
