/* job_launches.c - the nodes that commands start (compute_target = "exec" or "slurm"): see
 * job_own.h.
 *
 * Steps whose settings of nodes are equal form a group: its nodes serve all of them. A node lives
 * in two ways: its command, which the keeper of this machine runs, and its stream in the fleet.
 *
 *   launch -> on_launched -> fleet -> report, probe -> ready ----> lost, gone --.
 *     |           |                                                            v
 *     |           `---------------------------------------------> ended ---> settled -> launched
 *     |                                                                      again, as a new id
 *     `-> on_launch_failed: no node of the group can be had, unless another one has a command
 *
 *  (1) Steps that have no command run on this machine only, and the others on nodes of their group.
 *  (2) A node is settled once: when its stream is gone and nothing of its command is left. Only
 *      then may its host be used again, and its temporary folder be removed.
 *  (3) Nodes are launched only while a step of their group can use workers.
 *  (4) If the keeper of this machine is lost, its commands end with it, and so do their nodes: when
 *      the keeper is gone, nothing that it started is left (fleet/local_connection (1)).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "fleet/launch_plan.h"
#include "fleet/launches.h"
#include "fleet/node_probe.h"
#include "job/job_own.h"
#include "job/job_probe.h"
#include "job/same_nodes.h"
#include "sys/clock.h"

#define NO_GROUP    SIZE_MAX
#define PRINTED_MAX 200 /* bytes that a message quotes */

/* ---- groups ---- */

static size_t group_for(struct tm_job_launches *l, const struct tm_config *c)
{
  struct tm_launch_group *g;

  for (size_t i = 0; i < l->groups.len; i++)
    if (tm_same_nodes(l->groups.at[i].config, c))
      return i;
  g = TM_ARRAY_ADD(&l->groups);
  *g = (struct tm_launch_group) { .config = c };
  tm_launch_plan_init(&g->plan, (size_t)c->node_count, c->node_hosts_len, c->node_start_timeout_ns);
  return l->groups.len - 1;
}

void tm_job_launches_init(struct tm_job *job)
{
  struct tm_job_launches *l = TM_NEW(struct tm_job_launches);

  l->group_of = tm_xcalloc(job->steps_len, sizeof(*l->group_of));
  for (size_t i = 0; i < job->steps_len; i++) {
    const struct tm_config *c = &job->o.pipeline->steps[i]->config;
    l->group_of[i] = c->launches_nodes ? group_for(l, c) : NO_GROUP;
  }
  job->launches = l;
}

static void free_node(struct tm_launched_node *n)
{
  tm_job_probe_end(n);
  free(n->reported_host);
  free(n->why);
  free(n->printed);
  free(n->slurm_name);
  free(n);
}

void tm_job_launches_release(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  if (!l)
    return;
  for (size_t i = 0; i < l->nodes.len; i++)
    free_node(l->nodes.at[i]);
  for (size_t i = 0; i < l->groups.len; i++)
    tm_launch_plan_release(&l->groups.at[i].plan);
  TM_ARRAY_RELEASE(&l->nodes);
  TM_ARRAY_RELEASE(&l->groups);
  free(l->group_of);
  tm_job_slurm_release(&l->slurm);
  free(l);
  job->launches = NULL;
}

static struct tm_launched_node *find(const struct tm_job *job, uint32_t id)
{
  for (size_t i = 0; i < job->launches->nodes.len; i++)
    if (job->launches->nodes.at[i]->id == id)
      return job->launches->nodes.at[i];
  return NULL;
}

static struct tm_launch_group *group_of(const struct tm_launched_node *n)
{
  return &n->job->launches->groups.at[n->group];
}

static bool is_usable(const struct tm_launched_node *n)
{
  return n && n->was_ready && !n->why;
}

bool tm_job_launches_serves(const struct tm_job *job, uint32_t id, size_t step)
{
  size_t group = job->launches->group_of[step];
  const struct tm_launched_node *n = find(job, id);

  if (group == NO_GROUP)
    return id == TM_LOCAL_NODE;
  return is_usable(n) && n->group == group && tm_fleet_is_ready(&job->fleet, id);
}

static int64_t workers_of(const struct tm_launched_node *n)
{
  const struct tm_node *node = tm_fleet_node(&n->job->fleet, n->id);
  int64_t given = group_of(n)->config->process_count_per_node, cpus;

  if (!is_usable(n) || !node)
    return 0;
  cpus = tm_node_reported(node)->cpus;
  return given > cpus ? given : cpus;
}

