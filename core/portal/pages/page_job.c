/* page_job.c - the page of a job: its state, what its workers are doing, its steps, its errors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "portal/pages/pages.h"

struct job {
  struct tidemill_record *record;
  const struct tidemill_record_info *info;
  const char *key;
};

/* ---- the head ---- */

static void add_command(struct tm_html *h, const struct job *j)
{
  struct tm_buf command = TM_BUF_NONE;
  const char *verb = j->info->state == TIDEMILL_STATE_RUNNING ? "cancel" : "resume";
  if (j->info->state == TIDEMILL_STATE_COMPLETED || *j->info->fault)
    return;
  tm_buf_printf(&command, "tidemill %s ", verb);
  tm_text_shell(&command, j->info->dir);
  tm_piece_command(h, command.data);
  tm_buf_release(&command);
}

static void add_numbers(struct tm_html *h, const struct job *j)
{
  const struct tidemill_counts *c = j->info->counts;
  if (!c || (c->created == 0 && c->all_created))
    return;
  tm_piece_bar(h, c->succeeded, c->failed, c->created);
  tm_html_open(h, "p class='barline'");
  tm_html_open(h, "b");
  tm_html_int(h, c->succeeded + c->failed);
  tm_html_text(h, " of ");
  tm_html_int(h, c->created);
  tm_html_close(h, "b");
  tm_html_text(h, c->all_created ? " mini-batches" : " mini-batches or more");
  if (c->failed > 0) {
    tm_html_text(h, ", ");
    tm_html_int(h, c->failed);
    tm_html_text(h, " failed");
  }
  tm_html_text(h, "; ");
  tm_html_int(h, c->items_succeeded);
  tm_html_text(h, c->items_succeeded == 1 ? " item done" : " items done");
  if (c->items_failed > 0) {
    tm_html_text(h, ", ");
    tm_html_int(h, c->items_failed);
    tm_html_text(h, " failed");
  }
  tm_html_close(h, "p");
}

static void add_times(struct tm_html *h, const struct job *j)
{
  tm_html_open(h, "p class='dim'");
  tm_html_open(h, "span");
  tm_html_text(h, "Job ");
  tm_html_name(h, j->key);
  tm_html_close(h, "span");
  if (j->info->begin_ns > 0) {
    tm_html_text(h, ", started ");
    tm_piece_time(h, j->info->begin_ns);
  }
  if (j->info->elapsed_ns >= 0) {
    tm_html_text(h, j->info->state == TIDEMILL_STATE_RUNNING ? ", for " : ", took ");
    tm_piece_duration(h, j->info->elapsed_ns);
  }
  if (j->info->pid > 0)
    tm_html_textf(h, ", pid %" PRId64, j->info->pid);
  if (*j->info->host) {
    tm_html_text(h, " on ");
    tm_html_name(h, j->info->host);
  }
  tm_html_close(h, "p");
}

static void add_sentence(struct tm_html *h, const char *words)
{
  if (!*words)
    return;
  tm_html_open(h, "p class='sentence'");
  (void)tm_html_long(h, words);
  tm_html_close(h, "p");
}

static void add_head(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct job *j = data;
  bool has_failures = j->info->counts && j->info->counts->failed > 0;
  struct tm_buf title = TM_BUF_NONE;
  tm_watch_title(&title, j->info);
  tm_html_open(h, "h1");
  tm_html_attr(h, "data-title", title.data);
  tm_html_name(h, *j->info->pipeline ? j->info->pipeline : j->key);
  tm_html_text(h, " ");
  tm_piece_state(h, j->info->state, has_failures, *j->info->fault != '\0');
  tm_html_close(h, "h1");
  tm_buf_release(&title);
  add_sentence(h, *j->info->fault ? j->info->fault : j->info->cause);
  if (j->info->is_stopped)
    add_sentence(h, "The process that runs it was stopped, by Ctrl-Z or SIGSTOP.");
  if (*j->info->cancel_asked_by)
    add_sentence(h, j->info->cancel_is_taken ? "It is being canceled: running mini-batches may end."
                                             : "Somebody has asked to cancel it.");
  add_numbers(h, j);
  add_command(h, j);
  add_times(h, j);
}

/* ---- right now ---- */

