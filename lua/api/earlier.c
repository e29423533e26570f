/* earlier.c - takes parts of a definition from earlier jobs: the whole definition (load_job),
 * values of its parameters (set_like), its items (set_only_failed).
 *
 * It applies them when the definition is settled, because the file and the parameters may change
 * until then.
 */
#include "api/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "job/failed_source.h"
#include "record/job_record.h"
#include "snapshot/resume.h"

void tm_draft_release_earlier(struct tidemill_pipeline *p)
{
  free(p->job);
  free(p->like);
  free(p->only_failed);
  tm_json_free(p->like_record);
}

/* Adds a parameter with its value in a job. NULL: there is no value. */
static struct tm_param *add_value(struct tidemill_pipeline *p, const char *name,
                                  const struct tm_json *value)
{
  if (!value || value->type == TM_JSON_NULL)
    return NULL;
  struct tm_param *param = tm_draft_param(p, name);
  param->tree = tm_json_copy(value);
  return param;
}

/* ---- the whole definition ---- */

static int refuse_without_source(const struct tidemill_runtime *rt, const char *dir,
                                 struct tm_err *err)
{
  char *word = tm_text_shell_word(dir);
  tm_err_set(err, TM_EUSAGE,
             rt->is_command
                 ? "the record of job '%s' does not hold its definition: it has no pipeline "
                   "file, and values of environment variables are not recorded; run the "
                   "command that started it again, with --resume --job-dir %s"
                 : "the record of job '%s' does not hold its definition: it has no pipeline "
                   "file, and values of environment variables are not recorded; submit its "
                   "pipeline again with `dir` '%s' and `resume`",
             dir, rt->is_command ? word : dir);
  free(word);
  return err->code;
}

static void tell_moved(const char *dir, struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_buf_add_str(&words, "; if it has moved: tidemill run PIPELINE.lua --resume --job-dir ");
  tm_text_shell(&words, dir);
  tm_buf_add_str(&words, " --accept-changes"); /* its paths are others */
  tm_err_append(err, tm_buf_str(&words));
  tm_buf_release(&words);
}

/* Loads the pipeline file as it is now; without one, the definition in the record. */
static int load_definition(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                           const char *dir, const struct tm_json *record, struct tm_err *err)
{
  const char *file = tm_json_str(record, "pipeline", NULL);
  const struct tm_json *source = tm_json_get(record, "source");
  if (!file && !source)
    return refuse_without_source(rt, dir, err);
  int rc =
      file ? tidemill_pipeline_load(out, rt, file, err) : tm_draft_of_source(out, rt, source, err);
  if (rc < 0)
    tm_err_wrap(err, "cannot resume job '%s'", dir);
  if (rc < 0 && file && rt->is_command && !tm_fs_exists(rt->fs, file))
    tell_moved(dir, err);
  return rc < 0 ? rc : 0;
}

int tidemill_pipeline_load_job(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                               const char *job, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_pipeline_load_job()", "out", out, "rt", rt, "job", job, NULL) < 0)
    return TM_EUSAGE;
  char *dir = tm_runtime_job(rt, job, err);
  struct tm_json *record = dir ? tm_job_record_load(dir, err) : NULL;
  const struct tm_json *params = tm_json_get(record, "params");
  int rc = record ? load_definition(out, rt, dir, record, err) : err->code;
  for (size_t i = 0; rc == 0 && params && params->type == TM_JSON_OBJECT && i < params->list.len;
       i++) {
    struct tm_param *param = add_value(*out, params->keys[i], params->list.at[i]);
    if (param)
      param->origin = tm_xstrdup("the job's record");
  }
  if (rc == 0)
    (*out)->job = dir;
  else
    free(dir);
  tm_json_free(record);
  return rc;
}

/* ---- values ---- */

static void add_used(struct tidemill_pipeline *p, const struct tm_json *used)
{
  for (size_t i = 0; used && used->type == TM_JSON_OBJECT && i < used->list.len; i++) {
    struct tm_param *param = add_value(p, used->keys[i], tm_json_get(used->list.at[i], "value"));
    if (!param)
      continue;
    param->origin = tm_xprintf("job %s", tm_path_base(p->like));
    param->is_optional = true;
  }
}