int64_t tm_job_launches_workers(const struct tm_job *job)
{
  int64_t workers = 0;

  for (size_t i = 0; i < job->launches->nodes.len; i++)
    workers += workers_of(job->launches->nodes.at[i]);
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == NO_GROUP)
      return workers + job->node_workers;
  return workers;
}

/* Keeps (3): whether a step can use workers. */
static bool has_user(const struct tm_job *job, size_t group)
{
  for (size_t i = 0; i < job->steps_len; i++) {
    struct tm_share share;
    if (job->launches->group_of[i] != group || job->steps[i].state != TM_STEP_RUNS)
      continue;
    tm_supervisor_share(job->steps[i].s, &share);
    if (share.wants > 0)
      return true;
  }
  return false;
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

/* No node of the group can be had: its steps fail, now or when they begin. */
static void fail_group(struct tm_job *job, size_t group, const struct tm_err *err)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];

  if (g->cause.code < 0)
    return;
  g->cause = *err;
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == group)
      tm_job_launches_check(job, i);
}

/* ---- the end of a node ---- */

static void drop(struct tm_launched_node *n)
{
  struct tm_job_launches *l = n->job->launches;
  size_t kept = 0;

  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i] != n)
      l->nodes.at[kept++] = l->nodes.at[i];
  l->nodes.len = kept;
  free_node(n);
}

static void report_end(struct tm_launched_node *n, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;

  tm_launched_node_describe(&text, n);
  tm_err_set(err, TM_ESCRIPT, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  tm_job_emit(n->job, TM_EVENT_MESSAGE, TM_WARNING, err->text);
}

static void fail_node(struct tm_launched_node *n, struct tm_err *err)
{
  struct tm_job *job = n->job;
  size_t group = n->group;
  struct tm_launch_group *g = group_of(n);

  report_end(n, err);
  g->last = *err;
  tm_job_nodes_remove_temp_of(job, n->id);
  if (n->is_orphan)
    tm_launch_plan_withdrawn(&g->plan, n->id, tm_clock_mono_ns());
  else
    tm_launch_plan_failed(&g->plan, n->id, tm_clock_mono_ns());
  drop(n);
  if (may_run(job) && has_user(job, group) && tm_launch_plan_is_over(&g->plan))
    fail_group(job, group, err);
}

/* Keeps (2). */
static void settle(struct tm_launched_node *n)
{
  struct tm_job *job = n->job;
  struct tm_err err = TM_ERR_NONE;

  if (n->has_stream || !n->is_over)
    return;
  if (may_run(job)) {
    fail_node(n, &err);
    tm_job_launches_go(job);
  } else {
    if (n->why && n->was_ready)
      report_end(n, &err); /* it was lost while the job ran */
    drop(n);
    tm_job_launches_end(job);
  }
}

/* Its command ends; then it is settled. */
static void end_command(struct tm_launched_node *n)
{
  struct tm_node *local = tm_fleet_node(&n->job->fleet, TM_LOCAL_NODE);

  if (!n->is_over && local)
    tm_node_end_launch(local, n->launch);
}

static void note_printed(struct tm_launched_node *n)
{
  struct tm_buf text = TM_BUF_NONE;
  size_t len;
  const char *bytes = tm_fleet_foreign(&n->job->fleet, n->id, &len);

  if (!bytes || n->printed)
    return;
  tm_text_one_line(&text, bytes, len, PRINTED_MAX);
  n->printed = tm_buf_take(&text);
}

static void give_up(struct tm_launched_node *n, const char *why)
{
  if (!n->why)
    n->why = tm_xstrdup(why);
  note_printed(n);
  tm_job_probe_end(n);
  end_command(n);
}

static void lose_local(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  l->knows_step = false;
  for (size_t i = 0; i < l->nodes.len; i++) {
    struct tm_launched_node *n = l->nodes.at[i];
    if (!n->why)
      n->why = tm_xstrdup("the keeper of this machine, which ran its command, is lost");
    n->is_orphan = true;
    tm_job_probe_end(n);
    tm_job_steps_silence_node(job, n->id);
  }
  tm_job_slurm_lost(job);
  tm_fleet_close_streams(&job->fleet);
}

/* Keeps (4). */
static void end_orphans(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  for (size_t i = l->nodes.len; i-- > 0;)
    if (i < l->nodes.len && l->nodes.at[i]->is_orphan) {
      l->nodes.at[i]->is_over = true;
      settle(l->nodes.at[i]);
    }
}

void tm_job_launches_lost(struct tm_job *job, uint32_t id, const char *why)
{
  struct tm_launched_node *n = find(job, id);

  if (id == TM_LOCAL_NODE)
    lose_local(job);
  else if (n)
    give_up(n, why);
}

void tm_job_launches_gone(struct tm_job *job, uint32_t id)
{
  struct tm_launched_node *n = find(job, id);

  if (id == TM_LOCAL_NODE)
    end_orphans(job);
  if (!n)
    return;
  n->has_stream = false;
  settle(n);
}

/* ---- what the keeper says of a command ---- */

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  struct tm_launched_node *n = data;
  struct tm_launch_group *g = group_of(n);
  struct tm_err err = TM_ERR_NONE;

  if (n->why || !may_run(n->job)) {
    tm_fs_close(tm_fs_real(), fd);
    end_command(n);
    return;
  }
  tm_launch_plan_running(&g->plan, n->id, tm_clock_mono_ns());
  if (tm_fleet_connect(&n->job->fleet, n->id, fd, fd, n->host, g->config->node_timeout_ns, &err) <
      0) {
    give_up(n, err.text);
    return;
  }
  n->has_stream = true;
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  struct tm_launched_node *n = data;
  struct tm_job *job = n->job;
  size_t group = n->group;
  struct tm_err err = TM_ERR_NONE;

  n->is_over = true;
  if (!n->why)
    n->why = tm_xstrdup(text);
  if (!may_run(job)) {
    settle(n);
    return;
  }
  fail_node(n, &err);
  if (!tm_launch_plan_has_running(&job->launches->groups.at[group].plan))
    fail_group(job, group, &err); /* else this machine may lack something for the moment */
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct tm_launched_node *n = data;

  n->ended = *ended;
  n->has_ended = n->is_over = true;
  tm_job_slurm_ended(n);
  settle(n);
}

