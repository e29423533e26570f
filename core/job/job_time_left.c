/* job_time_left.c - drains nodes of Slurm that lack time for another mini-batch: see
 * job_own.h and fleet/time_left.h.
 */
#include "base/time.h"
#include "job/job_own.h"
#include "sys/clock.h"

/* Of the steps that run on nodes of the group. Returns their number. */
static size_t collect(const struct tm_job *job, size_t group)
{
  struct tm_run_times *times = job->launches->run_times;
  size_t len = 0;

  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == group && job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_run_times(job->steps[i].s, &times[len++]);
  return len;
}

static void drain(struct tm_launched_node *n, int64_t run_ns, bool was_measured, int64_t now_ns)
{
  struct tm_buf text = TM_BUF_NONE;

  tm_launched_node_name(&text, n);
  tm_buf_add_str(&text, " has ");
  tm_time_clock(&text, tm_time_left_ns(&n->time_left, now_ns));
  tm_buf_add_str(&text, was_measured ? " left, and the longest run() took "
                                     : " left, and the first run() may take ");
  tm_time_duration(&text, run_ns);
  tm_buf_add_str(&text, ": it drains");
  n->is_out_of_time = n->drains = true;
  tm_job_launched_drain(n, TM_INFO, tm_buf_str(&text));
  tm_buf_release(&text);
}

void tm_job_time_left_check(struct tm_launched_node *n)
{
  struct tm_job *job = n->job;
  int64_t now_ns = tm_clock_mono_ns(), run_ns;
  bool was_measured;
  size_t steps;

  if (!tm_job_life_may(&job->life, TM_JOB_MAY_RUN) || !tm_job_launched_is_usable(n) ||
      !tm_time_left_is_known(&n->time_left))
    return;
  steps = collect(job, n->group);
  run_ns = tm_time_left_run_ns(&n->time_left, job->launches->run_times, steps, &was_measured);
  if (steps > 0 && !tm_time_left_is_enough(&n->time_left, run_ns, now_ns))
    drain(n, run_ns, was_measured, now_ns);
}

bool tm_job_time_left_was_short(const struct tm_launched_node *n)
{
  if (n->slurm_end == TM_SLURM_END_TIMEOUT)
    return true;
  return n->drains && n->slurm_end != TM_SLURM_END_PREEMPTED &&
         (n->is_out_of_time || tm_time_left_is_announced(&n->time_left, tm_clock_mono_ns()));
}
