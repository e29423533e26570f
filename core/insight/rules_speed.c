/* rules_speed.c - rules about slow nodes, workers and jobs; see rules.h. */
#include "insight/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"

#define SLOW      1.5 /* times as long for an item as the median of the others */
#define SLOWER    1.25
#define ENOUGH    20          /* tries of a worker or node that say how fast it is */
#define ENOUGH_NS TM_S        /* in run() */
#define OTHERS    2           /* at least */
#define IDLE      0.3         /* of a processor */
#define BUSY_CPU  80          /* percent of the machine */
#define CHANGES   3           /* settings that are named */
#define ITEMS_FEW 100         /* of a step that is compared */
#define LONG_NS   (10 * TM_S) /* likewise: of its tries */

/* ---- one slow node or worker ---- */

struct pace {
  const char *name;
  int64_t tries, items, run_ns; /* of tries that succeeded */
};

struct paces TM_ARRAY(struct pace);

static double of_item(const struct pace *p)
{
  return (double)p->run_ns / (double)p->items;
}

static int by_pace(const void *a, const void *b)
{
  double x = of_item(a), y = of_item(b);
  return (x > y) - (x < y);
}

static void add_pace(struct paces *all, struct pace p)
{
  if (p.tries >= ENOUGH && p.items > 0 && p.run_ns >= ENOUGH_NS)
    *TM_ARRAY_ADD(all) = p;
}

/* Whether the slowest is slow beside the others; *median: of these. */
static bool find_slow(struct paces *all, struct pace *slowest, double *median)
{
  if (all->len < 1 + OTHERS)
    return false;
  qsort(all->at, all->len, sizeof(*all->at), by_pace);
  *slowest = all->at[all->len - 1];
  *median = of_item(&all->at[(all->len - 1) / 2]);
  return of_item(slowest) >= SLOW * *median;
}

static bool find_slow_node(const struct tm_step_model *m, struct pace *slowest, double *median)
{
  struct paces all = { 0 };
  for (size_t i = 0; i < m->nodes.len; i++) {
    const struct tm_node_model *n = &m->nodes.at[i];
    add_pace(&all, (struct pace) { n->id, n->tries - n->failed_tries, n->items, n->run_ok_ns });
  }
  bool is_slow = find_slow(&all, slowest, median);
  TM_ARRAY_RELEASE(&all);
  return is_slow;
}

static bool find_slow_worker(const struct tm_step_model *m, struct pace *slowest, double *median)
{
  struct paces all = { 0 };
  for (size_t i = 0; i < m->workers.list.len; i++) {
    const struct tm_worker_life *w = &m->workers.list.at[i];
    add_pace(&all, (struct pace) { w->name, w->tries - w->failed_tries, w->items, w->run_ok_ns });
  }
  bool is_slow = find_slow(&all, slowest, median);
  TM_ARRAY_RELEASE(&all);
  return is_slow;
}

bool tm_rule_slow(const struct tm_finding_input *in, struct tm_finding *out)
{
  struct tm_buf text = TM_BUF_NONE, head = TM_BUF_NONE;
  struct pace slowest;
  double median;
  bool is_node = find_slow_node(in->model, &slowest, &median);
  if (!is_node && !find_slow_worker(in->model, &slowest, &median))
    return false;
  double own = of_item(&slowest);
  tm_buf_printf(&head, is_node ? "Node %s was slower:" : "Worker %s was slower:", slowest.name);
  tm_buf_printf(&text, "it took %.1f times as long for an item as the median of the others, ",
                own / median);
  tm_time_precise(&text, (int64_t)own);
  tm_buf_add_str(&text, " instead of ");
  tm_time_precise(&text, (int64_t)median);
  tm_buf_add_str(&text, ". Its items may have been larger; ");
  tm_rule_add_command(&text, in, "logs", is_node ? "--node" : "--worker", slowest.name);
  tm_buf_add_str(&text, " shows its tries.");
  out->weight = TM_WEIGHT_MIDDLE;
  out->head = tm_buf_take(&head);
  out->text = tm_buf_take(&text);
  out->lost_ns = slowest.run_ns - (int64_t)(median * (double)slowest.items);
  out->section = "workers";
  return true;
}