/* ---- from its stream to its work ---- */

static void note_host(struct tm_launched_node *n)
{
  char *text;

  if (!n->host || strcmp(n->host, n->reported_host) == 0)
    return;
  text = tm_xprintf("node %" PRIu32 " (%s) says that its machine is '%s'", n->id, n->host,
                    n->reported_host);
  tm_job_emit(n->job, TM_EVENT_MESSAGE, TM_INFO, text);
  free(text);
}

static int record_temp(const struct tm_launched_node *n, const struct tm_node_report *report,
                       struct tm_err *err)
{
  struct tm_temp_node node = { .temp = report->temp_dir,
                               .memory = report->memory_dir,
                               .boot_id = report->boot_id,
                               .uid = report->uid };

  return tm_job_nodes_record_temp(n->job, n->id, &node, err);
}

void tm_job_launches_reported(struct tm_job *job, uint32_t id)
{
  struct tm_launched_node *n = find(job, id);
  struct tm_node *node = tm_fleet_node(&job->fleet, id);
  struct tm_err err = TM_ERR_NONE;

  if (!n || n->why || !may_run(job))
    return;
  n->reported_host = tm_xstrdup(tm_node_reported(node)->host);
  note_host(n);
  if (record_temp(n, tm_node_reported(node), &err) == 0)
    tm_job_probe_begin(n);
  else
    tm_node_give_up(node, err.text);
}

void tm_job_launches_probed(struct tm_job *job, uint32_t id, const struct tm_node_probed *probed)
{
  struct tm_launched_node *n = find(job, id);

  if (n && !n->why && may_run(job))
    tm_job_probe_answered(n, probed);
}

static void note_ready(const struct tm_launched_node *n, const struct tm_node *node)
{
  const struct tm_node_report *report = tm_node_reported(node);
  struct tm_buf text = TM_BUF_NONE;

  tm_launched_node_name(&text, n);
  tm_buf_add_str(&text, " is ready: ");
  tm_node_report_describe(&text, report);
  if (tm_node_round_trip_ns(node) > 0)
    tm_buf_printf(&text, "; round trip %.1f ms", (double)tm_node_round_trip_ns(node) / 1e6);
  if (report->uid != geteuid())
    tm_buf_printf(&text, "; it runs as another user (uid %" PRIu32 ")", report->uid);
  tm_job_emit(n->job, TM_EVENT_MESSAGE, TM_INFO, tm_buf_str(&text));
  tm_buf_release(&text);
}

