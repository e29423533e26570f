/* job_record.c - see job_record.h. Both files are written whole and renamed into place
 * (core/README.md: invariant 7). */
#include "record/cancel_request.h"
#include "record/job_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "sys/clock.h"

#define VERSION    1
#define RECORD_MAX (256u << 20) /* bytes */

static int write_json(const struct tm_fs *fs, const char *path, const struct tm_json *v,
                      struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc;

  tm_json_write(&text, v, (struct tm_json_style) { .indent = 2 });
  tm_buf_add_char(&text, '\n');
  rc = tm_fs_write_file(fs, path, text.data, text.len, 0600, err);
  tm_buf_release(&text);
  return rc;
}

static struct tm_json *read_json(const char *path, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err why = TM_ERR_NONE;
  struct tm_json *v = NULL;

  if (tm_fs_read_file(tm_fs_real(), path, RECORD_MAX, &text, err) >= 0) {
    v = tm_json_parse(tm_buf_str(&text), text.len, &why);
    if (!v)
      tm_err_set(err, why.code, "'%s' is damaged: %s", path, why.text);
  }
  tm_buf_release(&text);
  return v;
}

static struct tm_json *step_record(const struct tm_step *step, const struct tm_snapshot *snapshot)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  tm_require(snapshot->script && snapshot->hash[0]); /* it was taken, or kept */
  tm_json_set(v, "name", tm_json_new_string(step->name));
  struct tm_json *definition = tm_json_copy(step->effective);

  tm_json_set(v, "script", tm_json_new_string(snapshot->script));
  if (step->needs_len > 0) {
    struct tm_json *needs = tm_json_set(v, "needs", tm_json_new(TM_JSON_ARRAY));
    for (size_t i = 0; i < step->needs_len; i++)
      tm_json_add(needs, tm_json_new_string(step->needs[i]->name));
  }
  tm_json_set(definition, "snapshot_hash", tm_json_new_string(snapshot->hash));
  tm_json_set(v, "definition", definition);
  return v;
}

int tm_job_record_write(const struct tm_job_dir *d, const struct tm_pipeline *pipeline,
                        const struct tm_snapshot *snapshots, const struct tm_json *command,
                        struct tm_err *err)
{
  tm_require(d->path && d->lock >= 0 && pipeline);
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *steps = tm_json_new(TM_JSON_ARRAY);
  struct tm_buf now = TM_BUF_NONE;
  int rc;

  tm_time_iso(&now, tm_clock_wall_ns());
  tm_json_set(v, "version", tm_json_new_int(VERSION));
  tm_json_set(v, "tidemill", tm_json_new_string(TM_VERSION));
  tm_json_set(v, "name", tm_json_new_string(pipeline->name));
  tm_json_set(v, "description", tm_json_new_string(pipeline->description));
  tm_json_set(v, "pipeline", tm_json_new_string(pipeline->file));
  tm_json_set(v, "submitted", tm_json_new_string(tm_buf_str(&now)));
  command = command ? command : pipeline->command;
  tm_json_set_copy(v, "command", command);
  tm_json_set_text(v, "only_failed", pipeline->only_failed);
  tm_json_set_copy(v, "source", pipeline->source);
  tm_json_set_copy(v, "params", pipeline->params);
  for (size_t i = 0; i < pipeline->steps_len; i++)
    tm_json_add(steps, step_record(pipeline->steps[i], &snapshots[i]));
  tm_json_set(v, "steps", steps);
  rc = write_json(d->fs, d->definition_file, v, err);
  tm_buf_release(&now);
  tm_json_free(v);
  return rc;
}

static void refuse_record(const char *path, const struct tm_err *why, struct tm_err *err)
{
  char *dir = tm_path_dir(path);
  struct tm_buf advice = TM_BUF_NONE;
  if (why->code == TM_EDAMAGE) {
    tm_buf_add_str(&advice, "; restore it, or start a new job; to remove this one: rm -r ");
    tm_text_shell(&advice, dir);
  }
  tm_err_set(err, why->code, "%s%s", why->text, tm_buf_str(&advice));
  tm_buf_release(&advice);
  free(dir);
}

