/* job_nodes.c - the nodes of a job: see job_own.h. */
#include <stdlib.h>

#include "base/text.h"
#include "base/check.h"
#include "job/job_own.h"

static bool extracts(const struct tm_pipeline *p)
{
  for (size_t i = 0; i < p->steps_len; i++)
    for (size_t k = 0; k < p->steps[i]->inputs_len; k++)
      if (tm_dataset_is_extracted(p->steps[i]->inputs[k]))
        return true;
  return false;
}

static void warn_of_temp(struct tm_job *job, struct tm_err *err)
{
  char *dir = tm_text_shell_word(job->dir.path);

  tm_err_wrap(err, "a temporary folder is left; to remove it with the job: tidemill clean %s", dir);
  free(dir);
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, err->text);
}

void tm_job_nodes_remove_temp_of(struct tm_job *job, uint32_t id)
{
  struct tm_err err = TM_ERR_NONE;
  int rc;

  if (id >= job->temps.len)
    return;
  rc = tm_temp_dirs_remove_of(&job->temps.at[id], job->o.fs, job->dir.path, &err);

  tm_temp_dirs_release(&job->temps.at[id]);
  if (rc < 0)
    warn_of_temp(job, &err);
}

void tm_job_nodes_release_temp(struct tm_job *job)
{
  for (size_t i = 0; i < job->temps.len; i++)
    tm_temp_dirs_release(&job->temps.at[i]);
  TM_ARRAY_RELEASE(&job->temps);
}

void tm_job_nodes_remove_temp(struct tm_job *job)
{
  struct tm_err err = TM_ERR_NONE;

  tm_job_nodes_release_temp(job);
  if (tm_temp_dirs_remove(job->o.fs, job->dir.path, &err) < 0)
    warn_of_temp(job, &err);
}

int64_t tm_job_nodes_max_workers(const struct tm_job *job)
{
  int64_t given = job->o.max_workers; /* then nobody looks at all nodes for each mini-batch */
  int64_t have = given == 0 && job->launches ? tm_job_launches_workers(job) : 0;

  return tm_share_limit(given, have, job->node_workers);
}

static void on_node_note(void *data, uint32_t id, const char *text)
{
  tm_job_emit(data, TM_EVENT_MESSAGE, TM_WARNING, text);
}

/* Of a node that a command carried, settling it says more (job_launched.c). */
static void on_node_lost(void *data, uint32_t id, const char *text)
{
  tm_job_emit(data, TM_EVENT_MESSAGE, id == TM_LOCAL_NODE ? TM_WARNING : TM_DEBUG, text);
  tm_job_steps_silence_node(data, id);
  tm_job_launched_lost(data, id, text);
}

static void on_node_report(void *data, uint32_t id)
{
  tm_job_launched_reported(data, id);
}

static void on_node_probed(void *data, uint32_t id, const struct tm_node_probed *probed)
{
  tm_job_launched_probed(data, id, probed);
}

static void on_source_taken(void *data, uint32_t id, const char *problem)
{
  tm_job_launched_source_taken(data, id, problem);
}

static void on_node_ready(void *data, uint32_t id)
{
  tm_job_launched_ready(data, id);
}

static void on_node_drains(void *data, uint32_t id)
{
  tm_job_launched_drains(data, id);
}

static bool may_run(const struct tm_job *job)
{
  return tm_job_life_may(&job->life, TM_JOB_MAY_RUN);
}

static void on_node_gone(void *data, uint32_t id)
{
  struct tm_job *job = data;

  if (may_run(job)) {
    if (id == TM_LOCAL_NODE)
      tm_job_nodes_remove_temp_of(job, id);
    tm_job_steps_lose_node(job, id);
  }
  tm_job_launched_gone(job, id);
  if (!may_run(job) && tm_fleet_is_empty(&job->fleet))
    tm_job_happen(job, TM_JOB_ON_GONE);
  else if (may_run(job) && !tm_fleet_lives(&job->fleet, TM_LOCAL_NODE) &&
           (tm_job_steps_need_node(job) || tm_job_keeper_is_awaited(job)))
    tm_job_nodes_start(job);
}

int tm_job_nodes_record_temp(struct tm_job *job, uint32_t id, const struct tm_temp_node *node,
                             struct tm_err *err)
{
  while (job->temps.len <= id)
    *TM_ARRAY_ADD(&job->temps) = (struct tm_temp_dirs) { 0 };
  return tm_temp_dirs_record(&job->temps.at[id], job->o.fs, job->dir.path, node,
                             extracts(job->o.pipeline), err);
}

void tm_job_nodes_start(struct tm_job *job)
{
  struct tm_err err = TM_ERR_NONE;

  tm_require(!tm_fleet_lives(&job->fleet, TM_LOCAL_NODE));
  tm_job_keeper_starts(job);
  if (!may_run(job) || tm_fleet_lives(&job->fleet, TM_LOCAL_NODE))
    return; /* it has ended steps, or started it */
  if (tm_job_nodes_record_temp(job, TM_LOCAL_NODE, NULL, &err) < 0 ||
      tm_fleet_start(&job->fleet, TM_LOCAL_NODE, &err) < 0) {
    tm_job_nodes_remove_temp_of(job, TM_LOCAL_NODE); /* their names are recorded */
    tm_job_keeper_abandon(job);
    tm_job_steps_fail(job, &err);
    return;
  }
  tm_job_keeper_started(job);
  tm_job_steps_set_node(job, tm_fleet_node(&job->fleet, TM_LOCAL_NODE));
}

void tm_job_nodes_init(struct tm_job *job)
{
  tm_job_launches_init(job);
  tm_fleet_init(&job->fleet, &(struct tm_fleet_options) { .loop = job->o.loop,
                                                          .program = job->o.program,
                                                          .has_stderr = job->o.has_stderr,
                                                          .epoch = job->dir.epoch,
                                                          .on_note = on_node_note,
                                                          .on_report = on_node_report,
                                                          .on_probed = on_node_probed,
                                                          .on_source_taken = on_source_taken,
                                                          .on_ready = on_node_ready,
                                                          .on_drains = on_node_drains,
                                                          .on_lost = on_node_lost,
                                                          .on_gone = on_node_gone,
                                                          .data = job });
}
