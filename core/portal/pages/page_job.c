/* page_job.c - the page of a job: the sections of its report, live. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "page/svg.h"
#include "portal/insight_view.h"
#include "portal/pages/pages.h"

struct job {
  struct tidemill_record *record;
  const struct tidemill_record_info *info;
  struct tm_insight_view *view;
  const char *key;
  size_t at; /* the section of the report that is written */
};

/* ---- the report ---- */

/* A section of the report is an element of its own, or nothing. */
static void add_section(struct tm_html *h, const struct tm_visit *v, void *data)
{
  struct job *j = data;
  struct tm_buf part = TM_BUF_NONE;
  tm_buf_add_str(&part, tm_insight_section(j->view, j->at));
  tm_html_part(h, &part);
  tm_buf_release(&part);
}

/* The way to the pages of steps and mini-batches. */
static void add_ways(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct job *j = data;
  if (j->info->steps_len == 0)
    return;
  tm_html_put(h, "h2", "More about");
  tm_html_open(h, "ul class='ways'");
  for (size_t i = 0; i < j->info->steps_len; i++) {
    const char *step = tidemill_record_step(j->record, i)->name;
    tm_html_open(h, "li");
    tm_html_open(h, "a");
    tm_frame_href(h, v, "jobs/%s/steps/%s", j->key, step);
    tm_html_text(h, "step ");
    tm_html_name(h, step);
    tm_html_close(h, "a");
    tm_html_open(h, "form action='../mini-batch'");
    tm_html_void(h, "input type='hidden' name='step'");
    tm_html_attr(h, "value", step);
    tm_html_open(h, "label");
    tm_html_text(h, "its mini-batch ");
    tm_html_void(h, "input name='n' inputmode='numeric' size='9' required");
    tm_html_close(h, "label");
    tm_html_put(h, "button", "show");
    tm_html_close(h, "form");
    tm_html_close(h, "li");
  }
  tm_html_close(h, "ul");
}

static void add_control(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct job *j = data;
  if (j->record) /* otherwise its files are gone */
    tm_piece_control(h, v, j->key, j->record);
}

static size_t list_sections(struct tm_page_section *out)
{
  const char *const *names = tidemill_html_sections();
  size_t n = 0;
  out[n++] = (struct tm_page_section) { "control", add_control, true, 0 };
  for (size_t i = 0; names[i] && i < TM_INSIGHT_SECTIONS; i++)
    out[n++] = (struct tm_page_section) { names[i], add_section, true, i };
  out[n++] = (struct tm_page_section) { "ways", add_ways, false, 0 };
  return n;
}

/* The form above: ?step=NAME&n=NUMBER. */
void tm_page_to_mini_batch(const struct tm_visit *v)
{
  struct tm_buf step = TM_BUF_NONE;
  int64_t n = tm_target_int(v->target->query, "n", -1);
  bool is_named = tm_target_text(v->target->query, "step", &step) && step.len > 0;
  if (is_named && n >= 0 && !strpbrk(step.data, "/?#%")) {
    tm_answer_init(v->answer, 303, TM_ANSWER_PAGE);
    tm_answer_header(v->answer, "Location", "mini-batches/%s/%" PRId64, step.data, n);
  } else {
    tm_frame_fail(v, 404, "Not found", "A mini-batch has a number, from 0.");
  }
  tm_buf_release(&step);
}

/* The record, and the view. Of a job that cannot be read any more, the view shows what it has; of
 * one that was removed, what the history knows. `gone` is for those. */
static int open_job(const struct tm_visit *v, struct job *j, struct tidemill_record_info *gone,
                    struct tm_err *err)
{
  struct tm_portal *p = v->portal;
  char *dir = tm_watch_dir(&p->watch, j->key);
  j->record = tm_watch_record(&p->watch, j->key, v->request->now_ns, err);
  *gone = (struct tidemill_record_info) { .state = TIDEMILL_STATE_INTERRUPTED,
                                          .is_removed = tm_frame_is_missing(err),
                                          .dir = j->key,
                                          .fault = err->text,
                                          .cancel_asked_by = "" };
  j->info = j->record ? tidemill_record_info(j->record) : gone;
  if (dir)
    j->view = tm_insight_view(&p->views, j->key, dir, tm_watch_version(&p->watch, j->key),
                              v->request->now_ns, err);
  free(dir);
  return j->view ? 0 : err->code;
}

void tm_page_job(const struct tm_visit *v)
{
  struct tm_page_section sections[TM_INSIGHT_SECTIONS + 2];
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf title = TM_BUF_NONE;
  struct tidemill_record_info gone;
  struct job j = { .key = v->route.words[0] };
  if (open_job(v, &j, &gone, &err) < 0) {
    tm_frame_fail_job(v, j.key, &err);
    return;
  }
  tm_watch_title(&title, j.info);
  struct tm_page_frame f = { .title = title.data,
                             .topic = j.key,
                             .job = j.key,
                             .sections = sections,
                             .sections_len = list_sections(sections),
                             .is_report = true,
                             .at = &j.at,
                             .data = &j };
  if (v->target->is_folder)
    tm_frame_answer(v, &f);
  else
    tm_frame_to_folder(v);
  tm_buf_release(&title);
}

static int on_report(const char *text, size_t bytes, void *data)
{
  tm_buf_add(data, text, bytes);
  return 0;
}

void tm_page_report(const struct tm_visit *v)
{
  struct tm_err err = TM_ERR_NONE;
  struct tidemill_report_options o = TIDEMILL_REPORT_OPTIONS_INIT;
  char *dir = tm_watch_dir(&v->portal->watch, v->route.words[0]);
  tm_answer_init(v->answer, 200, TM_ANSWER_ATTACHMENT);
  o.on_text = on_report;
  o.data = &v->answer->body;
  err.code = dir ? 0 : TM_EUSAGE;
  if (!dir || tidemill_report_write(NULL, dir, &o, &err) < 0) {
    tm_answer_release(v->answer);
    tm_frame_fail_job(v, v->route.words[0], &err);
  }
  free(dir);
}
