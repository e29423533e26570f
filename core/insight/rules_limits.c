/* rules_limits.c - rules about memory, disks and timeouts that come near a limit; see rules.h. */
#include "insight/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"

#define NEAR        0.9  /* of a limit of memory */
#define PARTS       5    /* of the time, to see whether memory grows */
#define GROWS       1.05 /* from each part to the next, but for the first one, which has init() */
#define LONG_NS     (600.0 * (double)TM_S) /* of which an hour is a few */
#define DISK_FULL   90                     /* percent */
#define DISK_FULLER 98
#define P99_NEAR    0.8 /* of run_invocation_timeout */
#define P99_CALLS   100 /* with fewer, the 99th percentile is just the longest */
#define MEMORY_KILL "killed for passing worker_memory_limit"

/* ---- memory: a worker at its limit ---- */

struct near {
  int64_t workers, killed; /* within a tenth of worker_memory_limit; killed for it */
  int64_t largest;         /* bytes */
};

static struct near find_near(const struct tm_finding_input *in)
{
  const struct tm_workers *w = &in->model->workers;
  int64_t limit = tm_rule_step(in)->worker_memory_limit;
  struct near near = { 0 };
  for (size_t i = 0; i < w->list.len; i++) {
    const struct tm_worker_life *l = &w->list.at[i];
    near.largest = tm_larger(near.largest, l->limited_bytes);
    near.workers += limit > 0 && (double)l->limited_bytes >= NEAR * (double)limit;
    near.killed += l->end && strncmp(l->end, MEMORY_KILL, strlen(MEMORY_KILL)) == 0;
  }
  return near;
}

/* ---- memory: it grows ---- */

struct growth {
  const struct tm_node_model *node;
  double bytes; /* of a worker, within `ns` */
  double ns;
};

/* The mean of a part of the gauge's time; false: nothing was measured. */
static bool part_mean(const struct tm_gauge *g, size_t part, double *out)
{
  size_t from = part * g->bins.len / PARTS, to = (part + 1) * g->bins.len / PARTS, count = 0;
  double sum = 0, mean;
  int64_t largest;
  for (size_t i = from; i < to; i++)
    if (tm_gauge_at(g, i, &mean, &largest)) {
      sum += mean;
      count++;
    }
  *out = count > 0 ? sum / (double)count : 0;
  return count > 0;
}

/* Bytes from the middle of the second part to that of the last one; 0: it does not grow. */
static double grown(const struct tm_gauge *g)
{
  double first = 0, before = 0, mean;
  for (size_t part = 0; part < PARTS; part++) {
    if (!part_mean(g, part, &mean) || (part > 1 && mean < GROWS * before))
      return 0;
    first = part == 1 ? mean : first;
    before = mean;
  }
  return before - first;
}

static int64_t slots_of(const struct tm_step_model *m, const struct tm_node_model *n)
{
  int64_t slots = 0;
  for (size_t i = 0; i < m->workers.slots.len; i++)
    slots += strcmp(m->workers.slots.at[i].node, n->id) == 0;
  return tm_larger(slots, 1);
}

/* The node whose workers grow fastest. */
static struct growth find_growth(const struct tm_step_model *m)
{
  struct growth most = { .node = NULL };
  for (size_t i = 0; i < m->nodes.len; i++) {
    const struct tm_gauge *g = &m->nodes.at[i].gauges[TM_GAUGE_WORKERS];
    double ns = (double)g->bins.len * (double)g->bins.width_ns * (PARTS - 2) / PARTS;
    double bytes = g->bins.max > 0 && g->bins.len >= PARTS ? grown(g) : 0;
    bytes /= (double)slots_of(m, &m->nodes.at[i]);
    if (bytes > 0 && bytes * most.ns >= most.bytes * ns)
      most = (struct growth) { &m->nodes.at[i], bytes, ns };
  }
  return most;
}

/* ---- memory: the machine ---- */

/* The node whose memory was used most, if within a tenth of all; *share: of it. */
static const struct tm_node_model *find_full_node(const struct tm_step_model *m, double *share)
{
  const struct tm_node_model *full = NULL;
  double mean;
  int64_t largest;
  *share = NEAR;
  for (size_t n = 0; n < m->nodes.len; n++) {
    const struct tm_gauge *g = &m->nodes.at[n].gauges[TM_GAUGE_MEMORY];
    for (size_t i = 0; m->nodes.at[n].memory_total > 0 && i < g->bins.len; i++)
      if (tm_gauge_at(g, i, &mean, &largest) &&
          (double)largest >= *share * (double)m->nodes.at[n].memory_total) {
        *share = (double)largest / (double)m->nodes.at[n].memory_total;
        full = &m->nodes.at[n];
      }
  }
  return full;
}