static int64_t timeout_of(struct tidemill_record *record, const char *step)
{
  struct tm_json *v = tm_json_of(tidemill_record_definition(record));
  const struct tm_json *steps = tm_json_get(v, "steps");
  int64_t seconds = -1;
  for (size_t i = 0; i < tm_json_items(steps); i++) {
    const struct tm_json *one = steps->list.at[i];
    if (strcmp(tm_json_str(one, "name", ""), step) == 0)
      seconds = tm_json_int(tm_json_get(tm_json_get(tm_json_get(one, "definition"), "settings"),
                                        "run_invocation_timeout"),
                            "value", -1);
  }
  tm_json_free(v);
  return seconds;
}

static void add_activity(struct tm_html *h, const struct tm_visit *v, const struct job *j,
                         const char *step, const struct tidemill_activity *a, int64_t timeout_s)
{
  tm_html_open(h, "tr");
  if (timeout_s > 0 && a->elapsed_ns > timeout_s * TM_S / 2)
    tm_html_attr(h, "class", "long");
  tm_html_open(h, "td");
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/workers/%s/%s", j->key, step, a->worker);
  tm_html_text(h, a->worker);
  tm_html_close(h, "a");
  tm_html_put(h, "small", step);
  tm_html_close(h, "td");
  tm_html_open(h, "td class='num'");
  tm_piece_duration(h, a->elapsed_ns);
  if (timeout_s > 0 && strcmp(a->phase, "run") == 0)
    tm_html_textf(h, " of %lld s", (long long)timeout_s);
  tm_html_close(h, "td");
  tm_html_put(h, "td", a->is_stopped ? "stopped" : a->phase);
  tm_html_open(h, "td class='num'");
  if (a->mini_batch >= 0) {
    tm_html_open(h, "a");
    tm_frame_href(h, v, "jobs/%s/mini-batches/%s/%" PRId64, j->key, step, a->mini_batch);
    tm_html_int(h, a->mini_batch);
    tm_html_close(h, "a");
    tm_html_textf(h, ", try %lld", (long long)a->try_number);
  }
  tm_html_close(h, "td");
  tm_html_open(h, "td class='path'");
  tm_html_name(h, a->mini_batch >= 0 ? a->first_item : "");
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_columns(struct tm_html *h, const char *caption, const char *const *columns,
                        size_t n)
{
  tm_html_put(h, "caption class='vh'", caption);
  tm_html_open(h, "thead");
  tm_html_open(h, "tr");
  for (size_t i = 0; i < n; i++)
    tm_html_put(h, "th scope='col'", columns[i]);
  tm_html_close(h, "tr");
  tm_html_close(h, "thead");
}

static bool has_activity(const struct job *j)
{
  for (size_t i = 0; i < j->info->steps_len; i++)
    if (tidemill_record_step(j->record, i)->running_len > 0)
      return true;
  return false;
}

/* Of each step the longest first, as the record has them. */
static void add_now(struct tm_html *h, const struct tm_visit *v, void *data)
{
  static const char *const columns[] = { "Worker", "For", "Phase", "Mini-batch", "First item" };
  const struct job *j = data;
  if (j->info->state != TIDEMILL_STATE_RUNNING)
    return;
  tm_html_put(h, "h2", "Right now");
  if (!has_activity(j)) {
    tm_html_put(h, "p class='dim'", "No worker has been at one thing for a second.");
    return;
  }
  tm_html_open(h, "table class='data'");
  add_columns(h, "What each worker is doing, the longest first", columns, TM_COUNT_OF(columns));
  tm_html_open(h, "tbody");
  for (size_t i = 0; i < j->info->steps_len; i++) {
    const struct tidemill_record_step *step = tidemill_record_step(j->record, i);
    int64_t timeout_s = step->running_len > 0 ? timeout_of(j->record, step->name) : -1;
    for (size_t k = 0; k < step->running_len; k++)
      add_activity(h, v, j, step->name, tidemill_record_running(j->record, i, k), timeout_s);
  }
  tm_html_close(h, "tbody");
  tm_html_close(h, "table");
}

/* ---- steps and errors ---- */

static void add_step(struct tm_html *h, const struct tm_visit *v, const struct job *j,
                     const struct tidemill_record_step *step)
{
  tm_html_open(h, "tr");
  tm_html_open(h, "td class='st'");
  tm_piece_state(h, step->state, step->counts->failed > 0, false);
  tm_html_close(h, "td");
  tm_html_open(h, "td");
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/steps/%s", j->key, step->name);
  tm_html_name(h, step->name);
  tm_html_close(h, "a");
  tm_html_close(h, "td");
  tm_html_open(h, "td");
  tm_piece_bar(h, step->counts->succeeded, step->counts->failed, step->counts->created);
  tm_html_open(h, "small");
  tm_html_int(h, step->counts->succeeded + step->counts->failed);
  tm_html_text(h, " of ");
  tm_html_int(h, step->counts->created);
  tm_html_close(h, "small");
  tm_html_close(h, "td");
  tm_html_open(h, "td class='note'");
  if (*step->cause)
    (void)tm_html_long(h, step->cause);
  else if (*step->reused_from)
    tm_html_textf(h, "reused from %s", step->reused_from);
  else if (*step->waits_for)
    tm_html_textf(h, "waits for %s", step->waits_for);
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_steps(struct tm_html *h, const struct tm_visit *v, void *data)
{
  static const char *const columns[] = { "State", "Step", "Mini-batches", "What to know" };
  const struct job *j = data;
  if (j->info->steps_len == 0)
    return;
  tm_html_put(h, "h2", "Steps");
  tm_html_open(h, "table class='data jobs'");
  add_columns(h, "The steps of the job, in the order of their definition", columns,
              TM_COUNT_OF(columns));
  tm_html_open(h, "tbody");
  for (size_t i = 0; i < j->info->steps_len; i++)
    add_step(h, v, j, tidemill_record_step(j->record, i));
  tm_html_close(h, "tbody");
  tm_html_close(h, "table");
}

static void add_error(struct tm_html *h, const struct tm_visit *v, const struct job *j,
                      const struct tidemill_failure *e)
{
  tm_html_open(h, "details class='err' open");
  tm_html_open(h, "summary");
  tm_html_open(h, "b");
  tm_html_int(h, e->items);
  tm_html_text(h, e->items == 1 ? " item: " : " items: ");
  tm_html_close(h, "b");
  (void)tm_html_long(h, e->error);
  tm_html_close(h, "summary");
  tm_html_open(h, "p");
  if (*e->where)
    tm_html_textf(h, "%s; ", e->where);
  tm_html_text(h, "first in ");
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/mini-batches/%s/%" PRId64, j->key, e->step, e->mini_batch);
  tm_html_textf(h, "mini-batch %" PRId64, e->mini_batch);
  tm_html_close(h, "a");
  tm_html_textf(h, " (%s) ", e->status);
  tm_html_name(h, e->item);
  tm_html_close(h, "p");
  tm_html_close(h, "details");
}

static void add_errors(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct job *j = data;
  bool has_title = false;
  for (size_t i = 0; i < j->info->steps_len; i++) {
    const struct tidemill_record_step *step = tidemill_record_step(j->record, i);
    for (size_t k = 0; k < step->errors_len; k++) {
      if (!has_title)
        tm_html_put(h, "h2", "Why items failed");
      has_title = true;
      add_error(h, v, j, tidemill_record_error(j->record, i, k));
    }
    if (step->errors_more > 0)
      tm_html_textf(h, "%s: %" PRId64 " more reasons", step->name, step->errors_more);
  }
}

void tm_page_job(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_head, true },
                                                     { "now", add_now, true },
                                                     { "steps", add_steps, true },
                                                     { "errors", add_errors, true } };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf title = TM_BUF_NONE;
  struct job j = { .key = v->route.words[0] };
  j.record = tm_watch_record(&v->portal->watch, j.key, v->request->now_ns, &err);
  if (!j.record) {
    tm_frame_fail_by(v, &err);
    return;
  }
  j.info = tidemill_record_info(j.record);
  tm_watch_title(&title, j.info);
  struct tm_page_frame f = { .title = title.data,
                             .topic = j.key,
                             .job = j.key,
                             .sections = sections,
                             .sections_len = TM_COUNT_OF(sections),
                             .data = &j };
  tm_frame_answer(v, &f);
  tm_buf_release(&title);
}
