/* page_jobs.c - the first page: the jobs of the workspace. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "portal/pages/pages.h"

struct jobs {
  char *filter;
  int64_t page;
};

struct table {
  struct tm_html *h;
  const struct tm_visit *v;
};

static void add_progress(struct tm_html *h, const struct tm_job_row *row)
{
  tm_html_open(h, "td");
  if (row->created > 0 || row->state == TIDEMILL_STATE_RUNNING) {
    tm_piece_bar(h, row->succeeded, row->failed, row->created);
    tm_html_open(h, "small");
    tm_html_int(h, row->succeeded + row->failed);
    tm_html_text(h, " of ");
    tm_html_int(h, row->created);
    tm_html_text(h, row->all_created ? "" : " or more");
    if (row->failed > 0) {
      tm_html_text(h, ", ");
      tm_html_int(h, row->failed);
      tm_html_text(h, " failed");
    }
    tm_html_close(h, "small");
  }
  tm_html_close(h, "td");
}

static void add_row(const struct tm_job_row *row, void *data)
{
  const struct table *t = data;
  struct tm_html *h = t->h;
  struct tm_page_state state = tm_job_row_state(row);
  tm_html_open(h, "tr");
  tm_html_open(h, "td class='st'");
  tm_piece_state(h, &state);
  tm_html_close(h, "td");
  tm_html_open(h, "td");
  tm_html_open(h, "a");
  tm_frame_href(h, t->v, "jobs/%s/job/", row->key);
  tm_html_name(h, row->key);
  tm_html_close(h, "a");
  tm_html_open(h, "small");
  tm_html_name(h, row->pipeline);
  tm_html_close(h, "small");
  tm_html_close(h, "td");
  add_progress(h, row);
  tm_html_open(h, "td class='note'");
  (void)tm_html_long(h, row->note);
  tm_html_close(h, "td");
  tm_html_open(h, "td class='num'");
  tm_piece_duration(h, row->elapsed_ns); /* so far, if it runs */
  tm_html_close(h, "td");
  tm_html_open(h, "td class='num dim'");
  tm_piece_time(h, row->begin_ns);
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_table(struct tm_html *h, const struct tm_visit *v, const struct jobs *j,
                      size_t *matching)
{
  static const char *const columns[] = { "State", "Job", "Progress", "What to know" };
  struct table t = { h, v };
  tm_html_open(h, "table class='data jobs'");
  tm_html_put(h, "caption class='vh'", "Jobs, the running ones first, then the newest");
  tm_html_open(h, "thead");
  tm_html_open(h, "tr");
  for (size_t i = 0; i < TM_COUNT_OF(columns); i++)
    tm_html_put(h, "th scope='col'", columns[i]);
  tm_html_put(h, "th scope='col' class='num'", "Took");
  tm_html_put(h, "th scope='col' class='num'", "Started");
  tm_html_close(h, "tr");
  tm_html_close(h, "thead");
  tm_html_open(h, "tbody");
  *matching = tm_job_list_page(&v->portal->jobs, j->filter, j->page, add_row, &t);
  tm_html_close(h, "tbody");
  tm_html_close(h, "table");
}

static void add_button(struct tm_html *h, int64_t page, const char *words)
{
  tm_html_open(h, "button form='filter' name='page'");
  tm_html_attr_num(h, "value", (double)page);
  tm_html_text(h, words);
  tm_html_close(h, "button");
}

static void add_more(struct tm_html *h, const struct jobs *j, size_t matching)
{
  int64_t pages = ((int64_t)matching + TM_JOB_LIST_PAGE - 1) / TM_JOB_LIST_PAGE;
  if (pages <= 1)
    return;
  tm_html_open(h, "p class='more'");
  tm_html_textf(h, "Page %lld of %lld ", (long long)j->page, (long long)pages);
  if (j->page > 1)
    add_button(h, j->page - 1, "newer");
  if (j->page < pages)
    add_button(h, j->page + 1, "older");
  tm_html_close(h, "p");
}

static void add_list(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct jobs *j = data;
  size_t matching = 0;
  if (v->portal->jobs.rows.len == 0) {
    tm_html_put(h, "p class='sentence'", "There are no jobs in this workspace yet. To make one:");
    tm_piece_command(h, "tidemill map SCRIPT.lua 'FILES*'");
    tm_piece_command(h, "tidemill run PIPELINE.lua");
    return;
  }
  add_table(h, v, j, &matching);
  if (matching == 0)
    tm_html_put(
        h, "p class='more'",
        "No job matches. A filter looks for parts of the name, the pipeline and the state.");
  add_more(h, j, matching);
}

static void add_bar(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct jobs *j = data;
  const struct tm_job_list *l = &v->portal->jobs;
  tm_html_open(h, "div class='bar'");
  tm_html_open(h, "h1");
  tm_html_text(h, "Jobs ");
  tm_html_open(h, "small");
  tm_html_int(h, (int64_t)l->running);
  tm_html_text(h, " running, ");
  tm_html_int(h, (int64_t)l->rows.len);
  tm_html_text(h, " in all");
  tm_html_close(h, "small");
  tm_html_close(h, "h1");
  tm_html_open(h, "form id='filter' class='search' role='search'");
  tm_html_open(h, "label");
  tm_html_put(h, "span class='vh'", "Filter");
  tm_html_void(h, "input type='search' name='q' id='q' "
                  "placeholder='Filter by name, pipeline or state   /'");
  tm_html_attr(h, "value", j->filter);
  tm_html_close(h, "label");
  tm_html_close(h, "form");
  tm_html_close(h, "div");
}

void tm_page_jobs(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "bar", add_bar, false, 0 },
                                                     { "list", add_list, true, 0 } };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf filter = TM_BUF_NONE;
  if (tm_job_list_refresh(&v->portal->jobs, v->request->now_ns, &err) < 0) {
    tm_frame_fail_by(v, &err);
    return;
  }
  tm_target_text(v->target->query, "q", &filter);
  tm_buf_add_str(&filter, "");
  struct jobs j = { filter.data, tm_target_int(v->target->query, "page", 1) };
  struct tm_page_frame f = { .title = "Jobs · tidemill portal",
                             .topic = TM_FEED_JOBS,
                             .sections = sections,
                             .sections_len = TM_COUNT_OF(sections),
                             .data = &j };
  tm_frame_answer(v, &f);
  tm_buf_release(&filter);
}