static struct tm_json *read_record(const char *path, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  struct tm_json *v = read_json(path, &why);
  int64_t version =
      tm_json_int(v, "version", -1); /* -1: no version, so not a record of this program */

  if (!v)
    refuse_record(path, &why, err);
  if (v && version != VERSION) {
    tm_err_set(err, TM_EVERSION, "'%s' is of version %" PRId64 "; this tidemill reads version %d",
               path, version, VERSION);
    tm_json_free(v);
    v = NULL;
  }
  return v;
}

struct tm_json *tm_job_record_read(const struct tm_job_dir *d, struct tm_err *err)
{
  return read_record(d->definition_file, err);
}

struct tm_json *tm_job_record_load(const char *dir, struct tm_err *err)
{
  char *path = tm_path_join(dir, "job.json");
  struct tm_json *v = read_record(path, err);

  free(path);
  return v;
}

/* A job without a result is an interrupted one. */
static void advise_removal(const char *path, struct tm_err *err)
{
  struct tm_buf advice = TM_BUF_NONE;

  tm_buf_add_str(&advice, "; without it the job counts as interrupted, and can be resumed; to "
                          "remove it: rm ");
  tm_text_shell(&advice, path);
  tm_err_append(err, tm_buf_str(&advice));
  tm_buf_release(&advice);
}

struct tm_json *tm_job_result_load(const char *dir, struct tm_err *err)
{
  char *path = tm_path_join(dir, "job_result.json");
  bool is_there = tm_fs_exists(tm_fs_real(), path);
  struct tm_json *v = is_there ? read_json(path, err) : NULL;

  if (is_there && !v && err && err->code == TM_EDAMAGE)
    advise_removal(path, err);
  free(path);
  return v;
}

const struct tm_json *tm_job_record_step(const struct tm_json *record, const char *name)
{
  tm_require(name);
  const struct tm_json *steps = tm_json_get(record, "steps");

  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++)
    if (strcmp(tm_json_str(steps->list.at[i], "name", ""), name) == 0)
      return steps->list.at[i];
  return NULL;
}

const char *tm_job_record_rows_file(const struct tm_json *step)
{
  const struct tm_json *settings = tm_json_get(tm_json_get(step, "definition"), "settings");
  const char *action = tm_json_str(tm_json_get(settings, "output_action"), "value", "append_row");

  if (strcmp(action, "append_row") != 0)
    return NULL;
  return tm_json_str(tm_json_get(settings, "append_row_file_name"), "value",
                     "parallel_run_step.txt");
}

static struct tm_json *numbers(int64_t total, int64_t succeeded, int64_t failed)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(v, "total", tm_json_new_int(total));
  tm_json_set(v, "succeeded", tm_json_new_int(succeeded));
  tm_json_set(v, "failed", tm_json_new_int(failed));
  return v;
}

/* Where the output is now: incomplete rows are in a file whose name ends in .partial. */
static struct tm_json *output_of(const struct tm_step_view *s)
{
  struct tm_buf path = TM_BUF_NONE;
  struct tm_json *v;

  tm_buf_add_str(&path, s->output_file ? s->output_file : s->output_dir);
  if (s->output_file && s->verdict != TM_COMPLETED)
    tm_buf_add_str(&path, ".partial");
  v = tm_json_new_string(tm_buf_str(&path));
  tm_buf_release(&path);
  return v;
}

/* The outputs that have names; NULL: none has. */
static struct tm_json *outputs_of(const struct tm_step_view *s)
{
  struct tm_json *list = NULL;
  struct tm_output_view o;

  for (size_t i = 0; tm_step_view_output(&o, s, i); i++) {
    struct tm_buf path = TM_BUF_NONE;
    struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
    tm_step_view_add_folder(&path, s, &o);
    tm_json_set(v, "name", tm_json_new_string(o.name));
    tm_json_set(v, "path", tm_json_new_string(tm_buf_str(&path)));
    tm_json_set_text(v, "destination", o.destination);
    list = list ? list : tm_json_new(TM_JSON_ARRAY);
    tm_json_add(list, v);
    tm_buf_release(&path);
  }
  return list;
}

struct tm_json *tm_step_result_new(const struct tm_step_view *s)
{
  const struct tm_counts *c = &s->counts;
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *mini_batches, *outputs;
  bool is_nothing = s->is_idle && s->verdict != TM_COMPLETED;

