/* section_figures.c - the few numbers of a job. Those of all steps together, but for the speed of a
 * job that is over, which is that of the step that the page shows. */
#include "base/text.h"
#include "page/now.h"
#include "page/section.h"
#include "page/speed.h"
#include "page/svg.h"

/* One figure: its value, its label, and a remark. */
static void begin_label(struct tm_html *h)
{
  tm_html_open(h, "div");
  tm_html_open(h, "dt");
}
static void begin_value(struct tm_html *h)
{
  tm_html_close(h, "dt");
  tm_html_text(h, " ");
  tm_html_open(h, "dd class='v'");
}
static void begin_remark(struct tm_html *h)
{
  tm_html_close(h, "dd");
  tm_html_text(h, " ");
  tm_html_open(h, "dd");
}
static void end_figure(struct tm_html *h)
{
  tm_html_close(h, "dd");
  tm_html_close(h, "div");
  tm_html_text(h, "\n");
}

/* How many were done: if a journal is damaged, at least as many as it has before that. */
static void add_done(struct tm_html *h, const struct tm_fact_job *job, int64_t done)
{
  bool is_least = tm_page_uncounted(job) != NULL;
  if (is_least && done == 0) {
    tm_html_text(h, "–");
    return;
  }
  tm_html_text(h, is_least ? "≥ " : "");
  tm_html_int(h, done);
}

static void add_no_failure(struct tm_html *h, const struct tm_fact_job *job)
{
  tm_html_text(h, tm_page_uncounted(job) ? "not known: a journal is damaged" : "none failed");
}

static void add_mini_batches(struct tm_html *h, const struct tm_fact_job *job)
{
  const struct tm_fact_counts *c = &job->counts;
  int64_t open = tm_page_uncounted(job) ? 0 : c->created - c->succeeded - c->failed;
  if (job->is_removed && c->created == 0) /* not known */
    return;
  begin_label(h);
  tm_html_text(h, "of ");
  tm_page_count(h, c->created, "mini-batch", "mini-batches");
  tm_html_text(h, c->is_listed ? " done" : " listed so far");
  begin_value(h);
  add_done(h, job, c->succeeded);
  begin_remark(h);
  if (c->failed > 0) {
    tm_html_int(h, c->failed);
    tm_html_text(h, " failed");
  }
  if (open > 0) {
    tm_html_text(h, c->failed > 0 ? " · " : "");
    tm_html_int(h, open);
    tm_html_text(h, " not done");
  }
  if (c->failed == 0 && open <= 0)
    add_no_failure(h, job);
  end_figure(h);
}

/* As a number of items, as it is set, and as the share of all items. */
static void add_tolerated(struct tm_html *h, int64_t threshold, int64_t items_total)
{
  tm_html_int(h, threshold);
  if (threshold > 0 && items_total > 0) {
    tm_html_text(h, " (");
    tm_page_percent(h, threshold < items_total ? (double)threshold / (double)items_total : 1);
    tm_html_text(h, ")");
  }
}

/* The threshold is that of a step: of several, that of the step that the page shows. */
static void add_limit(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_step *step = tm_page_fact(page);
  if (!step || (page->job->steps.len > 1 && step->counts.items_failed == 0))
    return;
  tm_html_text(h, " · ");
  if (page->job->steps.len > 1) {
    tm_html_int(h, step->counts.items_failed);
    tm_html_text(h, " in step ");
    tm_html_name(h, step->name);
    tm_html_text(h, ", which tolerates ");
    if (step->error_threshold < 0)
      tm_html_text(h, "any number");
    else
      add_tolerated(h, step->error_threshold, step->counts.items_total);
  } else if (step->error_threshold < 0) {
    tm_html_text(h, "any number is tolerated");
  } else {
    tm_html_text(h, "tolerated: ");
    add_tolerated(h, step->error_threshold, page->job->counts.items_total);
  }
}

