/* job_keeper.c - the keeper of this machine is lost, and its successor takes over the commands that
 * carry nodes: see job_own.h.
 *
 *   lost -> gone -> the next one is started: ADOPT for each node -> adopted
 *             |                                              `-> ended: the command is not there
 *             `-> no other follows: the commands are killed, and their nodes are replaced
 *
 *  (1) A killed keeper costs no node, because we hold the streams. Until a successor has adopted
 *      its command, a node works on; no node is launched, and no command is ended. Requests that
 *      come meanwhile are carried out afterwards.
 *  (2) A node whose command no longer exists has ended with the keeper. Its work goes back, and it
 *      is replaced. Neither its host nor its command is to blame.
 *  (3) All nodes end in this way if no successor follows, because the job ends or none can be
 *      started, or if KEEPERS_MAX keepers in a row were lost before they had adopted anything.
 *  (4) If TM_SCHED_LOSSES_MAX keepers in a row were lost before they had adopted or launched
 *      anything, each within TM_LAUNCH_QUICK_NS, the steps on nodes fail: perhaps no keeper can
 *      live on this machine. Steps on this machine have the same limit (sched/node_events.c).
 */
#include "sched/sched.h"
#include "sys/clock.h"
#include "job/job_own.h"

#define KEEPERS_MAX 3

void tm_job_keeper_lost(struct tm_job *job, const char *why)
{
  struct tm_job_launches *l = job->launches;

  tm_job_launching_lost(job);
  if (tm_clock_mono_ns() - l->keeper_began_ns >= TM_LAUNCH_QUICK_NS)
    l->keepers_lost = 0; /* it has lived, though it had nothing to do */
  l->keepers_lost++;
  tm_err_set(&l->keeper_end, TM_ENODE, "%s", why);
  for (size_t i = 0; i < l->nodes.len; i++)
    l->nodes.at[i]->awaits_keeper = !l->nodes.at[i]->is_over;
  tm_job_slurm_lost(job);
  tm_job_exclude_lost(job);
}

bool tm_job_keeper_is_awaited(const struct tm_job *job)
{
  const struct tm_job_launches *l = job->launches;

  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i]->awaits_keeper)
      return true;
  return false;
}

/* Keeps (3). */
void tm_job_keeper_abandon(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  if (!tm_job_keeper_is_awaited(job))
    return;
  tm_fleet_end_kept(&job->fleet, job->dir.path);
  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i]->awaits_keeper)
      tm_job_launched_orphan(l->nodes.at[i]);
  tm_fleet_close_streams(&job->fleet);
  for (size_t i = l->nodes.len; i-- > 0;)
    if (i < l->nodes.len && l->nodes.at[i]->is_orphan)
      tm_job_launched_settle(l->nodes.at[i]);
}

/* Keeps (4). */
static void fail_groups(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;
  struct tm_err err;

  tm_err_set(&err, TM_ENODE,
             "the keeper of this machine, which starts the nodes, was lost %d times in a row: %s",
             l->keepers_lost, l->keeper_end.text);
  for (size_t i = 0; i < l->groups.len; i++)
    tm_job_launches_fail(job, i, &err);
}

void tm_job_keeper_gone(struct tm_job *job)
{
  if (tm_job_life_may(&job->life, TM_JOB_MAY_RUN)) {
    if (job->launches->keepers_lost >= TM_SCHED_LOSSES_MAX)
      fail_groups(job);
    return;
  }
  tm_job_keeper_abandon(job);
  if (job->life.state == TM_JOB_IS_ENDING)
    tm_job_slurm_finish(job);
}

void tm_job_keeper_starts(struct tm_job *job)
{
  if (job->launches->keepers_lost > KEEPERS_MAX)
    tm_job_keeper_abandon(job);
}

/* Its keeper may have been killed a moment ago. */
void tm_job_keeper_close(struct tm_job *job)
{
  if (job->launches && job->launches->nodes.len > 0)
    tm_fleet_end_kept(&job->fleet, job->dir.path);
}

/* Keeps (1). */
void tm_job_keeper_started(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);

  l->keeper_began_ns = tm_clock_mono_ns();
  for (size_t i = 0; i < l->nodes.len; i++) {
    struct tm_launched_node *n = l->nodes.at[i];
    if (!n->awaits_keeper)
      continue;
    tm_job_launched_adopt(n);
    if (n->is_ended_by_us)
      tm_node_end_launch(local, n->launch);
  }
}
