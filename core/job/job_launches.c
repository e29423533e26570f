/* job_launches.c - the nodes that commands start (compute_target = "exec" or "slurm"): see
 * job_own.h.
 *
 * Steps whose settings of nodes are equal form a group: its nodes serve all of them.
 * job_launched.c has the life of each node.
 *
 *  (1) Steps that have no command run on this machine only, and the others on nodes of their group.
 *  (2) Nodes are launched only while a step of their group can use workers, and only as many as the
 *      steps need (fleet/node_need.h).
 *  (3) A group that needs a node, and has had none for node_wait, fails.
 *  (4) When all mini-batches are listed and none waits for a worker, unneeded nodes are given back:
 *      first those that still start, then those without work.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/command_template.h"
#include "base/text.h"
#include "job/job_own.h"
#include "job/job_probe.h"
#include "job/same_nodes.h"
#include "plan/slurm_options.h"
#include "sys/clock.h"

#define NO_GROUP         SIZE_MAX
#define STARTS_MAX       64 /* nodes at a time */
#define SLURM_STARTS_MAX 8
#define SLURM_RATE_MAX   4 /* in a second */

/* ---- groups ---- */

static size_t group_for(struct tm_job_launches *l, const struct tm_config *c)
{
  struct tm_launch_group *g;

  for (size_t i = 0; i < l->groups.len; i++)
    if (tm_same_nodes(l->groups.at[i].config, c))
      return i;
  g = TM_ARRAY_ADD(&l->groups);
  *g = (struct tm_launch_group) { .config = c };
  return l->groups.len - 1;
}

/* Slurm starts one node after another, so that its controller is not flooded. */
static struct tm_launch_options options_of(const struct tm_launch_group *g, uint64_t seed)
{
  const struct tm_config *c = g->config;

  return (struct tm_launch_options) { .nodes_max = g->nodes_max,
                                      .hosts = g->hosts_len,
                                      .start_timeout_ns = c->node_start_timeout_ns,
                                      .starts_max = c->uses_slurm ? SLURM_STARTS_MAX : STARTS_MAX,
                                      .rate_max = c->uses_slurm ? SLURM_RATE_MAX : 0,
                                      .seed = seed };
}

/* Whether the user has not heard of the allocation because of an earlier group. */
static bool is_first_there(const struct tm_job_launches *l, const struct tm_launch_group *g)
{
  const struct tm_launch_group *each = l->groups.at;

  while (each < g && !each->allocation.job)
    each++;
  return each == g;
}

/* One failed machine ends an allocation, unless it was started with --no-kill. */
static void note_allocation(struct tm_job *job, const struct tm_launch_group *g,
                            size_t nodes_wanted)
{
  const struct tm_allocation *a = &g->allocation;
  struct tm_buf left_out = TM_BUF_NONE;

  tm_command_words_free(tm_slurm_options_of_step(g->config->slurm_options, &left_out));
  tm_job_note(job, "the nodes are steps of the Slurm job %s, which has %zu %s for them%s%s", a->job,
              a->hosts_len, tm_text_counted((int64_t)a->hosts_len, "host", "hosts"),
              left_out.len > 0 ? "; these slurm_options do not apply there: " : "",
              tm_buf_str(&left_out));
  tm_buf_release(&left_out);
  if (nodes_wanted > a->hosts_len)
    tm_job_warn(job,
                "'node_count' is %zu, but the Slurm job %s has %zu %s for nodes, one node on each; "
                "to start a Slurm job for each node instead: slurm_allocation = \"new\"",
                nodes_wanted, a->job, a->hosts_len,
                tm_text_counted((int64_t)a->hosts_len, "host", "hosts"));
  if (a->hosts_len > 1 && is_first_there(job->launches, g) && !tm_allocation_is_known_to_survive(a))
    tm_job_warn(job,
                "if a machine of the Slurm job %s fails, Slurm ends that Slurm job, and this job "
                "with it: start it with salloc --no-kill or sbatch --no-kill; if you did, ignore "
                "this warning, because Slurm does not show the option",
                a->job);
}

/* Finds the hosts on which its nodes are launched. */
static void find_hosts(struct tm_job *job, struct tm_launch_group *g)
{
  size_t wanted = g->nodes_max;

  g->hosts = g->config->node_hosts;
  g->hosts_len = g->config->node_hosts_len;
  if (!tm_allocation_is_for(g->config) ||
      tm_allocation_find(&g->allocation, g->config, &g->cause) < 0)
    return;
  g->hosts = g->allocation.hosts;
  g->hosts_len = g->allocation.hosts_len;
  if (g->nodes_max > g->hosts_len)
    g->nodes_max = g->hosts_len;
  note_allocation(job, g, wanted);
}

