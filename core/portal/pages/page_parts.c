/* page_parts.c - the pages of a part of a job: a step, a mini-batch, a worker, a node. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "portal/log_window.h"
#include "portal/pages/pages.h"

#define WORKERS_MAX 1000
#define REPORT_MAX  (1 << 20) /* bytes of the text about a mini-batch */

struct part {
  struct tidemill_record *record;
  const char *key, *step, *worker, *node; /* NULL: the page is not about one */
  const char *number;                     /* of a mini-batch */
  size_t index;                           /* of the step */
  struct tm_buf report;                   /* about the mini-batch */
  struct tm_err fault;                    /* why it cannot be read */
};

static bool find_step(struct part *p)
{
  const struct tidemill_record_info *job = tidemill_record_info(p->record);
  for (p->index = 0; p->index < job->steps_len; p->index++)
    if (strcmp(tidemill_record_step(p->record, p->index)->name, p->step) == 0)
      return true;
  return false;
}

/* Opens the record, and finds the step. False: the answer says what is wrong. */
static bool begin(const struct tm_visit *v, struct part *p)
{
  struct tm_err err = TM_ERR_NONE;
  p->key = v->route.words[0];
  p->record = tm_watch_record(&v->portal->watch, p->key, v->request->now_ns, &err);
  if (!p->record) {
    tm_frame_fail_job(v, p->key, &err);
    return false;
  }
  if (p->step && !find_step(p)) {
    tm_frame_fail(v, 404, "Not found", "The job has no step of this name.");
    return false;
  }
  return true;
}

static void add_title(struct tm_buf *title, const struct part *p)
{
  if (p->number)
    tm_buf_printf(title, "Mini-batch %s of %s", p->number, p->step);
  else if (p->worker)
    tm_buf_printf(title, "%s of %s", p->worker, p->step);
  else if (p->node)
    tm_buf_printf(title, "Node %s", p->node);
  else
    tm_buf_printf(title, "Step %s", p->step);
}

static void answer(const struct tm_visit *v, struct part *p, const struct tm_page_section *sections,
                   size_t n)
{
  struct tm_buf title = TM_BUF_NONE;
  add_title(&title, p);
  struct tm_page_frame f = { .title = title.data,
                             .topic = p->key,
                             .job = p->key,
                             .sections = sections,
                             .sections_len = n,
                             .data = p };
  tm_frame_answer(v, &f);
  tm_buf_release(&title);
}

/* ---- the lives of workers ---- */

struct lives {
  struct tm_html *h;
  const struct tm_visit *v;
  const struct part *p;
  const char *step;
  int64_t rows;
};

static int on_life(const struct tidemill_life_event *e, void *data)
{
  struct lives *l = data;
  struct tm_html *h = l->h;
  if ((l->p->worker && strcmp(e->worker, l->p->worker) != 0) ||
      (l->p->node && strcmp(e->node_id, l->p->node) != 0) || l->rows++ >= WORKERS_MAX)
    return 0;
  tm_html_open(h, "tr");
  tm_html_open(h, "td");
  tm_piece_time(h, e->time_ns);
  tm_html_close(h, "td");
  tm_html_open(h, "td");
  tm_html_open(h, "a");
  tm_frame_href(h, l->v, "jobs/%s/workers/%s/%s", l->p->key, l->step, e->worker);
  tm_html_text(h, e->worker);
  tm_html_close(h, "a");
  tm_html_close(h, "td");
  tm_html_open(h, "td");
  tm_html_open(h, "a");
  tm_frame_href(h, l->v, "jobs/%s/nodes/%s", l->p->key, e->node_id);
  tm_html_textf(h, "%s %s", e->node_id, e->node_address);
  tm_html_close(h, "a");
  tm_html_close(h, "td");
  tm_html_put(h, "td", e->event);
  tm_html_open(h, "td class='num'");
  if (e->max_rss_bytes > 0)
    tm_piece_bytes(h, e->max_rss_bytes);
  tm_html_close(h, "td");
  tm_html_open(h, "td class='note'");
  (void)tm_html_long(h, e->detail);
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
  return 0;
}

static void add_lives_head(struct tm_html *h)
{
  static const char *const columns[] = { "Time",  "Worker",         "Node",
                                         "Event", "Highest memory", "Detail" };
  tm_html_put(h, "caption class='vh'", "When workers began, were ready and ended");
  tm_html_open(h, "thead");
  tm_html_open(h, "tr");
  for (size_t i = 0; i < TM_COUNT_OF(columns); i++)
    tm_html_put(h, "th scope='col'", columns[i]);
  tm_html_close(h, "tr");
  tm_html_close(h, "thead");
}

