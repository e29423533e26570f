/* section_workers.c - the workers of a step, the most unusual first, and its nodes. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "page/figures.h"
#include "page/cells.h"
#include "page/section.h"

#define SHOWN     50
#define SHOWN_ALL 1000

struct entry {
  const struct tm_worker_life *life;
  double score;
  size_t at;
};

/* ---- what is unusual ---- */

static double per_item_ns(const struct tm_worker_life *w)
{
  double items = (double)(w->items > 0 ? w->items : w->tries);
  return items > 0 ? (double)(w->run_ok_ns + w->run_failed_ns) / items : 0;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
  if (n > 1)
    qsort(values, n, sizeof(*values), by_value);
  return n > 0 ? values[n / 2] : 0;
}

struct usual { /* medians of all workers */
  double per_item, failed, rss;
};

static struct usual usual_of(const struct tm_workers *w)
{
  size_t n = w->list.len, k = 0;
  double *values = tm_xcalloc(n, sizeof(*values));
  struct usual u = { 0 };
  for (size_t i = 0; i < n; i++)
    if (w->list.at[i].tries > 0)
      values[k++] = per_item_ns(&w->list.at[i]);
  u.per_item = median_of(values, k);
  for (size_t i = 0; i < n; i++)
    values[i] = (double)w->list.at[i].failed_tries;
  u.failed = median_of(values, n);
  for (size_t i = 0; i < n; i++)
    values[i] = (double)w->list.at[i].max_rss_bytes;
  u.rss = median_of(values, n);
  free(values);
  return u;
}

/* One that ended badly, before all; then how many times the usual it failed, took, or held. */
static double score_of(const struct tm_worker_life *w, const struct usual *u)
{
  double score = 0;
  if (w->has_died || w->was_killed)
    score += 1000;
  if (w->init_failed)
    score += 1000;
  if ((double)w->failed_tries > u->failed)
    score += fmin(100, (double)w->failed_tries / (u->failed + 1));
  if (w->tries > 0 && u->per_item > 0)
    score += fabs(log2(fmax(per_item_ns(w), 1) / u->per_item));
  if (u->rss > 0 && w->max_rss_bytes > 0)
    score += fabs(log2((double)w->max_rss_bytes / u->rss));
  return score;
}

static int by_score(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  if (x->score != y->score)
    return x->score < y->score ? 1 : -1;
  return (x->at > y->at) - (x->at < y->at);
}

static struct entry *sorted_of(const struct tm_workers *w)
{
  struct usual u = usual_of(w);
  struct entry *list = tm_xcalloc(w->list.len, sizeof(*list));
  for (size_t i = 0; i < w->list.len; i++)
    list[i] = (struct entry) { &w->list.at[i], score_of(&w->list.at[i], &u), i };
  if (w->list.len > 1)
    qsort(list, w->list.len, sizeof(*list), by_score);
  return list;
}

/* ---- the table ---- */

static void add_end(struct tm_html *h, const struct tm_worker_life *w, int64_t now_ns)
{
  bool is_bad = w->has_died || w->was_killed || w->init_failed;
  tm_html_open(h, "td");
  tm_html_attr(h, "class", is_bad ? "end bad" : "end");
  if (is_bad)
    tm_html_put(h, "b class='kind'", w->init_failed ? "init() failed" : "died");
  if (is_bad)
    tm_html_text(h, " ");
  if (w->end)
    tm_html_name(h, w->end);
  else
    tm_html_text(h, now_ns > 0 ? "still running" : "was cut off");
  tm_html_close(h, "td");
}

/* A name that may be part of a link: letters, digits, '-', '_', '.'. */
static bool is_plain(const char *name)
{
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
      return false;
  return name[0] != '\0' && strlen(name) < 64;
}

static bool has_nodes(const struct tm_job_page *page)
{
  return tm_page_model(page)->nodes.len > 1;
}

static void add_worker(struct tm_html *h, const struct tm_job_page *page,
                       const struct tm_worker_life *w, int64_t now_ns)
{
  int64_t lived = tm_worker_lived_ns(w, now_ns);
  tm_html_open(h, "tr");
  if (is_plain(w->name))
    tm_section_id(h, page, "worker-%s", w->name);
  tm_page_cell_worker(h, page, w->name);
  if (has_nodes(page))
    tm_cell_name(h, w->node);
  tm_cell_count(h, (int64_t)w->slot);
  tm_cell_count(h, w->tries);
  tm_cell_count(h, w->items);
  tm_cell_count(h, w->failed_tries);
  tm_cell_share(h, (double)(w->run_ok_ns + w->run_failed_ns), (double)lived);
  tm_cell_duration(h, lived);
  tm_cell_bytes(h, w->max_rss_bytes);
  add_end(h, w, now_ns);
  tm_html_close(h, "tr");
}