static void add_items(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_counts *c = &page->job->counts;
  int64_t done = c->items_succeeded + c->items_failed;
  if (c->items_succeeded < 0)
    return;
  begin_label(h);
  tm_html_text(h, c->items_failed > 0 ? "of items failed" : done == 1 ? "item done" : "items done");
  begin_value(h);
  if (c->items_failed > 0 && done > 0)
    tm_page_percent(h, (double)c->items_failed / (double)done);
  else
    add_done(h, page->job, c->items_succeeded);
  begin_remark(h);
  if (c->items_failed == 0) {
    add_no_failure(h, page->job);
  } else {
    tm_html_int(h, c->items_failed);
    tm_html_text(h, " of ");
    tm_html_int(h, done);
    add_limit(h, page);
  }
  end_figure(h);
}

static int64_t between(const struct tm_step_model *m)
{
  int64_t sum = 0;
  for (size_t i = 1; i < m->sessions.len; i++) {
    int64_t gap = m->sessions.at[i].begin_ns - m->sessions.at[i - 1].end_ns;
    sum += gap > 0 ? gap : 0;
  }
  return sum;
}

static void add_wall_time(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  begin_label(h);
  tm_html_text(h, page->job->state == TM_FACT_RUNNING ? "wall time so far" : "wall time");
  begin_value(h);
  tm_page_duration(h, page->job->elapsed_ns);
  begin_remark(h);
  if (m && m->sessions.len > 1) {
    tm_html_int(h, (int64_t)m->sessions.len);
    tm_html_text(h, " sessions, ");
    tm_page_duration(h, between(m));
    tm_html_text(h, " between");
  } else if (m) {
    tm_html_text(h, "one session");
  }
  end_figure(h);
}

/* Of all steps together. */
static struct tm_worker_time time_of(const struct tm_job_page *page)
{
  struct tm_worker_time sum = { 0 };
  for (size_t i = 0; page->steps && i < page->job->steps.len; i++) {
    const struct tm_fact_step *fact = &page->job->steps.at[i];
    struct tm_worker_time t = { 0 };
    if (page->steps[i].model)
      tm_step_model_time(page->steps[i].model,
                         fact->state == TM_FACT_RUNNING ? page->job->now_ns : 0, &t);
    sum.lived_ns += t.lived_ns;
    sum.run_ok_ns += t.run_ok_ns;
    sum.run_failed_ns += t.run_failed_ns;
    sum.run_open_ns += t.run_open_ns;
    sum.around_ns += t.around_ns;
    sum.init_ns += t.init_ns;
    sum.start_ns += t.start_ns;
    sum.wait_ns += t.wait_ns;
    sum.unmeasured_ns += t.unmeasured_ns;
  }
  return sum;
}

static void add_worker_time(struct tm_html *h, const struct tm_job_page *page)
{
  struct tm_worker_time t = time_of(page);
  const struct {
    int64_t ns;
    const char *words;
  } others[] = { { t.run_failed_ns, " in failed tries" },
                 { t.run_open_ns, " in tries that were cut off" },
                 { t.around_ns, " loading and handing over" },
                 { t.init_ns, " in init()" },
                 { t.start_ns, " starting" },
                 { t.wait_ns, " waiting" },
                 { t.unmeasured_ns, " not measured" } };
  size_t largest = 0;
  if (t.lived_ns <= 0)
    return;
  for (size_t i = 1; i < sizeof(others) / sizeof(others[0]); i++)
    if (others[i].ns > others[largest].ns)
      largest = i;
  begin_label(h);
  tm_html_text(h, "of worker time in committed run()");
  begin_value(h);
  tm_html_text(h, t.unmeasured_ns > 0 ? "≥ " : "");
  tm_page_percent(h, (double)t.run_ok_ns / (double)t.lived_ns);
  begin_remark(h);
  if (others[largest].ns > 0) {
    tm_page_percent(h, (double)others[largest].ns / (double)t.lived_ns);
    tm_html_text(h, others[largest].words);
  }
  end_figure(h);
}

static void add_rate(struct tm_html *h, double per_second)
{
  if (per_second >= 10)
    tm_html_int(h, (int64_t)(per_second + 0.5));
  else
    tm_html_textf(h, per_second >= 1 ? "%.1f" : "%.2f", per_second);
  tm_html_text(h, "/s");
}

