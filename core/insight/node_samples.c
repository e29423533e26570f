/* node_samples.c - the resources of nodes, as gauges of a model: see step_model.h. */
#include "insight/step_model.h"

#include <string.h>

#include "base/time.h"
#include "insight/sums.h"

#define FULL_NODES 16 /* with TM_GAUGE_BINS each */

size_t tm_step_model_gauge_bins(const struct tm_step_model *m)
{
  size_t bins = TM_GAUGE_BINS;
  for (size_t nodes = FULL_NODES; nodes < m->nodes.len; nodes *= 2)
    bins /= 2;
  return bins;
}

static struct tm_gauge *gauge_of(const struct tm_step_model *m, struct tm_node_model *n,
                                 enum tm_gauge_kind kind)
{
  struct tm_gauge *g = &n->gauges[kind];
  if (g->bins.max == 0)
    tm_gauge_init(g, m->origin_ns, tm_step_model_gauge_bins(m));
  return g;
}

static void add(struct tm_step_model *m, struct tm_node_model *n, enum tm_gauge_kind kind,
                int64_t at_ns, int64_t value)
{
  if (value >= 0)
    tm_gauge_add(gauge_of(m, n, kind), at_ns, value);
}

/* Bytes per second since the last sample; -1: not known, or the machine was started again. */
static int64_t rate(int64_t before, int64_t now, int64_t ns)
{
  double seconds = (double)ns / (double)TM_S, rate;
  if (before < 0 || now < before || ns <= 0)
    return -1;
  rate = (double)(now - before) / seconds;
  return rate < 1e18 ? (int64_t)rate : -1;
}

static void add_rates(struct tm_step_model *m, struct tm_node_model *n,
                      const struct tm_node_sample *s)
{
  const struct tm_node_sample *last = &n->last;
  int64_t ns = s->wall_ns - last->wall_ns;
  if (last->wall_ns <= 0)
    return;
  add(m, n, TM_GAUGE_DISK_READ, s->wall_ns, rate(last->disk_read, s->disk_read, ns));
  add(m, n, TM_GAUGE_DISK_WRITE, s->wall_ns, rate(last->disk_written, s->disk_written, ns));
  add(m, n, TM_GAUGE_NET_SENT, s->wall_ns, rate(last->network_sent, s->network_sent, ns));
  add(m, n, TM_GAUGE_NET_RECV, s->wall_ns, rate(last->network_received, s->network_received, ns));
}

void tm_step_model_add_sample(struct tm_step_model *m, const char *node,
                              const struct tm_node_sample *s)
{
  struct tm_node_model *n = tm_step_model_node(m, node);
  if (!n || s->wall_ns <= 0)
    return;
  if (s->cpu_percent >= 0 && s->cpu_percent < 1e6)
    add(m, n, TM_GAUGE_CPU, s->wall_ns, (int64_t)(s->cpu_percent * 100));
  add(m, n, TM_GAUGE_MEMORY, s->wall_ns, s->memory_used);
  n->memory_total = tm_larger(n->memory_total, s->memory_total);
  add_rates(m, n, s);
  n->last = *s;
}

/* The rows of one moment follow one another. */
void tm_step_model_add_process(struct tm_step_model *m, const char *node,
                               const struct tm_process_sample *s)
{
  struct tm_node_model *n = tm_step_model_node(m, node);
  bool is_worker = strncmp(s->process, "process", strlen("process")) == 0;
  if (!n || s->wall_ns <= 0 || s->rss < 0 || !is_worker)
    return;
  bool is_first = s->wall_ns != n->workers_at_ns;
  n->workers_rss = is_first ? s->rss : tm_sum(n->workers_rss, s->rss);
  n->workers_at_ns = s->wall_ns;
  tm_gauge_add_part(gauge_of(m, n, TM_GAUGE_WORKERS), s->wall_ns, s->rss, n->workers_rss, is_first);
}

void tm_step_model_add_disk(struct tm_step_model *m, const char *node,
                            const struct tm_disk_sample *s)
{
  struct tm_node_model *n = tm_step_model_node(m, node);
  if (!n || !(s->used_percent >= 0 && s->used_percent <= 100) || s->wall_ns < n->disks_at_ns)
    return;
  if (s->wall_ns == n->disks_at_ns && s->used_percent <= n->disk_used_percent)
    return;
  n->disks_at_ns = s->wall_ns;
  n->disk_used_percent = s->used_percent;
  free(n->disk_fullest);
  n->disk_fullest = tm_xstrdup(s->mount_point);
}