static void add_table(struct tm_html *h, const struct tm_job_page *page, const char *caption,
                      const struct entry *list, size_t n)
{
  static const char *const heads[2][11] = {
    { "Worker", "#Slot", "#Tries", "#Items", "#Failed", "#In run()", "#Lived", "#Most memory",
      "End", NULL },
    { "Worker", "Node", "#Slot", "#Tries", "#Items", "#Failed", "#In run()", "#Lived",
      "#Most memory", "End", NULL },
  };
  tm_page_table_begin(h, caption, heads[has_nodes(page)]);
  int64_t now_ns = tm_page_now(page);
  for (size_t i = 0; i < n; i++)
    add_worker(h, page, list[i].life, now_ns);
  tm_page_table_end(h);
}

static void add_rest(struct tm_html *h, const struct tm_job_page *page, const struct entry *list)
{
  const struct tm_workers *w = &tm_page_model(page)->workers;
  size_t n = w->list.len < SHOWN_ALL ? w->list.len : SHOWN_ALL;
  struct tm_buf text = TM_BUF_NONE;
  tm_figure_count(&text, (int64_t)(n - SHOWN), "more worker, less unusual",
                  "more workers, less unusual");
  tm_html_open(h, "details class='rest'");
  tm_html_put(h, "summary", tm_buf_str(&text));
  add_table(h, page, "Further workers", list + SHOWN, n - SHOWN);
  tm_html_close(h, "details");
  tm_buf_clear(&text);
  if ((int64_t)w->list.len + w->unnamed > (int64_t)n) {
    tm_text_grouped(&text, (int64_t)w->list.len + w->unnamed - (int64_t)n);
    tm_buf_add_str(&text, " others are in workers.csv only.");
    tm_html_put(h, "p class='more'", tm_buf_str(&text));
  }
  tm_buf_release(&text);
}

/* ---- nodes ---- */

static void add_node(struct tm_html *h, const struct tm_node_model *n)
{
  tm_html_open(h, "tr");
  tm_cell_name(h, n->id);
  tm_cell_name(h, n->address);
  tm_cell_count(h, n->tries);
  tm_cell_count(h, n->items);
  tm_cell_count(h, n->failed_tries);
  tm_cell_duration(h, n->items > 0 ? n->run_ok_ns / n->items : 0);
  tm_cell_bytes(h, n->memory_total);
  tm_html_open(h, "td class='num'");
  if (n->disk_used_percent >= 0) {
    tm_html_textf(h, "%.0f %% of ", n->disk_used_percent);
    tm_html_name(h, n->disk_fullest);
  }
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_nodes(struct tm_html *h, const struct tm_step_model *m)
{
  static const char *const head[] = { "Node",    "Address",       "#Tries",
                                      "#Items",  "#Failed",       "#run() of an item",
                                      "#Memory", "#Fullest disk", NULL };
  tm_page_table_begin(h, "Nodes", head);
  for (size_t i = 0; i < m->nodes.len; i++)
    add_node(h, &m->nodes.at[i]);
  tm_page_table_end(h);
}

void tm_section_workers(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_step_model *m = tm_page_model(page);
  if (!m || m->workers.list.len == 0)
    return;
  const struct tm_workers *w = &m->workers;
  struct entry *list = sorted_of(w);
  struct tm_buf small = TM_BUF_NONE;
  tm_figure_count(&small, (int64_t)w->list.len + w->unnamed, "worker in ", "workers in ");
  tm_figure_count(&small, (int64_t)w->slots.len, "slot", "slots");
  tm_buf_add_str(&small, w->list.len > 1 ? ", the most unusual first" : "");
  tm_section_begin(h, page, "workers", has_nodes(page) ? "Workers and nodes" : "Workers",
                   TM_SECTION_OF_STEP, tm_buf_str(&small));
  if (has_nodes(page))
    add_nodes(h, m);
  add_table(h, page, "Workers", list, w->list.len < SHOWN ? w->list.len : SHOWN);
  if (w->list.len > SHOWN)
    add_rest(h, page, list);
  tm_section_end(h);
  tm_buf_release(&small);
  free(list);
}