static void add_speed(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  struct tm_speed speed;
  if (!m || !tm_speed_of(m, &speed))
    return;
  begin_label(h);
  tm_html_text(h, speed.windows > 0 ? "items, median" : "items, on average");
  if (page->job->steps.len > 1) {
    tm_html_text(h, ", step ");
    tm_html_name(h, tm_page_fact(page)->name);
  }
  begin_value(h);
  add_rate(h, speed.windows > 0 ? speed.median : speed.average);
  begin_remark(h);
  if (speed.windows > 0) {
    tm_html_text(h, "peak ");
    add_rate(h, speed.peak);
  }
  end_figure(h);
}

static void add_memory(struct tm_html *h, const struct tm_job_page *page)
{
  int64_t most = 0, limit = 0, killed = 0;
  for (size_t i = 0; page->steps && i < page->job->steps.len; i++) {
    const struct tm_step_model *m = page->steps[i].model;
    for (size_t w = 0; m && w < m->workers.list.len; w++) {
      const struct tm_worker_life *life = &m->workers.list.at[w];
      killed += life->was_killed;
      if (life->limited_bytes > most) {
        most = life->limited_bytes;
        limit = page->job->steps.at[i].worker_memory_limit;
      }
    }
  }
  if (most == 0)
    return;
  begin_label(h);
  tm_html_text(h, "most memory of a worker");
  begin_value(h);
  tm_page_bytes(h, most);
  begin_remark(h);
  tm_html_text(h, limit > 0 ? "limit " : "no limit");
  if (limit > 0)
    tm_page_bytes(h, limit);
  if (killed > 0) {
    tm_html_text(h, " · ");
    tm_page_count(h, killed, "was killed", "were killed");
  }
  end_figure(h);
}

/* ---- of a job that runs ---- */

static void add_remaining(struct tm_html *h, const struct tm_fact_counts *c)
{
  int64_t items = c->items_total - c->items_succeeded - c->items_failed;
  begin_label(h);
  tm_html_text(h, c->is_listed ? "remaining mini-batches" : "remaining mini-batches listed so far");
  begin_value(h);
  tm_html_int(h, c->created - c->succeeded - c->failed);
  begin_remark(h);
  if (c->items_total >= 0)
    tm_page_count(h, items > 0 ? items : 0, "item", "items");
  end_figure(h);
}

static void add_failed(struct tm_html *h, const struct tm_job_page *page)
{
  int64_t tries = 0;
  for (size_t i = 0; page->steps && i < page->job->steps.len; i++)
    tries += page->steps[i].model ? page->steps[i].model->tries_failed : 0;
  begin_label(h);
  tm_html_text(h, page->job->counts.items_failed == 1 ? "failed item" : "failed items");
  begin_value(h);
  tm_html_int(h, page->job->counts.items_failed);
  begin_remark(h);
  tm_page_count(h, tries, "failed try", "failed tries");
  add_limit(h, page);
  end_figure(h);
}

static void add_last_speed(struct tm_html *h, double per_second)
{
  if (per_second < 0)
    return;
  begin_label(h);
  tm_html_text(h, "items, last 10 s");
  begin_value(h);
  add_rate(h, per_second);
  begin_remark(h);
  end_figure(h);
}

static void add_workers(struct tm_html *h, const struct tm_now *now)
{
  begin_label(h);
  tm_html_text(h, "workers");
  begin_value(h);
  tm_html_int(h, now->workers);
  if (now->wanted > 0) {
    tm_html_text(h, " of ");
    tm_html_int(h, now->wanted);
  }
  begin_remark(h);
  if (now->deaths == 0)
    tm_html_text(h, "none has died");
  else
    tm_page_count(h, now->deaths, "has died", "have died");
  end_figure(h);
}

