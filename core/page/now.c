/* now.c - see now.h. */
#include "page/now.h"

#include "base/time.h"

#define LAST_NS (10 * TM_S)  /* of which the speed is */
#define OLD_NS  (120 * TM_S) /* a sample that is older says nothing about now */

static bool runs(const struct tm_job_page *page, size_t step)
{
  return page->job->steps.at[step].state == TM_FACT_RUNNING;
}

/* By the slowest step; not known while a step waits, or lists its inputs. */
static int64_t left_of(const struct tm_fact_job *job)
{
  double longest = 0;
  for (size_t i = 0; i < job->steps.len; i++) {
    const struct tm_fact_step *s = &job->steps.at[i];
    const struct tm_fact_counts *c = &s->counts;
    int64_t open = c->created - c->succeeded - c->failed;
    if (s->state == TM_FACT_WAITING)
      return -1;
    if (s->state != TM_FACT_RUNNING || (c->is_listed && open <= 0))
      continue;
    if (!c->is_listed || s->rate <= 0)
      return -1;
    if ((double)open / s->rate > longest)
      longest = (double)open / s->rate;
  }
  return longest < 1e9 ? (int64_t)(longest * (double)TM_S) : -1;
}

/* From the first whole bin of the last seconds to now; negative: it is not one. */
static double speed_of(const struct tm_step_model *m, int64_t now_ns)
{
  const struct tm_bins *b = &m->series;
  int64_t from_ns = now_ns - LAST_NS - b->origin_ns, items = 0;
  size_t first = from_ns > 0 ? (size_t)(from_ns / b->width_ns) + 1 : 0;
  int64_t lasts_ns = now_ns - b->origin_ns - (int64_t)first * b->width_ns;
  if (lasts_ns < TM_S)
    return -1;
  for (size_t i = first; i < b->len; i++)
    items += tm_bins_at(b, TM_SERIES_ITEMS, i);
  return (double)items * (double)TM_S / (double)lasts_ns;
}

/* The last sample, if it is not old. */
static bool last_of(const struct tm_gauge *g, int64_t now_ns, double *mean)
{
  const struct tm_bins *b = &g->bins;
  int64_t largest;
  for (size_t i = b->max > 0 ? b->len : 0; i-- > 0;) {
    if (now_ns - (b->origin_ns + (int64_t)(i + 1) * b->width_ns) > OLD_NS)
      return false;
    if (tm_gauge_at(g, i, mean, &largest))
      return true;
  }
  return false;
}

static void add_nodes(struct tm_now *now, const struct tm_step_model *m, int64_t now_ns,
                      int64_t *cpus)
{
  int64_t memory = 0; /* steps may share machines */
  for (size_t i = 0; i < m->nodes.len; i++) {
    const struct tm_node_model *node = &m->nodes.at[i];
    double mean;
    if (last_of(&node->gauges[TM_GAUGE_WORKERS], now_ns, &mean)) {
      now->workers_rss = (now->workers_rss > 0 ? now->workers_rss : 0) + (int64_t)mean;
      memory += node->memory_total;
    }
    if (last_of(&node->gauges[TM_GAUGE_CPU], now_ns, &mean)) {
      now->cpu_percent = (now->cpu_percent > 0 ? now->cpu_percent : 0) + mean / 100;
      (*cpus)++;
    }
  }
  if (memory > now->memory)
    now->memory = memory;
}

/* Those of an earlier session that have no end were cut off with it. */
static int64_t count_alive(const struct tm_workers *w)
{
  int64_t n = 0;
  for (size_t i = w->list.len;
       i-- > 0 && w->list.at[i].session == w->list.at[w->list.len - 1].session;)
    n += w->list.at[i].ended_ns == 0;
  return n;
}

static void add_step(struct tm_now *now, const struct tm_job_page *page, size_t step, int64_t *cpus)
{
  const struct tm_step_model *m = page->steps[step].model;
  now->wanted += page->job->steps.at[step].workers_wanted;
  if (!m)
    return;
  double speed = speed_of(m, page->job->now_ns);
  if (speed >= 0)
    now->items_per_second = (now->items_per_second > 0 ? now->items_per_second : 0) + speed;
  now->workers += count_alive(&m->workers);
  now->deaths += m->workers.deaths;
  add_nodes(now, m, page->job->now_ns, cpus);
}

void tm_now_of(struct tm_now *now, const struct tm_job_page *page)
{
  const struct tm_fact_counts *c = &page->job->counts;
  int64_t cpus = 0;
  *now = (struct tm_now) { .share = -1,
                           .left_ns = left_of(page->job),
                           .items_per_second = -1,
                           .workers_rss = -1,
                           .memory = -1,
                           .cpu_percent = -1 };
  if (c->is_listed && c->created > 0)
    now->share = (double)(c->succeeded + c->failed) / (double)c->created;
  for (size_t i = 0; page->steps && i < page->job->steps.len; i++)
    if (runs(page, i))
      add_step(now, page, i, &cpus);
  if (cpus > 1)
    now->cpu_percent /= (double)cpus;
}