/* Of the step of the page, or of all steps. */
static void add_lives(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct part *p = data;
  const struct tidemill_record_info *job = tidemill_record_info(p->record);
  struct lives l = { h, v, p, "", 0 };
  tm_html_put(h, "h2", "Workers");
  tm_html_open(h, "table class='data'");
  add_lives_head(h);
  tm_html_open(h, "tbody");
  for (size_t i = 0; i < job->steps_len; i++) {
    int64_t position = 0;
    if (p->step && i != p->index)
      continue;
    l.step = tidemill_record_step(p->record, i)->name;
    (void)tidemill_record_workers(p->record, i, &position, on_life, &l, NULL);
  }
  tm_html_close(h, "tbody");
  tm_html_close(h, "table");
  if (l.rows == 0)
    tm_html_put(h, "p class='dim'", "Nothing is recorded.");
  if (l.rows > WORKERS_MAX) {
    tm_html_open(h, "p class='more'");
    tm_html_int(h, l.rows - WORKERS_MAX);
    tm_html_text(h, " more events are in logs/sys/job_report/workers.csv.");
    tm_html_close(h, "p");
  }
}

/* ---- a step ---- */

static void add_step_head(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct part *p = data;
  const struct tidemill_record_step *s = tidemill_record_step(p->record, p->index);
  struct tm_page_state state = tm_state_shown(tidemill_state_name(s->state),
                                              s->counts->items_failed > 0, *s->reused_from != '\0');
  tm_html_open(h, "h1");
  tm_html_name(h, s->name);
  tm_html_text(h, " ");
  tm_piece_state(h, &state);
  tm_html_close(h, "h1");
  if (*s->cause) {
    tm_html_open(h, "p class='sentence'");
    (void)tm_html_long(h, s->cause);
    tm_html_close(h, "p");
  }
  tm_piece_bar(h, s->counts->succeeded, s->counts->failed, s->counts->created);
  tm_html_put(h, "pre", s->text);
}

void tm_page_step(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_step_head, true, 0 },
                                                     { "workers", add_lives, true, 0 } };
  struct part p = { .step = v->route.words[1] };
  if (begin(v, &p))
    answer(v, &p, sections, TM_COUNT_OF(sections));
}

/* ---- a mini-batch ---- */

/* Ends the call when it is enough. */
static int on_report_line(const struct tidemill_log_line *line, void *data)
{
  struct tm_buf *text = data;
  struct tm_window_line shown = { .len = 0 };
  size_t next = 0;
  if (!line)
    return 0;
  if (tm_window_line(line->text, line->text_bytes, &next, &shown))
    tm_buf_add(text, shown.text, shown.len);
  if (shown.more > 0)
    tm_buf_printf(text, " … %" PRId64 " more bytes", shown.more);
  tm_buf_add_char(text, '\n');
  return text->len > REPORT_MAX;
}

/* It may contain NUL. */
static void add_report_text(struct tm_html *h, const struct tm_buf *report)
{
  tm_html_open(h, "pre");
  tm_html_text_n(h, report->data, report->len);
  tm_html_close(h, "pre");
}

static void add_mini_batch_head(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct part *p = data;
  tm_html_open(h, "h1");
  tm_html_textf(h, "Mini-batch %s ", p->number);
  tm_html_put(h, "small", p->step);
  tm_html_close(h, "h1");
}

static void add_replay(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct part *p = data;
  struct tm_buf command = TM_BUF_NONE;
  tm_buf_add_str(&command, "tidemill replay ");
  tm_text_shell(&command, tidemill_record_info(p->record)->dir);
  if (tidemill_record_info(p->record)->steps_len > 1) {
    tm_buf_add_str(&command, " --step ");
    tm_text_shell(&command, p->step);
  }
  tm_buf_printf(&command, " --mini-batch %s", p->number);
  tm_piece_command(h, command.data);
  tm_piece_replay(h, v, p->key, p->step, p->number, command.data);
  tm_buf_release(&command);
}

/* Returns whether there is such a mini-batch. */
static bool read_report(struct part *p, int64_t number)
{
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  o.step = p->step;
  o.mini_batch = number;
  return tidemill_workspace_logs(NULL, tidemill_record_info(p->record)->dir, &o, on_report_line,
                                 &p->report, &p->fault) >= 0 ||
         !tm_frame_is_missing(&p->fault);
}