static void add_machine(struct tm_html *h, const struct tm_now *now)
{
  if (now->workers_rss >= 0) {
    begin_label(h);
    tm_html_text(h, "memory of workers");
    begin_value(h);
    tm_page_bytes(h, now->workers_rss);
    begin_remark(h);
    if (now->memory > 0) {
      tm_html_text(h, "of ");
      tm_page_bytes(h, now->memory);
    }
    end_figure(h);
  }
  if (now->cpu_percent >= 0) {
    begin_label(h);
    tm_html_text(h, "processor");
    begin_value(h);
    tm_page_percent(h, now->cpu_percent / 100);
    begin_remark(h);
    tm_html_text(h, "of all cores");
    end_figure(h);
  }
}

static void add_bar(struct tm_html *h, const struct tm_fact_counts *c, double share)
{
  enum { WIDTH = 1000, HEIGHT = 14 };
  struct tm_buf sentence = TM_BUF_NONE;
  double failed = (double)c->failed / (double)c->created * WIDTH, done = share * WIDTH - failed;
  if (c->failed > 0 && failed < 3) /* one is seen */
    failed = 3;
  tm_text_percent(&sentence, share);
  tm_buf_add_str(&sentence, " of the mini-batches have ended");
  tm_svg_open(h, &(struct tm_svg_picture) {
                     .class_name = "progress", .sentence = sentence.data, .height = HEIGHT });
  tm_svg_stretch_open(h, &(struct tm_svg_stretch) { 0, 100, 0, HEIGHT, WIDTH, HEIGHT });
  tm_svg_rect(h, TM_PAINT_NOTHING, 0, 0, WIDTH, HEIGHT, NULL);
  tm_svg_rect(h, TM_PAINT_DONE, 0, 0, done, HEIGHT, NULL);
  if (c->failed > 0)
    tm_svg_rect(h, TM_PAINT_FAILED, done, 0, failed, HEIGHT, NULL);
  tm_svg_stretch_close(h);
  tm_svg_close(h);
  tm_buf_release(&sentence);
}

static void add_progress(struct tm_html *h, const struct tm_fact_job *job, const struct tm_now *now)
{
  const struct tm_fact_counts *c = &job->counts;
  if (now->share >= 0)
    add_bar(h, c, now->share);
  tm_html_open(h, "p class='progress-line'");
  if (now->share >= 0) {
    tm_html_open(h, "b");
    tm_page_percent(h, now->share);
    tm_html_close(h, "b");
    tm_html_text(h, " ");
  }
  tm_html_int(h, c->succeeded + c->failed);
  tm_html_text(h, " of ");
  tm_page_count(h, c->created, "mini-batch", "mini-batches");
  tm_html_text(h, c->is_listed ? "" : " listed so far");
  if (now->left_ns >= 0) {
    tm_html_text(h, " · ");
    tm_page_duration(h, now->left_ns);
    tm_html_text(h, " left");
  }
  tm_html_text(h, " · ");
  tm_page_duration(h, job->elapsed_ns);
  tm_html_text(h, " so far");
  tm_html_close(h, "p");
}

static void add_running(struct tm_html *h, const struct tm_job_page *page)
{
  struct tm_now now;
  tm_now_of(&now, page);
  add_progress(h, page->job, &now);
  tm_html_open(h, "dl class='figures'");
  add_remaining(h, &page->job->counts);
  add_failed(h, page);
  add_last_speed(h, now.items_per_second);
  add_workers(h, &now);
  add_machine(h, &now);
  tm_html_close(h, "dl");
}

static void add_all(struct tm_html *h, const struct tm_job_page *page)
{
  tm_html_open(h, "dl class='figures'");
  add_mini_batches(h, page->job);
  add_items(h, page);
  add_wall_time(h, page);
  add_worker_time(h, page);
  add_speed(h, page);
  add_memory(h, page);
  tm_html_close(h, "dl");
}

void tm_section_figures(struct tm_html *h, const struct tm_job_page *page)
{
  tm_html_open(h, "section id='figures' aria-label='Figures'");
  if (page->job->state == TM_FACT_RUNNING)
    add_running(h, page);
  else
    add_all(h, page);
  tm_html_close(h, "section");
}
