/* job_node_news.c - tells listeners about the nodes that commands start: see job_own.h.
 *
 *  (1) Listeners hear of each node twice: that it is requested, and that it is lost or has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "job/job_own.h"
#include "sys/clock.h"

#define CLOCK_TOLD_NS TM_S /* a difference that is reported */

static struct tm_nodes_view *view_of(const struct tm_launched_node *n)
{
  return &n->job->launches->view;
}

static void emit(const struct tm_launched_node *n, enum tm_node_change change, enum tm_level level,
                 const char *text, bool is_for_logs)
{
  struct tm_job *job = n->job;
  const char *host = n->host ? n->host : n->reported_host;
  char id[12];
  struct tm_event e = { .kind = TM_EVENT_NODE,
                        .node_change = change,
                        .node_id = id,
                        .node_address = host ? host : "",
                        .is_for_logs = is_for_logs,
                        .level = level,
                        .text = text,
                        .wall_ns = tm_clock_wall_ns(),
                        .mono_ns = tm_clock_mono_ns(),
                        .job = &job->view };

  snprintf(id, sizeof(id), "%" PRIu32, n->id);
  tm_events_emit(job->o.events, &e);
}

static void note_lost(const struct tm_launched_node *n, const char *text)
{
  struct tm_nodes_view *v = view_of(n);

  if (!n->was_ready)
    return;
  v->sum.lost++;
  if (v->lost.len < TM_NODES_LOST_MAX)
    *TM_ARRAY_ADD(&v->lost) = (struct tm_lost_node) { .id = n->id, .why = tm_xstrdup(text) };
}

void tm_job_node_news(struct tm_launched_node *n, enum tm_node_change change, enum tm_level level,
                      const char *text)
{
  n->is_over_told = change == TM_NODE_IS_LOST || change == TM_NODE_HAS_ENDED;
  view_of(n)->sum.started += change == TM_NODE_IS_READY;
  if (change == TM_NODE_IS_LOST)
    note_lost(n, text);
  emit(n, change, level, text, false);
}

void tm_job_node_news_requested(const struct tm_launched_node *n)
{
  struct tm_buf text = TM_BUF_NONE;

  view_of(n)->sum.asked++;
  tm_launched_node_add_requested(&text, n);
  emit(n, TM_NODE_IS_REQUESTED, TM_INFO, tm_buf_str(&text), true);
  tm_buf_release(&text);
}

void tm_job_node_news_waits(struct tm_launched_node *n, const char *reason)
{
  if (!n->is_queued || strcmp(n->waits_for, reason) != 0)
    n->is_wait_told = false;
  n->is_queued = true;
  snprintf(n->waits_for, sizeof(n->waits_for), "%s", reason);
}

static void tell_wait(struct tm_launched_node *n)
{
  struct tm_buf text = TM_BUF_NONE;

  if (!n->is_queued || n->is_wait_told || n->was_ready || n->why || n->is_leaving)
    return;
  n->is_wait_told = true;
  tm_launched_node_add_waits(&text, n);
  emit(n, TM_NODE_WAITS, TM_INFO, tm_buf_str(&text), true);
  tm_buf_release(&text);
}

void tm_job_node_news_over(const struct tm_launched_node *n) /* keeps (1) */
{
  int64_t ns = n->ready_ns > 0 ? tm_clock_mono_ns() - n->ready_ns : 0;
  struct tm_buf text = TM_BUF_NONE;

  view_of(n)->sum.ns += ns;
  if (n->is_over_told)
    return;
  tm_launched_node_add_ended(&text, n, ns);
  emit(n, TM_NODE_HAS_ENDED, TM_INFO, tm_buf_str(&text), true);
  tm_buf_release(&text);
}

static void tell_clock(struct tm_launched_node *n)
{
  const struct tm_node *node = tm_fleet_node(&n->job->fleet, n->id);
  int64_t offset_ns = node ? tm_node_clock_offset_ns(node) : 0;
  struct tm_buf text = TM_BUF_NONE;

  if (n->is_clock_told || !n->was_ready ||
      (offset_ns < CLOCK_TOLD_NS && offset_ns > -CLOCK_TOLD_NS))
    return;
  n->is_clock_told = true;
  tm_launched_node_add_clock(&text, n, offset_ns);
  tm_job_emit(n->job, TM_EVENT_MESSAGE, TM_WARNING, tm_buf_str(&text));
  tm_buf_release(&text);
}

/* ---- how many there are ---- */

static void count(struct tm_nodes_now *now, const struct tm_launched_node *n)
{
  if (n->why || n->is_over || n->is_leaving)
    return;
  now->all++;
  now->ready += n->was_ready;
  if (n->was_ready || !n->is_queued)
    return;
  if (now->waiting++ == 0)
    snprintf(now->reason, sizeof(now->reason), "%s", n->waits_for);
}

static void count_all(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  if (l->groups.len == 0)
    return;
  l->view.now = (struct tm_nodes_now) { 0 };
  memset(l->now_of_steps, 0, job->steps_len * sizeof(*l->now_of_steps));
  for (size_t i = 0; i < l->nodes.len; i++) {
    count(&l->view.now, l->nodes.at[i]);
    for (size_t k = 0; k < job->steps_len; k++)
      if (l->group_of[k] == l->nodes.at[i]->group)
        count(&l->now_of_steps[k], l->nodes.at[i]);
  }
}

void tm_job_node_news_tick(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  count_all(job);
  for (size_t i = 0; i < l->nodes.len; i++) /* a listener may end the job, and they go */
    tell_wait(l->nodes.at[i]);
  for (size_t i = 0; i < l->nodes.len; i++)
    tell_clock(l->nodes.at[i]);
}

void tm_job_node_news_sum(struct tm_job *job)
{
  int64_t run_ns = 0, worker_ns = 0;

  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].s && job->launches->group_of[i] != SIZE_MAX)
      tm_supervisor_add_use(job->steps[i].s, &run_ns, &worker_ns);
  job->launches->view.sum.busy_percent = tm_busy_percent(run_ns, worker_ns);
}

void tm_job_node_news_init(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  tm_require(l && !l->now_of_steps);
  l->now_of_steps = tm_xcalloc(job->steps_len, sizeof(*l->now_of_steps));
  l->view.now_of_steps = l->now_of_steps;
}

void tm_job_node_news_release(struct tm_job_launches *l)
{
  for (size_t i = 0; i < l->view.lost.len; i++)
    free(l->view.lost.at[i].why);
  TM_ARRAY_RELEASE(&l->view.lost);
  free(l->now_of_steps);
}