static void add_mini_batch(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct part *p = data;
  if (p->fault.code < 0)
    tm_html_put(h, "p class='sentence'", p->fault.text);
  else if (p->report.len == 0)
    tm_html_put(h, "p class='dim'", "It has not been tried yet.");
  else
    add_report_text(h, &p->report);
  if (p->report.len > REPORT_MAX)
    tm_html_put(h, "p class='more'", "The rest is left out: tidemill logs shows all of it.");
}

void tm_page_mini_batch(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_mini_batch_head, false, 0 },
                                                     { "replay", add_replay, false, 0 },
                                                     { "mini-batch", add_mini_batch, true, 0 } };
  struct part p = { .step = v->route.words[1], .number = v->route.words[2] };
  int64_t n;
  if (!tm_text_int(p.number, &n) || n < 0)
    tm_frame_fail(v, 404, "Not found", "A mini-batch has a number, from 0.");
  else if (!begin(v, &p))
    return;
  else if (!read_report(&p, n))
    tm_frame_fail_by(v, &p.fault);
  else
    answer(v, &p, sections, TM_COUNT_OF(sections));
  tm_buf_release(&p.report);
}

/* ---- a worker, a node ---- */

static int on_known(const struct tidemill_life_event *e, void *data)
{
  const struct part *p = data;
  return strcmp(p->worker ? e->worker : e->node_id, p->worker ? p->worker : p->node) == 0;
}

/* Of a job that runs, a worker that has not begun anything has logged nothing. */
static bool has_logs(const struct part *p)
{
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  struct tidemill_logs *logs = NULL;
  o.step = p->step;
  o.worker = p->worker;
  o.node = p->node;
  int rc = tidemill_logs_open(&logs, NULL, tidemill_record_info(p->record)->dir, &o, NULL);
  bool has = rc >= 0 && tidemill_logs_is_over(logs);
  tidemill_logs_close(logs);
  return has;
}

/* Whether the job has had this worker or node; the table of lives may be damaged. */
static bool is_known(const struct part *p)
{
  for (size_t i = 0; i < tidemill_record_info(p->record)->steps_len; i++) {
    int64_t position = 0;
    if (p->step && i != p->index)
      continue;
    if (tidemill_record_workers(p->record, i, &position, on_known, (void *)p, NULL) > 0)
      return true;
  }
  return has_logs(p);
}

static void add_worker_now(struct tm_html *h, const struct part *p)
{
  const struct tidemill_record_step *s = tidemill_record_step(p->record, p->index);
  for (size_t i = 0; i < s->running_len; i++) {
    const struct tidemill_activity *a = tidemill_record_running(p->record, p->index, i);
    if (strcmp(a->worker, p->worker) == 0)
      tm_html_put(h, "p class='sentence'", a->text);
  }
}

static void add_worker(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct part *p = data;
  tm_html_open(h, "h1");
  tm_html_name(h, p->worker);
  tm_html_text(h, " ");
  tm_html_put(h, "small", p->step);
  tm_html_close(h, "h1");
  add_worker_now(h, p);
  tm_html_open(h, "p");
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/logs/worker/%s", p->key, p->worker);
  tm_html_text(h, "What it logged");
  tm_html_close(h, "a");
  tm_html_close(h, "p");
}

void tm_page_worker(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_worker, true, 0 },
                                                     { "workers", add_lives, true, 0 } };
  struct part p = { .step = v->route.words[1], .worker = v->route.words[2] };
  if (!begin(v, &p))
    return;
  if (!is_known(&p))
    tm_frame_fail(v, 404, "Not found", "The step has had no worker of this name.");
  else
    answer(v, &p, sections, TM_COUNT_OF(sections));
}

static void add_node(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct part *p = data;
  tm_html_open(h, "h1");
  tm_html_text(h, "Node ");
  tm_html_name(h, p->node);
  tm_html_close(h, "h1");
  if (strcmp(p->node, "0") == 0)
    tm_html_put(h, "p class='dim'", "The machine that runs the job.");
  tm_html_open(h, "p");
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/logs/node/%s", p->key, p->node);
  tm_html_text(h, "What was logged about it");
  tm_html_close(h, "a");
  tm_html_close(h, "p");
}

void tm_page_node(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_node, false, 0 },
                                                     { "workers", add_lives, true, 0 } };
  struct part p = { .node = v->route.words[1] };
  if (!begin(v, &p))
    return;
  if (strcmp(p.node, "0") != 0 && !is_known(&p))
    tm_frame_fail(v, 404, "Not found", "The job has had no node of this number.");
  else
    answer(v, &p, sections, TM_COUNT_OF(sections));
}