void tm_job_launches_init(struct tm_job *job)
{
  struct tm_job_launches *l = TM_NEW(struct tm_job_launches);

  l->workers = -1;
  l->group_of = tm_xcalloc(job->steps_len, sizeof(*l->group_of));
  l->needs = tm_xcalloc(job->steps_len, sizeof(*l->needs));
  l->run_times = tm_xcalloc(job->steps_len, sizeof(*l->run_times));
  for (size_t i = 0; i < job->steps_len; i++) {
    const struct tm_config *c = &job->o.pipeline->steps[i]->config;
    l->group_of[i] = c->launches_nodes ? group_for(l, c) : NO_GROUP;
    if (c->launches_nodes && l->groups.at[l->group_of[i]].nodes_max < (size_t)c->node_count)
      l->groups.at[l->group_of[i]].nodes_max = (size_t)c->node_count;
  }
  job->launches = l;
  l->measured = tm_xcalloc(job->steps_len, sizeof(*l->measured));
  tm_job_node_news_init(job);
}

void tm_job_launches_prepare(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  for (size_t i = 0; i < l->groups.len; i++) {
    struct tm_launch_group *g = &l->groups.at[i];
    struct tm_launch_options o;
    find_hosts(job, g);
    o = options_of(g, job->dir.epoch + i);
    tm_launch_plan_init(&g->plan, &o);
    tm_active_clock_init(&g->clock, tm_clock_mono_ns());
  }
}

void tm_job_launches_release(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  if (!l)
    return;
  for (size_t i = 0; i < l->nodes.len; i++)
    tm_job_launched_free(l->nodes.at[i]);
  for (size_t i = 0; i < l->groups.len; i++) {
    tm_launch_plan_release(&l->groups.at[i].plan);
    tm_exclusions_release(&l->groups.at[i].exclude.hosts);
    tm_allocation_release(&l->groups.at[i].allocation);
  }
  TM_ARRAY_RELEASE(&l->nodes);
  TM_ARRAY_RELEASE(&l->groups);
  free(l->group_of);
  free(l->needs);
  free(l->run_times);
  free(l->measured);
  tm_job_node_news_release(l);
  tm_job_slurm_release(&l->slurm);
  free(l);
  job->launches = NULL;
}

bool tm_job_launches_serves(const struct tm_job *job, uint32_t id, size_t step)
{
  size_t group = job->launches->group_of[step];
  const struct tm_launched_node *n = tm_job_launched_find(job, id);

  if (group == NO_GROUP)
    return id == TM_LOCAL_NODE;
  return tm_job_launched_is_usable(n) && !n->is_held && n->group == group &&
         tm_fleet_is_ready(&job->fleet, id);
}

static int64_t workers_of(const struct tm_launched_node *n)
{
  const struct tm_node *node = tm_fleet_node(&n->job->fleet, n->id);
  int64_t given = tm_job_launched_group(n)->config->process_count_per_node, cpus;

  if (!tm_job_launched_is_usable(n) || !node)
    return 0;
  cpus = tm_node_reported(node)->cpus;
  return given > cpus ? given : cpus;
}

static int64_t count_workers(const struct tm_job *job)
{
  int64_t workers = 0;

  for (size_t i = 0; i < job->launches->nodes.len; i++)
    workers += workers_of(job->launches->nodes.at[i]);
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == NO_GROUP)
      return workers + job->node_workers;
  return workers;
}

int64_t tm_job_launches_workers(const struct tm_job *job)
{
  if (job->launches->workers < 0)
    job->launches->workers = count_workers(job);
  return job->launches->workers;
}

/* ---- how many there should be ---- */

/* Keeps (2): what the steps that can use workers need. Returns their number. *is_final: no step of
 * the group has anything that no worker has. */
static size_t collect_needs(const struct tm_job *job, size_t group, bool *is_final)
{
  struct tm_node_need *needs = job->launches->needs;
  struct tm_share share;
  struct tm_step_work work;
  size_t len = 0;

  *is_final = true;
  for (size_t i = 0; i < job->steps_len; i++) {
    if (job->launches->group_of[i] != group || job->steps[i].state != TM_STEP_RUNS)
      continue;
    tm_supervisor_share(job->steps[i].s, &share);
    if (share.wants == 0)
      continue;
    tm_supervisor_work(job->steps[i].s, &work);
    needs[len++] =
        (struct tm_node_need) { .node_count = job->o.pipeline->steps[i]->config.node_count,
                                .open = work.open };
    *is_final = *is_final && work.is_final;
  }
  return len;
}

