/* job_launched_end.c - concludes the end of a node that a command has started: reports it, excludes
 * its host, and frees its place for another node. See job_own.h.
 */
#include "base/buf.h"
#include "job/job_own.h"
#include "sys/clock.h"

static void count_work(struct tm_launched_node *n)
{
  struct tm_lost_work work = tm_job_sharing_lost_work(n->job, n->id);

  n->went_back = work.went_back;
  n->may_have_run = work.may_have_run;
}

void tm_job_launched_report_end(struct tm_launched_node *n, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;

  count_work(n);
  tm_launched_node_describe(&text, n);
  tm_err_set(err, TM_ESCRIPT, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  tm_job_node_news(n, TM_NODE_IS_LOST, TM_WARNING, err->text);
}

static void report_drained(struct tm_launched_node *n)
{
  struct tm_buf text = TM_BUF_NONE;

  count_work(n);
  tm_launched_node_describe_drained(&text, n);
  if (n->slurm_end == TM_SLURM_END_CANCELED)
    tm_err_set(&tm_job_launched_group(n)->last, TM_ESCRIPT, "%s", tm_buf_str(&text));
  tm_job_node_news(n, TM_NODE_HAS_ENDED, TM_INFO, tm_buf_str(&text));
  tm_buf_release(&text);
}

/* However it has ended. */
static void conclude_leaving(struct tm_launched_node *n)
{
  struct tm_launch_plan *plan = &tm_job_launched_group(n)->plan;

  if (!n->drains && !n->is_sick) {
    tm_launch_plan_left(plan, n->id);
    return;
  }
  report_drained(n);
  if (n->is_sick || n->slurm_end == TM_SLURM_END_CANCELED)
    tm_launch_plan_failed(plan, n->id, n->slurm_end, tm_clock_mono_ns());
  else
    tm_launch_plan_withdrawn(plan, n->id, tm_clock_mono_ns());
}

static void wait_for_answer(struct tm_launched_node *n)
{
  tm_job_exclude_unanswered(n->job, n->group, n->ended.last_line);
  tm_launch_plan_unanswered(&tm_job_launched_group(n)->plan, n->id, tm_clock_mono_ns());
}

static bool is_unanswered(const struct tm_launched_node *n)
{
  return n->slurm_name && !n->was_ready && n->has_ended &&
         tm_slurm_text_is_unanswered(n->ended.last_line);
}

static void conclude_failed(struct tm_launched_node *n)
{
  struct tm_launch_group *g = tm_job_launched_group(n);
  struct tm_err err = TM_ERR_NONE;

  n->is_excluded = !n->is_orphan && tm_job_exclude_add(n);
  tm_job_launched_report_end(n, &err);
  g->last = err;
  if (n->is_orphan)
    tm_launch_plan_withdrawn(&g->plan, n->id, tm_clock_mono_ns());
  else
    tm_launch_plan_failed(&g->plan, n->id, n->slurm_end, tm_clock_mono_ns());
}

/* Slurm may ask what runs on a machine to end, and report later that the machine has failed. */
static bool has_failed_machine(const struct tm_launched_node *n)
{
  return n->drains && n->slurm_end == TM_SLURM_END_NODE_FAIL;
}

void tm_job_launched_conclude(struct tm_launched_node *n)
{
  n->is_concluded = true;
  n->holds_host = n->host && !n->is_over;
  if (n->holds_host)
    tm_launch_plan_hold_host(&tm_job_launched_group(n)->plan, n->id);
  tm_job_launched_group(n)->lacked_time = tm_job_time_left_was_short(n);
  if (n->is_leaving && !has_failed_machine(n))
    conclude_leaving(n);
  else if (is_unanswered(n))
    wait_for_answer(n);
  else
    conclude_failed(n);
  if (!n->is_over)
    tm_job_launched_end_command(n);
}
