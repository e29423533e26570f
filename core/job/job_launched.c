/* job_launched.c - one node that a command starts, from its launch until it is settled: see
 * job_own.h. It lives in two ways: its command, which the keeper of this machine runs, and its
 * stream in the fleet.
 *
 *   launch -> on_launched -> fleet -> report, probe -> ready ----> lost, gone --.
 *     |           |                                                            v
 *     |           `---------------------------------------------> ended ---> settled -> launched
 *     |                                                                      again, as a new id
 *     `-> on_launch_failed: no node of the group can be had, unless another one has a command
 *
 *  (1) A node is settled once: when its stream is gone and nothing of its command is left. Only
 *      then may its host be used again, and its temporary folder be removed. Its place is free for
 *      a node on another host COMMAND_END_NS after its loss.
 *  (2) If the keeper of this machine is lost, the next one adopts its commands (job_keeper.c). A
 *      node whose command has ended with the keeper is replaced.
 *  (3) If a node is a Slurm job, we ask Slurm why it was lost, or why its command has ended. Until
 *      that is settled, we neither end its command nor cancel its Slurm job. Then we conclude its
 *      end: report it, exclude its host, and perhaps request another node. Slurm, not (1), decides
 *      which host that node gets.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "fleet/node_probe.h"
#include "job/job_own.h"
#include "job/job_probe.h"
#include "job/job_source.h"
#include "sys/clock.h"

#define PRINTED_MAX    200  /* bytes that a message quotes */
#define COMMAND_END_NS TM_S /* how long a lost node waits for the end of its command */

static bool may_run(const struct tm_job *job)
{
  return tm_job_life_may(&job->life, TM_JOB_MAY_RUN);
}

void tm_job_launched_free(struct tm_launched_node *n)
{
  tm_job_probe_end(n);
  free(n->reported_host);
  free(n->why);
  free(n->printed);
  free(n->slurm_name);
  free(n);
}

struct tm_launched_node *tm_job_launched_find(const struct tm_job *job, uint32_t id)
{
  for (size_t i = 0; i < job->launches->nodes.len; i++)
    if (job->launches->nodes.at[i]->id == id)
      return job->launches->nodes.at[i];
  return NULL;
}

struct tm_launch_group *tm_job_launched_group(const struct tm_launched_node *n)
{
  return &n->job->launches->groups.at[n->group];
}

bool tm_job_launched_is_usable(const struct tm_launched_node *n)
{
  return n && n->was_ready && !n->why && !n->is_leaving;
}

/* ---- the end of a node ---- */

static void drop(struct tm_launched_node *n)
{
  struct tm_job_launches *l = n->job->launches;
  size_t kept = 0;

  tm_job_node_record_ended(n);
  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i] != n)
      l->nodes.at[kept++] = l->nodes.at[i];
  l->nodes.len = kept;
  l->workers = -1;
  tm_job_node_news_over(n);
  tm_job_launched_free(n);
}

static void report_left(struct tm_launched_node *n)
{
  struct tm_buf text = TM_BUF_NONE;

  tm_launched_node_name(&text, n);
  tm_buf_add_str(&text, " is given back: nothing is left for it to do");
  tm_job_node_news(n, TM_NODE_LEAVES, TM_INFO, tm_buf_str(&text));
  tm_buf_release(&text);
}

/* Keeps (1). */
static void remove_node(struct tm_launched_node *n)
{
  if (n->has_ended)
    tm_job_slurm_ended(n);
  if (n->holds_host)
    tm_launch_plan_free_host(&tm_job_launched_group(n)->plan, n->host_at);
  tm_job_nodes_remove_temp_of(n->job, n->id);
  drop(n);
}

/* Whether there is nothing more to wait for that may explain its end. The end of its command
 * explains a loss, but may take seconds: ssh or srun may wait for a dead machine. */
static bool is_known(const struct tm_launched_node *n)
{
  bool is_lost = n->was_ready && n->why;

  if (n->question.is_of_end)
    return tm_job_slurm_queue_is_settled(n);
  return n->is_over ||
         (is_lost && tm_clock_mono_ns() >= n->ready_ns + n->lived_ns + COMMAND_END_NS);
}

/* True: there is something to do for the job. */
static bool settle_running(struct tm_launched_node *n)
{
  bool is_new = !n->is_concluded && is_known(n);

  if (n->has_stream)
    return false;
  if (is_new)
    tm_job_launched_conclude(n);
  if (!n->is_concluded || !n->is_over)
    return is_new;
  remove_node(n);
  return true;
}