void tm_job_launches_ready(struct tm_job *job, uint32_t id)
{
  struct tm_launched_node *n = find(job, id);

  if (!n || n->why || !may_run(job))
    return;
  n->was_ready = true;
  tm_job_probe_end(n);
  tm_launch_plan_ready(&group_of(n)->plan, id);
  note_ready(n, tm_fleet_node(&job->fleet, id));
  tm_job_steps_set_node(job, tm_fleet_node(&job->fleet, id));
}

void tm_job_launches_committed(struct tm_job *job, size_t step, uint32_t id)
{
  size_t group = job->launches->group_of[step];

  if (group != NO_GROUP)
    tm_launch_plan_committed(&job->launches->groups.at[group].plan, id);
}

/* ---- launching ---- */

static void launch(struct tm_job *job, size_t group, size_t place)
{
  struct tm_job_launches *l = job->launches;
  struct tm_launch_group *g = &l->groups.at[group];
  struct tm_launched_node *n = TM_NEW(struct tm_launched_node);
  struct tm_launch_user hears = { n, on_launched, on_launch_failed, on_launch_ended };
  struct tm_err err = TM_ERR_NONE;
  size_t host;

  *n =
      (struct tm_launched_node) { .job = job, .id = tm_job_launching_next_id(job), .group = group };
  host = tm_launch_plan_launch(&g->plan, place, n->id);
  n->host = host == SIZE_MAX ? NULL : g->config->node_hosts[host];
  *TM_ARRAY_ADD(&l->nodes) = n;
  if (tm_job_launching_begin(n, g->config, &hears, &err) == 0)
    return;
  tm_launch_plan_failed(&g->plan, n->id, tm_clock_mono_ns());
  drop(n);
  fail_group(job, group, &err);
}

static char *why_late(const struct tm_launched_node *n)
{
  return tm_xprintf("it was not ready after %g s (node_start_timeout)%s",
                    (double)group_of(n)->config->node_start_timeout_ns / 1e9,
                    n->probe ? ": whether it sees the job's files is not known, because a file "
                               "system or the node takes too long to answer"
                             : "");
}

static void end_late(struct tm_job *job, struct tm_launch_group *g)
{
  uint32_t id;

  while (tm_launch_plan_late(&g->plan, tm_clock_mono_ns(), &id)) {
    struct tm_launched_node *n = find(job, id);
    char *why;
    tm_require(n);
    if (tm_job_slurm_has_waited(n)) {
      tm_launch_plan_waited(&g->plan, id, tm_clock_mono_ns());
      continue;
    }
    tm_launch_plan_ends(&g->plan, id);
    why = why_late(n);
    n->is_late = true;
    if (n->has_stream) /* somebody may hold it whose end we do not see */
      tm_fleet_give_up(&job->fleet, id, why);
    else
      give_up(n, why);
    free(why);
  }
}

static void go(struct tm_job *job, size_t group)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];
  size_t place;

  end_late(job, g);
  while (may_run(job) && g->cause.code == 0 && tm_fleet_node(&job->fleet, TM_LOCAL_NODE) &&
         has_user(job, group)) {
    if (tm_launch_plan_is_over(&g->plan))
      fail_group(job, group, &g->last);
    place = tm_launch_plan_next(&g->plan, tm_clock_mono_ns());
    if (place == SIZE_MAX || g->cause.code < 0)
      return;
    launch(job, group, place);
  }
}

void tm_job_launches_go(struct tm_job *job)
{
  if (may_run(job))
    tm_job_slurm_go(job);
  for (size_t i = 0; i < job->launches->nodes.len; i++)
    tm_job_probe_tick(job->launches->nodes.at[i]);
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
    if (!l->nodes.at[i]->was_ready)
      end_command(l->nodes.at[i]); /* it has no keeper that could end first */
  }
  tm_fleet_close_streams(&job->fleet);
  tm_job_launches_end(job);
}

void tm_job_launches_end(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  if (job->life.state != TM_JOB_IS_ENDING)
    return;
  if (l->nodes.len == 0 && !tm_fleet_node(&job->fleet, TM_LOCAL_NODE))
    tm_job_slurm_finish(job);
  if ((l->nodes.len > 0 || !tm_job_slurm_is_done(job)) && tm_clock_mono_ns() < l->give_up_ns)
    return;
  tm_fleet_close(&job->fleet);
  if (tm_fleet_is_empty(&job->fleet))
    tm_job_happen(job, TM_JOB_ON_GONE);
}
