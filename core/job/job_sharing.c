/* job_sharing.c - how the running steps share workers (sched/share.h) and nodes: see job_own.h.
 *
 *  (1) A step uses at most its node_count nodes of those that serve it. When it loses one, it may
 *      use another one that is there.
 */
#include "job/job_own.h"

/* The shares of the steps that run; *at: the index of `s` among them. */
static size_t collect_shares(struct tm_job *job, const struct tm_supervisor *s, size_t *at)
{
  size_t n = 0;

  for (size_t i = 0; i < job->steps_len; i++) {
    if (job->steps[i].state != TM_STEP_RUNS)
      continue;
    if (job->steps[i].s == s)
      *at = n;
    tm_supervisor_share(job->steps[i].s, &job->shares[n++]);
  }
  return n;
}

bool tm_job_sharing_may_start(void *data, const struct tm_supervisor *s)
{
  struct tm_job *job = data;
  size_t at = SIZE_MAX, n = collect_shares(job, s, &at);

  return at < n && tm_share_may_start(job->shares, n, at, tm_job_nodes_max_workers(job));
}

void tm_job_sharing_fill(void *data)
{
  struct tm_job *job = data;

  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_fill(job->steps[i].s);
}

void tm_job_sharing_give_first(struct tm_job *job)
{
  size_t at = SIZE_MAX, n = collect_shares(job, NULL, &at);
  size_t giver = tm_share_giver(job->shares, n, tm_job_nodes_max_workers(job));

  for (size_t i = 0; giver < n && i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS && giver-- == 0) {
      tm_supervisor_give_back(job->steps[i].s);
      return;
    }
}

/* ---- nodes ---- */

static bool wants_node(const struct tm_job *job, size_t step) /* keeps (1) */
{
  const struct tm_config *c = &job->o.pipeline->steps[step]->config;

  return job->steps[step].state == TM_STEP_RUNS &&
         (int64_t)tm_supervisor_nodes(job->steps[step].s) < c->node_count;
}

bool tm_job_sharing_expects_node(void *data, const struct tm_supervisor *s)
{
  const struct tm_job *job = data;
  size_t step = tm_supervisor_view(s)->number;

  return wants_node(job, step) && tm_job_launches_expects(job, step);
}

void tm_job_sharing_give_node(struct tm_job *job, size_t step, struct tm_node *node)
{
  uint32_t id = tm_node_id(node);

  if (wants_node(job, step) && !tm_supervisor_has_node(job->steps[step].s, id) &&
      tm_job_launches_serves(job, id, step))
    tm_supervisor_set_node(job->steps[step].s, node, &job->temps.at[id]);
}

void tm_job_sharing_give_nodes(struct tm_job *job, size_t step)
{
  for (uint32_t id = 0; id < tm_fleet_ids(&job->fleet) && wants_node(job, step); id++)
    if (tm_fleet_node(&job->fleet, id))
      tm_job_sharing_give_node(job, step, tm_fleet_node(&job->fleet, id));
}

bool tm_job_sharing_is_idle(const struct tm_job *job, uint32_t id)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS && !tm_supervisor_is_idle(job->steps[i].s, id))
      return false;
  return true;
}

void tm_job_sharing_drain(struct tm_job *job, uint32_t id)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_drain_node(job->steps[i].s, id);
}

bool tm_job_sharing_has_workers(const struct tm_job *job, uint32_t id)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS && tm_supervisor_has_workers(job->steps[i].s, id))
      return true;
  return false;
}

struct tm_lost_work tm_job_sharing_lost_work(const struct tm_job *job, uint32_t id)
{
  struct tm_lost_work sum = { 0 };

  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_add_lost_work(job->steps[i].s, id, &sum);
  return sum;
}