static void settle_ending(struct tm_launched_node *n)
{
  struct tm_job *job = n->job;
  struct tm_err err = TM_ERR_NONE;

  if (n->has_stream || !n->is_over)
    return;
  if (n->why && n->was_ready && !n->is_leaving && !n->is_concluded)
    tm_job_launched_report_end(n, &err); /* it was lost while the job ran */
  if (n->has_ended)
    tm_job_slurm_ended(n);
  drop(n);
  tm_job_launches_end(job);
}

void tm_job_launched_settle(struct tm_launched_node *n)
{
  struct tm_job *job = n->job;

  if (!may_run(job))
    settle_ending(n);
  else if (settle_running(n))
    tm_job_launches_go(job);
}

void tm_job_launched_settle_known(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  for (size_t i = l->nodes.len; may_run(job) && i-- > 0;)
    if (i < l->nodes.len)
      (void)settle_running(l->nodes.at[i]);
}

/* Its command ends; then it is settled. */
void tm_job_launched_end_command(struct tm_launched_node *n)
{
  struct tm_node *local = tm_fleet_node(&n->job->fleet, TM_LOCAL_NODE);

  n->is_ended_by_us = true;
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

static void set_why(struct tm_launched_node *n, const char *why)
{
  if (n->why)
    return;
  n->why = tm_xstrdup(why);
  n->job->launches->workers = -1;
  n->lived_ns = n->was_ready ? tm_clock_mono_ns() - n->ready_ns : 0;
}

/* Keeps (3). */
static bool ask_why(struct tm_launched_node *n)
{
  return !n->is_concluded && tm_job_slurm_queue_ended(n);
}

void tm_job_launched_give_up(struct tm_launched_node *n, const char *why)
{
  set_why(n, why);
  note_printed(n);
  tm_job_probe_end(n);
  if (!n->is_concluded) /* from now on it is not late */
    tm_launch_plan_ends(&tm_job_launched_group(n)->plan, n->id);
  if (!ask_why(n)) /* else it ends when its end is concluded: keeps (3) */
    tm_job_launched_end_command(n);
}

/* ---- giving back ---- */

static void close_stream(struct tm_launched_node *n)
{
  n->closed_ns = tm_clock_mono_ns();
  tm_job_steps_silence_node(n->job, n->id);
  tm_fleet_close_stream(&n->job->fleet, n->id);
}

void tm_job_launched_give_back(struct tm_launched_node *n)
{
  if (n->why || n->is_leaving || (n->was_ready && !tm_job_sharing_is_idle(n->job, n->id)))
    return;
  n->is_leaving = true;
  n->job->launches->workers = -1;
  report_left(n);
  tm_launch_plan_leaves(&tm_job_launched_group(n)->plan, n->id);
  tm_job_probe_end(n);
  if (n->was_ready) {
    tm_job_sharing_drain(n->job, n->id);
    return;
  }
  tm_job_launched_end_command(n); /* it has no keeper that could end first */
  if (n->has_stream)
    close_stream(n);
}

void tm_job_launched_tick(struct tm_launched_node *n)
{
  tm_job_time_left_check(n);
  if (!n->is_leaving || n->why)
    return;
  if (tm_fleet_node(&n->job->fleet, n->id) && !tm_job_sharing_has_workers(n->job, n->id))
    close_stream(n);
  else if (n->closed_ns > 0 && tm_clock_mono_ns() - n->closed_ns > TM_LAUNCH_END_NS)
    tm_job_launched_end_command(n);
}

/* Keeps (2). */
void tm_job_launched_orphan(struct tm_launched_node *n)
{
  set_why(n, "the keeper of this machine, which ran its command, is lost");
  n->awaits_keeper = false;
  n->is_orphan = n->is_over = true;
  tm_job_probe_end(n);
  tm_job_steps_silence_node(n->job, n->id);
  tm_job_slurm_orphaned(n);
}

void tm_job_launched_lost(struct tm_job *job, uint32_t id, const char *why)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);

  if (id == TM_LOCAL_NODE)
    tm_job_keeper_lost(job, why);
  if (id == TM_LOCAL_NODE || !n)
    return;
  n->is_other_build = tm_fleet_is_other_build(&job->fleet, id);
  n->is_refused = n->is_refused || n->is_other_build;
  tm_job_launched_give_up(n, why);
}

void tm_job_launched_gone(struct tm_job *job, uint32_t id)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);

  if (id == TM_LOCAL_NODE)
    tm_job_keeper_gone(job);
  if (!n)
    return;
  n->has_stream = false;
  tm_job_launched_settle(n);
}