/* ---- workers that wait rather than compute ---- */

/* Of all machines, over the whole time; negative: not known. */
static double mean_cpu_percent(const struct tm_step_model *m)
{
  double sum = 0, mean;
  int64_t largest, count = 0;
  for (size_t n = 0; n < m->nodes.len; n++) {
    const struct tm_gauge *g = &m->nodes.at[n].gauges[TM_GAUGE_CPU];
    for (size_t i = 0; i < g->bins.len; i++)
      if (tm_gauge_at(g, i, &mean, &largest)) {
        sum += mean / 100;
        count++;
      }
  }
  return count > 0 ? sum / (double)count : -1;
}

bool tm_rule_idle_processor(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  double share = m->tries_ns > 0 ? (double)m->cpu_ns / (double)m->tries_ns : 1;
  double cpu = mean_cpu_percent(m);
  struct tm_buf text = TM_BUF_NONE;
  if (share >= IDLE || m->tries_ns < LONG_NS || cpu >= BUSY_CPU)
    return false;
  tm_buf_printf(
      &text,
      "during their tries they used %d %% of a processor; the rest is waiting for files, a "
      "network, or programs that run() starts. ",
      tm_rule_percent(share));
  if (cpu >= 0)
    tm_buf_printf(&text, "The processors were %d %% busy. ", tm_rule_percent(cpu / 100));
  tm_buf_add_str(&text, "More workers (process_count_per_node) may be faster.");
  out->weight = TM_WEIGHT_LOW;
  out->head = tm_xstrdup("Workers wait rather than compute:");
  out->text = tm_buf_take(&text);
  out->section = "time";
  return true;
}

/* ---- slower than last time ---- */

static void add_changes(struct tm_buf *out, const struct tm_finding_input *in)
{
  const struct tm_fact_step *step = tm_rule_step(in);
  size_t named = 0;
  for (size_t i = 0; i < step->settings.len && named < CHANGES; i++) {
    const struct tm_fact_setting *s = &step->settings.at[i];
    if (!s->before)
      continue;
    tm_buf_add_str(out, named++ == 0 ? " Changed since: " : ", ");
    tm_buf_printf(out, "%s is ", s->name);
    tm_text_one_line(out, tm_text_or_empty(s->value), strlen(tm_text_or_empty(s->value)), 80);
    tm_buf_add_str(out, " and was ");
    tm_text_one_line(out, s->before, strlen(s->before), 80);
  }
  tm_buf_add_str(out, named > 0 ? "." : "");
}

static double effort_of_item(const struct tm_fact_effort *e)
{
  return (double)e->ns / (double)e->items;
}

bool tm_rule_slower(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_fact_job *job = in->job;
  const struct tm_fact_effort *effort = &tm_rule_step(in)->effort,
                              *before = &tm_rule_step(in)->before;
  struct tm_buf text = TM_BUF_NONE;
  if (!job->before || before->ns <= 0 || before->items < ITEMS_FEW || effort->items < ITEMS_FEW ||
      effort->ns < LONG_NS)
    return false;
  double now = effort_of_item(effort), then = effort_of_item(before);
  if (now < SLOWER * then)
    return false;
  tm_buf_printf(&text, "its tries took %.1f times as long for an item as in ", now / then);
  tm_text_one_line(&text, job->before, strlen(job->before), 200);
  tm_buf_add_str(&text, ", the last Completed job of this pipeline: ");
  tm_time_precise(&text, (int64_t)now);
  tm_buf_add_str(&text, " instead of ");
  tm_time_precise(&text, (int64_t)then);
  tm_buf_add_str(&text, ". The items may have been larger.");
  add_changes(&text, in);
  tm_buf_add_str(&text, " 'tidemill status ");
  tm_text_shell(&text, job->before);
  tm_buf_add_str(&text, "' shows that job.");
  out->weight = TM_WEIGHT_MIDDLE;
  out->head = tm_xprintf("%s was slower than last time:", tm_rule_step(in)->name);
  out->text = tm_buf_take(&text);
  out->lost_ns = effort->ns - (int64_t)(then * (double)effort->items);
  out->section = "settings";
  return true;
}
