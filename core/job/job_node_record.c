/* job_node_record.c - writes the records of nodes that commands start: see job_own.h and
 * record/node_record.h. */
#include "record/node_record.h"

#include <inttypes.h>
#include <stdlib.h>

#include "job/job_own.h"
#include "sys/clock.h"

static struct tm_json *words_of(char *const *argv)
{
  struct tm_json *words = tm_json_new(TM_JSON_ARRAY);

  for (size_t i = 0; argv[i]; i++)
    tm_json_add(words, tm_json_new_string(argv[i]));
  return words;
}

static void set_text(struct tm_json *v, const char *key, const char *text)
{
  if (text && *text)
    tm_json_set(v, key, tm_json_new_string(text));
}

static void set_taken(struct tm_json *v, const char *key, char *text)
{
  tm_json_set(v, key, tm_json_new_string(text));
  free(text);
}

int tm_job_node_record_begin(const struct tm_launched_node *n, const struct tm_config *c,
                             char *const *argv, struct tm_err *err)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(v, "id", tm_json_new_int(n->id));
  tm_json_set(v, "compute_target", tm_json_new_string(c->uses_slurm ? "slurm" : "exec"));
  set_taken(v, "epoch", tm_xprintf("%016" PRIx64, n->job->dir.epoch));
  tm_json_set(v, "asked", tm_json_new_time(tm_clock_wall_ns()));
  set_text(v, "host", n->host);
  if (n->slurm_name) {
    tm_json_set(v, "name", tm_json_new_string(n->slurm_name));
    tm_json_set(v, "may_run", tm_json_new_bool(true));
    if (n->is_step)
      set_text(v, "allocation", tm_job_launched_group(n)->allocation.job);
  }
  tm_json_set(v, "command", words_of(argv));
  return tm_node_record_update(n->job->o.fs, n->job->dir.path, n->id, v, err);
}

void tm_job_node_record(struct tm_job *job, uint32_t id, struct tm_json *changes)
{
  struct tm_err err = TM_ERR_NONE;

  if (tm_node_record_update(job->o.fs, job->dir.path, id, changes, &err) < 0 &&
      tm_fs_exists(job->o.fs, job->dir.path)) /* else it was removed, which ends the job */
    tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, err.text);
}

void tm_job_node_record_started(const struct tm_launched_node *n,
                                const struct tm_node_report *report)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(v, "started", tm_json_new_time(tm_clock_wall_ns()));
  set_text(v, "host", n->host ? n->host : report->host);
  set_text(v, "machine", report->host);
  set_text(v, "slurm_job_id", report->slurm_job);
  set_text(v, "boot_id", report->boot_id);
  tm_json_set(v, "uid", tm_json_new_int(report->uid));
  tm_json_set(v, "pid", tm_json_new_int(report->pid));
  tm_json_set(v, "cpus", tm_json_new_int(report->cpus));
  tm_json_set(v, "gpus", tm_json_new_int(report->gpus));
  tm_json_set(v, "memory", tm_json_new_int((int64_t)report->memory));
  tm_job_node_record(n->job, n->id, v);
}

static void describe_end(struct tm_buf *out, const struct tm_launched_node *n)
{
  bool has_failed = n->why || (!n->was_ready && n->has_ended);

  if (n->drains)
    tm_buf_add_str(out, "it was asked to end");
  else if (n->is_leaving)
    tm_buf_add_str(out, "it was given back: nothing was left for it to do");
  else if (tm_job_life_may(&n->job->life, TM_JOB_MAY_RUN) || has_failed)
    tm_launched_node_describe(out, n);
  else
    tm_buf_add_str(out, "the job has ended");
}

void tm_job_node_record_ended(const struct tm_launched_node *n)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf why = TM_BUF_NONE;

  describe_end(&why, n);
  tm_json_set(v, "ended", tm_json_new_time(tm_clock_wall_ns()));
  tm_json_set(v, "why", tm_json_new_bytes(tm_buf_str(&why), why.len));
  tm_job_node_record(n->job, n->id, v);
  tm_buf_release(&why);
}