/* ---- what the keeper says of a command ---- */

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  struct tm_launched_node *n = data;
  struct tm_launch_group *g = tm_job_launched_group(n);
  struct tm_err err = TM_ERR_NONE;

  n->process = *tm_node_launched(tm_fleet_node(&n->job->fleet, TM_LOCAL_NODE), launch);
  if (n->why || n->is_leaving || !may_run(n->job)) {
    tm_fs_close(tm_fs_real(), fd);
    tm_job_launched_end_command(n);
    return;
  }
  n->job->launches->keepers_lost = 0;
  tm_launch_plan_running(&g->plan, n->id, tm_clock_mono_ns());
  if (tm_fleet_connect(&n->job->fleet, n->id, fd, fd, n->host, g->config->node_timeout_ns, &err) <
      0) {
    tm_job_launched_give_up(n, err.text);
    return;
  }
  n->has_stream = true;
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  struct tm_launched_node *n = data;
  struct tm_job *job = n->job;
  size_t group = n->group;
  struct tm_err err;
  bool was_leaving;

  n->is_over = true;
  if (!n->why)
    n->why = tm_xstrdup(text);
  if (!may_run(job)) {
    tm_job_launched_settle(n);
    return;
  }
  tm_job_launched_conclude(n);
  err = tm_job_launched_group(n)->last;
  was_leaving = n->is_leaving;
  remove_node(n);
  if (was_leaving)
    return;
  /* else this machine may lack something for the moment */
  if (!tm_launch_plan_has_running(&job->launches->groups.at[group].plan))
    tm_job_launches_fail(job, group, &err);
  tm_job_launches_go(job);
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct tm_launched_node *n = data;

  n->is_orphan = n->awaits_keeper;
  n->awaits_keeper = false;
  n->ended = *ended;
  n->has_ended = n->is_over = true;
  (void)ask_why(n);
  tm_job_launched_settle(n);
}

static void on_adopted(void *data, uint32_t launch)
{
  struct tm_launched_node *n = data;

  n->awaits_keeper = false;
  n->job->launches->keepers_lost = 0;
}

static struct tm_launch_user hears(struct tm_launched_node *n)
{
  return (struct tm_launch_user) { n, on_launched, on_launch_failed, on_launch_ended, on_adopted };
}

void tm_job_launched_adopt(struct tm_launched_node *n)
{
  struct tm_launch_user user = hears(n);

  tm_job_launching_adopt(n, &user);
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

void tm_job_launched_reported(struct tm_job *job, uint32_t id)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);
  struct tm_node *node = tm_fleet_node(&job->fleet, id);
  struct tm_err err = TM_ERR_NONE;

  if (!n || n->why || n->is_leaving || !may_run(job))
    return;
  n->reported_host = tm_xstrdup(tm_node_reported(node)->host);
  note_host(n);
  tm_job_node_record_started(n, tm_node_reported(node));
  tm_job_slurm_queue_started(n);
  if (record_temp(n, tm_node_reported(node), &err) == 0)
    tm_job_probe_begin(n);
  else
    tm_node_give_up(node, err.text);
}

void tm_job_launched_probed(struct tm_job *job, uint32_t id, const struct tm_node_probed *probed)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);

  if (n && !n->why && !n->is_leaving && may_run(job))
    tm_job_probe_answered(n, probed);
}

void tm_job_launched_source_taken(struct tm_job *job, uint32_t id, const char *problem)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);

  if (n && !n->why && !n->is_leaving && may_run(job))
    tm_job_source_taken(n, problem);
}

static void note_ready(struct tm_launched_node *n, const struct tm_node *node)
{
  const struct tm_node_report *report = tm_node_reported(node);
  struct tm_buf text = TM_BUF_NONE;

  tm_launched_node_name(&text, n);
  tm_buf_add_str(&text, " is ready: ");
  tm_node_report_describe(&text, report);
  if (tm_node_round_trip_ns(node) > 0)
    tm_buf_printf(&text, "; round trip %.1f ms, clock %+.1f ms",
                  (double)tm_node_round_trip_ns(node) / 1e6,
                  (double)tm_node_clock_offset_ns(node) / 1e6);
  if (report->uid != geteuid())
    tm_buf_printf(&text, "; it runs as another user (uid %" PRIu32 ")", report->uid);
  tm_job_node_news(n, TM_NODE_IS_READY, TM_INFO, tm_buf_str(&text));
  tm_buf_release(&text);
}