/* The workers of one node, as far as that is known. */
static int64_t workers_per_node(const struct tm_job *job, size_t group)
{
  const struct tm_job_launches *l = job->launches;
  int64_t given = l->groups.at[group].config->process_count_per_node, workers = 0, nodes = 0;

  for (size_t i = 0; given == 0 && i < l->nodes.len; i++)
    if (l->nodes.at[i]->group == group && tm_job_launched_is_usable(l->nodes.at[i]) &&
        tm_fleet_node(&job->fleet, l->nodes.at[i]->id)) {
      workers += tm_node_workers(tm_fleet_node(&job->fleet, l->nodes.at[i]->id));
      nodes++;
    }
  if (given > 0)
    return given;
  return workers > nodes ? workers / nodes : 1;
}

/* ---- failing ---- */

static bool may_run(const struct tm_job *job)
{
  return tm_job_life_may(&job->life, TM_JOB_MAY_RUN);
}

void tm_job_launches_check(struct tm_job *job, size_t step)
{
  size_t group = job->launches->group_of[step];

  if (group != NO_GROUP && job->launches->groups.at[group].cause.code < 0 &&
      job->steps[step].state == TM_STEP_RUNS)
    tm_supervisor_fail(job->steps[step].s, &job->launches->groups.at[group].cause);
}

void tm_job_launches_fail(struct tm_job *job, size_t group, const struct tm_err *err)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];

  if (g->cause.code < 0)
    return;
  g->cause = *err;
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == group)
      tm_job_launches_check(job, i);
}

bool tm_job_launches_expects(const struct tm_job *job, size_t step)
{
  size_t group = job->launches->group_of[step];

  return group != NO_GROUP && job->launches->groups.at[group].cause.code == 0 &&
         tm_launch_plan_expects(&job->launches->groups.at[group].plan);
}

void tm_job_launches_committed(struct tm_job *job, size_t step, uint32_t id)
{
  size_t group = job->launches->group_of[step];

  if (group != NO_GROUP)
    tm_launch_plan_committed(&job->launches->groups.at[group].plan, id);
}

/* ---- launching ---- */

static char *why_late(const struct tm_launched_node *n)
{
  return tm_xprintf("it was not ready after %g s (node_start_timeout)%s",
                    (double)tm_job_launched_group(n)->config->node_start_timeout_ns / 1e9,
                    tm_job_slurm_queue_has_forgotten(n)
                        ? ": Slurm does not know its Slurm job any more"
                    : n->source ? ": its source was still being sent"
                    : n->probe  ? "; it has not confirmed that it sees the job's files: a file "
                                  "system or the node is too slow"
                                : "");
}

static void end_late(struct tm_job *job, struct tm_launch_group *g)
{
  uint32_t id;

  while (tm_launch_plan_late(&g->plan, tm_clock_mono_ns(), &id)) {
    struct tm_launched_node *n = tm_job_launched_find(job, id);
    char *why;
    tm_require(n);
    if (tm_job_slurm_has_waited(n)) {
      tm_launch_plan_waited(&g->plan, id, tm_clock_mono_ns());
      continue;
    }
    tm_launch_plan_ends(&g->plan, id);
    why = why_late(n);
    n->is_late = true;
    if (n->has_stream) /* another process may hold it, so its end may never come */
      tm_fleet_give_up(&job->fleet, id, why);
    else
      tm_job_launched_give_up(n, why);
    free(why);
  }
}

static void fail_over(struct tm_job *job, size_t group)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];
  struct tm_err err = g->last;

  if (tm_launch_plan_are_all_canceled(&g->plan))
    tm_err_wrap(&err, "every node was canceled, and such nodes are not replaced; the last one");
  else if (g->lacked_time)
    tm_err_wrap(&err,
                "%" PRId64 " nodes in a row have ended before a mini-batch was committed: their "
                "time limit is too short; choose a longer --time in slurm_options; the last one",
                g->plan.launches);
  tm_job_launches_fail(job, group, &err);
}

/* Keeps (2). */
static void launch(struct tm_job *job, size_t group)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];
  size_t place;

  while (may_run(job) && g->cause.code == 0 && tm_fleet_node(&job->fleet, TM_LOCAL_NODE)) {
    if (tm_launch_plan_is_over(&g->plan))
      fail_over(job, group);
    place = tm_launch_plan_next(&g->plan, tm_clock_mono_ns());
    if (place == SIZE_MAX || g->cause.code < 0 || !tm_job_exclude_is_settled(job, group))
      return;
    tm_job_launched_begin(job, group, place);
  }
}