static void add_growth(struct tm_buf *out, const struct growth *g)
{
  tm_buf_add_str(out, "each worker ");
  if (strcmp(g->node->id, "0") != 0)
    tm_buf_printf(out, "of node %s ", g->node->id);
  tm_buf_add_str(out, "gained about ");
  tm_rule_add_bytes(out, g->bytes);
  tm_buf_add_str(out, " in ");
  tm_time_precise(out, (int64_t)g->ns);
  if (g->ns >= LONG_NS) {
    tm_buf_add_str(out, ", as much as ");
    tm_rule_add_bytes(out, g->bytes / g->ns * 3600 * (double)TM_S);
    tm_buf_add_str(out, " an hour");
  }
  tm_buf_add_str(out, ". ");
}

static void add_near(struct tm_buf *out, const struct tm_finding_input *in, const struct near *n)
{
  if (n->killed > 0) {
    tm_text_count(out, n->killed, tm_text_counted(n->killed, " worker was", " workers were"));
    tm_buf_add_str(out, " killed for passing worker_memory_limit");
  } else {
    tm_text_count(out, n->workers, tm_text_counted(n->workers, " worker", " workers"));
    tm_buf_add_str(out, " came within a tenth of worker_memory_limit");
  }
  tm_buf_add_str(out, ", which is ");
  tm_rule_add_bytes(out, (double)tm_rule_step(in)->worker_memory_limit);
  tm_buf_add_str(out, "; the largest had ");
  tm_rule_add_bytes(out, (double)n->largest);
  tm_buf_add_str(out, ". ");
}

bool tm_rule_memory(const struct tm_finding_input *in, struct tm_finding *out)
{
  double share;
  struct near near = find_near(in);
  struct growth growth = find_growth(in->model);
  const struct tm_node_model *full = find_full_node(in->model, &share);
  bool is_near = near.workers > 0 || near.killed > 0;
  struct tm_buf text = TM_BUF_NONE;
  if (!growth.node && !is_near && !full)
    return false;
  if (growth.node)
    add_growth(&text, &growth);
  if (is_near)
    add_near(&text, in, &near);
  if (full)
    tm_buf_printf(&text, "The memory of node %s was %d %% in use. ", full->id,
                  tm_rule_percent(share));
  if (is_near)
    tm_buf_add_str(&text, "A smaller mini_batch_size may need less.");
  else if (full)
    tm_buf_add_str(&text, "Fewer workers (process_count_per_node) need less.");
  else
    tm_buf_add_str(&text, "worker_memory_limit ends a worker before it takes too much.");
  out->weight = near.killed > 0 || full ? TM_WEIGHT_HIGH : TM_WEIGHT_MIDDLE;
  out->head = tm_xstrdup(growth.node ? "Memory grows:" : "Memory is nearly used up:");
  out->text = tm_buf_take(&text);
  out->section = is_near ? "workers" : "timeline";
  return true;
}

/* ---- disks ---- */

bool tm_rule_disk(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  const struct tm_node_model *full = NULL;
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < m->nodes.len; i++)
    if (m->nodes.at[i].disk_used_percent >= DISK_FULL && m->nodes.at[i].disk_fullest &&
        (!full || m->nodes.at[i].disk_used_percent > full->disk_used_percent))
      full = &m->nodes.at[i];
  if (!full)
    return false;
  tm_text_one_line(&text, full->disk_fullest, strlen(full->disk_fullest), 200);
  tm_buf_printf(&text, " on node %s is %d %% full. 'tidemill clean' removes old jobs.", full->id,
                (int)full->disk_used_percent);
  out->weight = full->disk_used_percent >= DISK_FULLER ? TM_WEIGHT_HIGH : TM_WEIGHT_MIDDLE;
  out->head = tm_xstrdup("A disk is nearly full:");
  out->text = tm_buf_take(&text);
  out->section = "timeline";
  return true;
}

/* ---- the timeout ---- */

bool tm_rule_timeout(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_quantiles *run = &in->model->run;
  double timeout_ns = tm_rule_step(in)->run_invocation_timeout_s * (double)TM_S;
  /* the bin's first value: at least one of a hundred took as long */
  int64_t p99 = tm_quantiles_first(tm_quantiles_bin(tm_quantiles_at(run, 0.99)));
  struct tm_buf text = TM_BUF_NONE;
  if (run->count < P99_CALLS || timeout_ns <= 0 || (double)p99 < P99_NEAR * timeout_ns)
    return false;
  tm_buf_add_str(&text, "one call in a hundred took ");
  tm_time_precise(&text, p99);
  tm_buf_add_str(&text, " or longer, and run_invocation_timeout is ");
  tm_time_precise(&text, (int64_t)timeout_ns);
  tm_buf_add_str(&text, ". ");
  if (in->model->tries[TM_CATEGORY_TIMEOUT] > 0) {
    tm_text_count(
        &text, in->model->tries[TM_CATEGORY_TIMEOUT],
        tm_text_counted(in->model->tries[TM_CATEGORY_TIMEOUT], " try has", " tries have"));
    tm_buf_add_str(&text, " passed it. ");
  }
  tm_buf_add_str(&text, "A longer one, or a smaller mini_batch_size, leaves room.");
  out->weight = TM_WEIGHT_MIDDLE;
  out->head = tm_xstrdup("run() comes close to its timeout:");
  out->text = tm_buf_take(&text);
  out->section = "durations";
  return true;
}