void tm_job_launched_use_known(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  for (size_t i = 0; may_run(job) && i < l->nodes.len; i++) {
    struct tm_launched_node *n = l->nodes.at[i];
    if (!n->is_held || !tm_job_launched_is_usable(n) || !tm_job_slurm_queue_is_settled(n))
      continue;
    tm_job_time_left_check(n);
    n->is_held = false;
    if (tm_job_launched_is_usable(n) && tm_fleet_node(&job->fleet, n->id))
      tm_job_steps_set_node(job, tm_fleet_node(&job->fleet, n->id));
  }
}

void tm_job_launched_ready(struct tm_job *job, uint32_t id)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);

  if (!n || n->why || n->is_leaving || !may_run(job))
    return;
  n->was_ready = n->is_held = true;
  job->launches->workers = -1;
  tm_job_launched_group(n)->is_unanswered = false;
  n->ready_ns = tm_clock_mono_ns();
  tm_job_probe_end(n);
  tm_launch_plan_ready(&tm_job_launched_group(n)->plan, id);
  note_ready(n, tm_fleet_node(&job->fleet, id));
  if (may_run(job)) /* else a listener has ended the job */
    tm_job_launched_use_known(job);
}

/* ---- draining ---- */

/* If all nodes of a group drain before they have committed anything, the group fails in the end,
 * and `text` is the reason. */
void tm_job_launched_drain(struct tm_launched_node *n, enum tm_level level, const char *text)
{
  struct tm_job *job = n->job;
  uint32_t id = n->id;

  n->is_leaving = true;
  n->job->launches->workers = -1;
  tm_err_set(&tm_job_launched_group(n)->last, TM_ESCRIPT, "%s", text);
  tm_job_node_news(n, TM_NODE_LEAVES, level, text);
  if (may_run(job)) /* else a listener has ended the job */
    tm_job_sharing_drain(job, id);
}

/* It will lose its machine soon. */
void tm_job_launched_drains(struct tm_job *job, uint32_t id)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);
  struct tm_buf text = TM_BUF_NONE;

  if (!tm_job_launched_is_usable(n) || !may_run(job))
    return;
  n->drains = true;
  tm_launched_node_name(&text, n);
  tm_buf_add_str(&text,
                 " was asked to end: what it has begun may end there, and the rest goes back");
  tm_job_launched_drain(n, TM_INFO, tm_buf_str(&text));
  tm_buf_release(&text);
}

void tm_job_launched_sick(struct tm_job *job, uint32_t id, const char *figures)
{
  struct tm_launched_node *n = tm_job_launched_find(job, id);
  struct tm_buf text = TM_BUF_NONE;

  if (!tm_job_launched_is_usable(n) || !may_run(job))
    return;
  n->is_sick = true;
  tm_launch_plan_sick(&tm_job_launched_group(n)->plan, id);
  tm_launched_node_name(&text, n);
  tm_buf_printf(&text, " is sick: %s; it gets no more work", figures);
  if (n->host || tm_job_exclude_add(n))
    tm_buf_printf(&text, ", and no node is started on '%s' for %d minutes%s",
                  n->host ? n->host : n->reported_host, (int)(TM_EXCLUDE_NS / (60 * TM_S)),
                  n->host ? " while another one works" : "");
  tm_job_launched_drain(n, TM_WARNING, tm_buf_str(&text));
  tm_buf_release(&text);
}

/* ---- launching ---- */

void tm_job_launched_begin(struct tm_job *job, size_t group, size_t place)
{
  struct tm_job_launches *l = job->launches;
  struct tm_launch_group *g = &l->groups.at[group];
  struct tm_launched_node *n = TM_NEW(struct tm_launched_node);
  struct tm_launch_user user = hears(n);
  struct tm_err err = TM_ERR_NONE;
  size_t host;

  *n =
      (struct tm_launched_node) { .job = job, .id = tm_job_launching_next_id(job), .group = group };
  host = tm_launch_plan_launch(&g->plan, place, n->id, tm_clock_mono_ns());
  n->host = host == SIZE_MAX ? NULL : g->hosts[host];
  n->host_at = host;
  *TM_ARRAY_ADD(&l->nodes) = n;
  if (tm_job_launching_begin(n, g->config, &user, &err) == 0) {
    tm_job_node_news_requested(n);
    return;
  }
  n->is_over_told = true; /* nothing was requested */
  tm_launch_plan_failed(&g->plan, n->id, TM_SLURM_END_NOT_KNOWN, tm_clock_mono_ns());
  drop(n);
  tm_job_launches_fail(job, group, &err);
}
