/* job_exclude.c - hosts that nodes of Slurm must not use for a while: see job_own.h and
 * slurm/exclusions.h.
 *
 *  (1) After a host was added, no node is requested until `srun --test-only` has confirmed that
 *      Slurm can grant one without that host. While Slurm refuses, the oldest exclusion ends. If
 *      srun fails or takes LIMIT_NS, the exclusions stay. If srun did not reach the controller, it
 *      runs again after AGAIN_NS.
 *  (2) The keeper of this machine runs srun. If the keeper is lost, the next one runs srun again.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/command_template.h"
#include "base/text.h"
#include "slurm/slurm_environment.h"
#include "job/job_own.h"
#include "slurm/slurm_test.h"
#include "sys/clock.h"

#define LIMIT_NS (20 * TM_S)
#define AGAIN_NS (5 * TM_S)

bool tm_job_exclude_add(const struct tm_launched_node *n)
{
  struct tm_launch_group *g = tm_job_launched_group(n);

  return g->config->uses_slurm && !n->is_step && n->reported_host &&
         tm_launch_plan_blames_host(n->slurm_end) &&
         tm_exclusions_add(&g->exclude.hosts, n->reported_host, tm_clock_mono_ns());
}

/* ---- the test ---- */

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  tm_fs_close(tm_fs_real(), fd);
}

static void take_answer(struct tm_launch_group *g, bool is_granted)
{
  char *host = tm_exclusions_tested(&g->exclude.hosts, is_granted), *text;

  g->exclude.is_asking = false;
  if (!host)
    return;
  text = tm_xprintf("no node can be had without '%s': it is not excluded any more", host);
  tm_job_emit(g->exclude.job, TM_EVENT_MESSAGE, TM_INFO, text);
  free(text);
  free(host);
}

void tm_job_exclude_unanswered(struct tm_job *job, size_t group, const char *line)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];

  tm_err_set(&g->last, TM_ESCRIPT,
             "Slurm does not answer: '%s'; nodes will be requested when it does", line);
  tm_job_emit(job, TM_EVENT_MESSAGE, g->is_unanswered ? TM_DEBUG : TM_WARNING, g->last.text);
  g->is_unanswered = true;
}

static void take_none(struct tm_launch_group *g, const char *line)
{
  struct tm_job *job = g->exclude.job;

  tm_exclusions_unanswered(&g->exclude.hosts);
  g->exclude.is_asking = false;
  g->exclude.due_ns = tm_clock_mono_ns() + AGAIN_NS;
  tm_job_exclude_unanswered(job, (size_t)(g - job->launches->groups.at), line);
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  take_answer(data, true);
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct tm_launch_group *g = data;

  if (!tm_job_life_may(&g->exclude.job->life, TM_JOB_MAY_RUN)) {
    g->exclude.is_asking = false;
    tm_job_launches_end(g->exclude.job);
    return;
  }
  if (ended->exit_status != 0 && tm_slurm_text_is_unanswered(ended->last_line))
    take_none(g, ended->last_line);
  else
    take_answer(g, ended->signal != 0 || ended->exit_status == 0 || g->exclude.is_late);
  tm_job_launches_go(g->exclude.job);
}

static char **command_of(const struct tm_launch_group *g)
{
  char *exclude = tm_exclusions_text(&g->exclude.hosts, g->config->slurm_exclude);
  char **argv = tm_slurm_test_command(g->config, exclude, g->exclude.job->o.program);

  free(exclude);
  return argv;
}

static void ask(struct tm_launch_group *g)
{
  struct tm_job *job = g->exclude.job;
  struct tm_launch_user hears = { g, on_launched, on_launch_failed, on_launch_ended, NULL };
  char *file = tm_xprintf("%s/nodes/srun.txt", job->dir.path);
  char **without = tm_slurm_environment_removed(environ), **argv = command_of(g);

  tm_exclusions_asked(&g->exclude.hosts);
  g->exclude.is_asking = true;
  g->exclude.is_late = false;
  g->exclude.asked_ns = tm_clock_mono_ns();
  g->exclude.question = tm_job_launching_run(
      job, &(struct tm_launch) { .argv = argv, .stderr_path = file, .cwd = "", .without = without },
      &hears);
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
}

static void end_late(struct tm_launch_group *g)
{
  struct tm_node *local = tm_fleet_node(&g->exclude.job->fleet, TM_LOCAL_NODE);

  if (!local || g->exclude.is_late || tm_clock_mono_ns() - g->exclude.asked_ns < LIMIT_NS)
    return;
  g->exclude.is_late = true;
  tm_node_end_launch(local, g->exclude.question);
}

bool tm_job_exclude_is_settled(struct tm_job *job, size_t group)
{
  struct tm_launch_group *g = &job->launches->groups.at[group];

  g->exclude.job = job;
  tm_exclusions_expire(&g->exclude.hosts, tm_clock_mono_ns());
  if (g->exclude.is_asking)
    end_late(g);
  else if (tm_exclusions_are_untested(&g->exclude.hosts) && tm_clock_mono_ns() >= g->exclude.due_ns)
    ask(g);
  return !g->exclude.is_asking && !tm_exclusions_are_untested(&g->exclude.hosts);
}

void tm_job_exclude_lost(struct tm_job *job) /* keeps (2) */
{
  for (size_t i = 0; i < job->launches->groups.len; i++) {
    struct tm_job_exclude *e = &job->launches->groups.at[i].exclude;
    if (e->is_asking)
      tm_exclusions_unanswered(&e->hosts);
    e->is_asking = false;
  }
}

void tm_job_exclude_close(struct tm_job *job)
{
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);

  for (size_t i = 0; local && i < job->launches->groups.len; i++)
    if (job->launches->groups.at[i].exclude.is_asking)
      tm_node_end_launch(local, job->launches->groups.at[i].exclude.question);
}

bool tm_job_exclude_is_done(const struct tm_job *job)
{
  for (size_t i = 0; i < job->launches->groups.len; i++)
    if (job->launches->groups.at[i].exclude.is_asking)
      return false;
  return true;
}