/* Keeps (4): first what does not work yet, the newest first. */
static void give_back(struct tm_job *job, size_t group)
{
  struct tm_job_launches *l = job->launches;
  struct tm_launch_plan *plan = &l->groups.at[group].plan;

  for (int wants_ready = 0; wants_ready <= 1; wants_ready++)
    for (size_t i = l->nodes.len; i-- > 0 && tm_launch_plan_surplus(plan) > 0;)
      if (l->nodes.at[i]->group == group && l->nodes.at[i]->was_ready == wants_ready)
        tm_job_launched_give_back(l->nodes.at[i]);
}

static bool has_node(const struct tm_job *job, size_t group)
{
  const struct tm_job_launches *l = job->launches;

  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i]->group == group && l->nodes.at[i]->was_ready && !l->nodes.at[i]->why)
      return true;
  return false;
}

static void fail_waiting(struct tm_job *job, size_t group)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];
  const char *queue = g->config->uses_slurm ? job->launches->slurm.reported : NULL;
  struct tm_err err = TM_ERR_NONE;

  tm_err_set(&err, TM_ESCRIPT, "the step had no node for %g s (node_wait)%s%s",
             (double)g->config->node_wait_ns / 1e9, queue || g->last.code < 0 ? ": " : "",
             queue              ? queue
             : g->last.code < 0 ? g->last.text
                                : "");
  tm_job_launches_fail(job, group, &err);
}

/* Keeps (3). */
static void watch_wait(struct tm_job *job, size_t group, bool needs_node)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];
  int64_t now_ns = tm_active_clock_look(&g->clock, tm_clock_mono_ns());

  if (!needs_node || has_node(job, group))
    g->had_node_ns = now_ns;
  else if (g->config->node_wait_ns > 0 && now_ns - g->had_node_ns >= g->config->node_wait_ns)
    fail_waiting(job, group);
}

static void go(struct tm_job *job, size_t group)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];
  bool is_final;
  size_t users = collect_needs(job, group, &is_final);
  size_t need =
      tm_node_need(job->launches->needs, users, workers_per_node(job, group), job->o.max_workers);

  end_late(job, g);
  watch_wait(job, group, users > 0);
  tm_launch_plan_want(&g->plan, need > 0 ? need : 1);
  if (is_final)
    give_back(job, group);
  if (users > 0)
    launch(job, group);
}

void tm_job_launches_go(struct tm_job *job)
{
  if (may_run(job))
    tm_job_launched_settle_known(job);
  if (may_run(job))
    tm_job_slurm_go(job);
  for (size_t i = 0; i < job->launches->nodes.len; i++) {
    tm_job_probe_tick(job->launches->nodes.at[i]);
    tm_job_launched_tick(job->launches->nodes.at[i]);
  }
  tm_job_node_news_tick(job);
  tm_job_launching_measure(job);
  for (size_t i = 0; may_run(job) && i < job->launches->groups.len; i++)
    go(job, i);
}

/* ---- the end of the job ---- */

void tm_job_launches_close(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  l->give_up_ns = tm_clock_mono_ns() + 2 * TM_LAUNCH_END_NS; /* scancel follows srun */
  for (size_t i = 0; i < l->nodes.len; i++) {
    tm_job_probe_end(l->nodes.at[i]);
    if (!l->nodes.at[i]->was_ready || l->nodes.at[i]->why)
      tm_job_launched_end_command(l->nodes.at[i]); /* it has no keeper that could end first */
  }
  tm_job_slurm_queue_close(job);
  tm_job_exclude_close(job);
  tm_fleet_close_streams(&job->fleet);
  tm_job_slurm_close(job);
  tm_job_launches_end(job);
}

void tm_job_launches_end(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;
  bool is_done;

  if (job->life.state != TM_JOB_IS_ENDING)
    return;
  tm_job_slurm_end(job);
  if (l->nodes.len == 0 && !tm_fleet_node(&job->fleet, TM_LOCAL_NODE))
    tm_job_slurm_finish(job);
  is_done = l->nodes.len == 0 && tm_job_slurm_is_done(job) && tm_job_slurm_queue_is_done(job) &&
            tm_job_exclude_is_done(job);
  if (!is_done && tm_clock_mono_ns() < l->give_up_ns)
    return;
  tm_fleet_close(&job->fleet);
  if (tm_fleet_is_empty(&job->fleet))
    tm_job_happen(job, TM_JOB_ON_GONE);
}