int tidemill_pipeline_set_like(struct tidemill_pipeline *p, const char *job, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_set_like()", "p", p, "job", job, NULL) < 0)
    return TM_EUSAGE;
  char *dir = tm_runtime_job(p->rt, job, err);
  struct tm_json *record = dir ? tm_job_record_load(dir, err) : NULL;
  if (!record) {
    free(dir);
    tm_err_wrap(err, "`like`");
    return tm_words_for_host(p->rt, err);
  }
  free(p->like);
  tm_json_free(p->like_record);
  p->like = dir;
  p->like_record = record;
  tm_draft_changed(p); /* even if the job has no parameters */
  const struct tm_json *steps = tm_json_get(record, "steps");
  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++)
    add_used(p, tm_json_get(tm_json_get(steps->list.at[i], "definition"), "parameters"));
  return 0;
}

static void note(const struct tidemill_pipeline *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void note(const struct tidemill_pipeline *p, const char *fmt, ...)
{
  const struct tidemill_runtime_options *o = &p->rt->o;
  struct tm_buf words = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&words, fmt, ap);
  va_end(ap);
  if (o->on_log)
    o->on_log(TIDEMILL_LEVEL_INFO, tm_buf_str(&words), o->data);
  tm_buf_release(&words);
}

static void tell_changes(const struct tidemill_pipeline *p, const struct tm_step *step)
{
  const struct tm_json *old = tm_job_record_step(p->like_record, step->name);
  struct tm_changes changes = { 0 };
  if (!old) {
    note(p, "step '%s' is not in job '%s'", step->name, p->like);
    return;
  }
  tm_resume_compare(tm_json_get(old, "definition"), step->effective, &changes);
  for (size_t i = 0; i < changes.len; i++)
    note(p, "step '%s': %s was %s, and is %s", step->name, changes.at[i].key, changes.at[i].before,
         changes.at[i].now);
  tm_changes_release(&changes);
}

static bool has_step(const struct tm_pipeline *p, const char *name)
{
  for (size_t i = 0; i < p->steps_len; i++)
    if (strcmp(p->steps[i]->name, name) == 0)
      return true;
  return false;
}

void tm_draft_tell_earlier(const struct tidemill_pipeline *p, const struct tm_pipeline *settled)
{
  const struct tm_json *steps = tm_json_get(p->like_record, "steps");
  for (size_t i = 0; p->like && i < settled->steps_len; i++)
    tell_changes(p, settled->steps[i]);
  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++) {
    const char *name = tm_json_str(steps->list.at[i], "name", "");
    if (!has_step(settled, name))
      note(p, "the pipeline has no step '%s' any more", name);
  }
}

/* ---- items ---- */

/* 1: there are no failed items. */
static int take_failed(const struct tidemill_pipeline *p, struct tm_pipeline *settled,
                       struct tm_err *err)
{
  struct tm_failed_source s;
  char *cwd = tm_api_here(err);
  int rc = cwd ? tm_failed_source_open(&s, p->rt->fs, p->only_failed, NULL, cwd, err) : err->code;
  if (rc == 0)
    rc = tm_failed_source_apply(&s, settled, err);
  if (cwd)
    tm_failed_source_release(&s);
  free(cwd);
  return rc < 0 ? tm_err_wrap(err, "`only_failed`") : rc;
}

static int say_nothing_to_do(const struct tidemill_pipeline *p, int code, struct tm_err *err)
{
  return tm_err_set(err, code, "nothing to do: no item failed in job '%s'", p->only_failed);
}

int tm_draft_take_earlier(const struct tidemill_pipeline *p, struct tm_pipeline *settled,
                          struct tm_err *err)
{
  int rc = 0;
  if (p->only_failed)
    rc = take_failed(p, settled, err);
  else if (p->like && tm_failed_source_again(p->like_record, settled, err) < 0)
    rc = tm_err_wrap(err, "`like`");
  return rc > 0 ? say_nothing_to_do(p, TM_ENOINPUT, err) : rc;
}

int tidemill_pipeline_set_only_failed(struct tidemill_pipeline *p, const char *job,
                                      struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_set_only_failed()", "p", p, "job", job, NULL) < 0)
    return TM_EUSAGE;
  char *dir = tm_runtime_job(p->rt, job, err);
  if (!dir) {
    tm_err_wrap(err, "`only_failed`");
    return tm_words_for_host(p->rt, err);
  }
  free(p->only_failed);
  p->only_failed = dir;
  tm_draft_changed(p);
  struct tm_pipeline *settled = tm_draft_define(p, err);
  int rc = settled ? take_failed(p, settled, err) : err->code;
  tm_pipeline_free(settled);
  if (rc > 0) {
    say_nothing_to_do(p, TM_ENOINPUT, err);
    err->code = 0; /* a message, but no error */
  }
  if (rc < 0)
    return tm_words_for_host(p->rt, err);
  return rc > 0 ? TIDEMILL_ONLY_FAILED_NONE : TIDEMILL_ONLY_FAILED_SOME;
}
