/* section_now.c - what the workers of a running job are doing, of all steps: the longest first. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "page/cells.h"
#include "page/section.h"

#define SHOWN 50

struct entry {
  const struct tm_fact_activity *activity;
  size_t step, at; /* `at`: in the order of the facts */
};

struct entries TM_ARRAY(struct entry);

static int by_time(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  if (x->activity->elapsed_ns != y->activity->elapsed_ns)
    return x->activity->elapsed_ns < y->activity->elapsed_ns ? 1 : -1;
  return (x->at > y->at) - (x->at < y->at);
}

static void list_all(const struct tm_fact_job *job, struct entries *out)
{
  for (size_t i = 0; i < job->steps.len; i++)
    for (size_t k = 0; k < job->steps.at[i].running.len; k++)
      *TM_ARRAY_ADD(out) = (struct entry) { &job->steps.at[i].running.at[k], i, out->len };
  if (out->len > 1)
    qsort(out->at, out->len, sizeof(*out->at), by_time);
}

/* run_invocation_timeout, if it applies: it limits run() alone. 0: nothing does. */
static double limit_of(const struct tm_fact_step *s, const struct tm_fact_activity *a)
{
  bool is_in_run = strcmp(tm_text_or_empty(a->phase), "run") == 0;
  return is_in_run && s->run_invocation_timeout_s > 0 ? s->run_invocation_timeout_s : 0;
}

static void add_time(struct tm_html *h, const struct tm_job_page *page,
                     const struct tm_fact_activity *a, double limit_s)
{
  tm_html_open(h, "td class='num'");
  tm_html_attrf(h, "data-value", "%lld", (long long)a->elapsed_ns);
  tm_page_duration(h, a->elapsed_ns);
  if (limit_s > 0)
    tm_html_textf(h, " of %g s", limit_s);
  tm_html_close(h, "td");
  tm_html_open(h, "td");
  if (a->begun_ns > 0)
    tm_page_moment(h, page, a->begun_ns);
  tm_html_close(h, "td");
}

static void add_row(struct tm_html *h, const struct tm_job_page *page, const struct entry *e)
{
  struct tm_job_page of_step = *page; /* whose links lead to its pages */
  const struct tm_fact_activity *a = e->activity;
  const struct tm_fact_step *s = &page->job->steps.at[e->step];
  double limit_s = limit_of(s, a);
  of_step.step = e->step;
  tm_html_open(h, "tr");
  if (limit_s > 0 && (double)a->elapsed_ns > limit_s * (double)TM_S / 2)
    tm_html_attr(h, "class", "long");
  tm_page_cell_worker(h, &of_step, tm_text_or_empty(a->worker));
  if (page->job->steps.len > 1)
    tm_cell_name(h, s->name);
  add_time(h, page, a, limit_s);
  tm_page_cell(h, a->is_stopped ? "stopped" : a->phase);
  tm_page_cell_mini_batch(h, &of_step, a->mini_batch);
  tm_page_cell_int(h, a->mini_batch >= 0 ? a->try_number : -1);
  tm_html_open(h, "td class='path'");
  if (a->mini_batch >= 0)
    tm_html_name(h, tm_text_or_empty(a->first_item));
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_table(struct tm_html *h, const struct tm_job_page *page, const struct entries *all)
{
  static const char *const columns[] = { "Worker",      "#For", "Since",      "Phase",
                                         "#Mini-batch", "#Try", "First item", NULL };
  static const char *const with_step[] = { "Worker",      "Step", "#For",       "Since", "Phase",
                                           "#Mini-batch", "#Try", "First item", NULL };
  tm_page_table_begin(h, "What each worker has been doing for a second or longer",
                      page->job->steps.len > 1 ? with_step : columns);
  for (size_t i = 0; i < all->len && i < SHOWN; i++)
    add_row(h, page, &all->at[i]);
  tm_page_table_end(h);
  if (all->len > SHOWN) {
    tm_html_open(h, "p class='dim'");
    tm_page_count(h, (int64_t)(all->len - SHOWN), "more worker", "more workers");
    tm_html_text(h, " for a shorter time.");
    tm_html_close(h, "p");
  }
}

void tm_section_now(struct tm_html *h, const struct tm_job_page *page)
{
  struct entries all = { 0 };
  if (page->job->state == TM_FACT_RUNNING)
    list_all(page->job, &all);
  if (all.len > 0) {
    tm_section_begin(h, page, "now", "Right now", TM_SECTION_OF_JOB, "longest first");
    add_table(h, page, &all);
    tm_section_end(h);
  }
  TM_ARRAY_RELEASE(&all);
}