  tm_json_set(v, "name", tm_json_new_string(s->name));
  tm_json_set(v, "status", tm_json_new_string(tm_verdict_name(s->verdict)));
  mini_batches = tm_json_set(v, "mini_batches", numbers(c->created, c->succeeded, c->failed));
  if (c->uncounted > 0)
    tm_json_set(mini_batches, "uncounted", tm_json_new_int(c->uncounted));
  tm_json_set(v, "items", numbers(c->items_created, c->items_succeeded, c->items_failed));
  tm_json_set(v, "reused", tm_json_new_bool(s->reused_from != NULL));
  tm_json_set_text(v, "reused_from", s->reused_from);
  tm_json_set(v, "output", is_nothing ? tm_json_new(TM_JSON_NULL) : output_of(s));
  if (!is_nothing && (outputs = outputs_of(s)))
    tm_json_set(v, "outputs", outputs);
  if (c->items_failed > 0) {
    char *list = tm_path_join(s->dir, "failed_items.jsonl");
    tm_json_set(v, "failed_items", tm_json_new_string(list));
    free(list);
  }
  if (*s->cause)
    tm_json_set(v, "cause", tm_json_new_string(s->cause));
  return v;
}

struct tm_json *tm_job_result_new(const struct tm_job_view *job)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *steps = tm_json_new(TM_JSON_ARRAY);

  tm_json_set(v, "status", tm_json_new_string(tm_verdict_name(job->verdict)));
  tm_json_set(v, "name", tm_json_new_string(job->name));
  tm_json_set(v, "pipeline", tm_json_new_string(job->pipeline_file));
  tm_json_set(v, "job_dir", tm_json_new_string(job->dir));
  if (*job->cause)
    tm_json_set(v, "cause", tm_json_new_string(job->cause));
  if (job->cancel && job->verdict == TM_CANCELED_JOB)
    tm_json_set(v, "canceled_by", tm_cancel_request_to_json(job->cancel));
  if (job->nodes)
    tm_json_set(v, "nodes", tm_nodes_sum_to_json(&job->nodes->sum));
  for (size_t i = 0; i < job->steps_len; i++)
    tm_json_add(steps, tm_step_result_new(job->steps[i]));
  tm_json_set(v, "steps", steps);
  return v;
}

#define STEP_RESULT "step_result.json"

int tm_step_result_put(const struct tm_fs *fs, const char *dir, const struct tm_json *result,
                       struct tm_err *err)
{
  char *path = tm_path_join(dir, STEP_RESULT);
  int rc = write_json(fs, path, result, err);

  free(path);
  return rc;
}

int tm_step_result_write(const struct tm_job_dir *d, const struct tm_step_view *step,
                         struct tm_err *err)
{
  tm_require(step->dir);
  struct tm_json *v = tm_step_result_new(step);
  int rc = tm_step_result_put(d->fs, step->dir, v, err);

  tm_json_free(v);
  return rc;
}

struct tm_json *tm_step_result_load(const char *dir)
{
  char *path = tm_path_join(dir, STEP_RESULT);
  struct tm_json *v = tm_fs_exists(tm_fs_real(), path) ? read_json(path, NULL) : NULL;

  free(path);
  return v;
}

int tm_step_result_remove(const struct tm_job_dir *d, const char *dir, struct tm_err *err)
{
  char *path = tm_path_join(dir, STEP_RESULT);
  int rc = d->fs->unlink(d->fs->self, path);

  if (rc < 0 && rc != -ENOENT)
    tm_err_system(err, rc, "cannot remove '%s'", path);
  else
    rc = tm_fs_sync_dir(d->fs, dir, err);
  free(path);
  return rc;
}

int tm_job_result_write(const struct tm_job_dir *d, const struct tm_json *result,
                        struct tm_err *err)
{
  tm_require(d->lock >= 0);
  return write_json(d->fs, d->result_file, result, err);
}

bool tm_job_result_is_completed(const struct tm_job_dir *d, struct tm_json **out)
{
  struct tm_json *v =
      tm_fs_exists(tm_fs_real(), d->result_file) ? read_json(d->result_file, NULL) : NULL;

  if (strcmp(tm_json_str(v, "status", ""), "Completed") == 0) {
    *out = v;
    return true;
  }
  tm_json_free(v);
  return false;
}
