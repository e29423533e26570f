/* like.c - see like.h. */
#include "cli/like.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "plan/resume.h"
#include "run/failed_source.h"
#include "run/job_record.h"
#include "store/jobs.h"
#include "store/workspace.h"

int tm_like_open(struct tm_like *like, struct tm_launch *l, const char *job, bool has_file,
                 struct tm_err *err)
{
  like->dir = tm_jobs_find(l->cli->fs, job, getenv(TM_WORKSPACE_VARIABLE), l->cwd, err);
  like->record = like->dir ? tm_job_record_load(like->dir, err) : NULL;
  if (!like->record)
    return tm_err_wrap(err, "--like");
  like->file = tm_json_str(like->record, "pipeline", NULL);
  if (!like->file && !has_file)
    return tm_err_set(err, TM_EUSAGE,
                      "--like: job '%s' was not begun from a pipeline file; run the command that "
                      "began it once more",
                      like->dir);
  tm_submitted_add_used(&l->submitted, like->record, tm_path_base(like->dir));
  return 0;
}

static void say_changes(const struct tm_step *step, const struct tm_json *before)
{
  struct tm_changes changes = { 0 };
  tm_resume_compare(before, step->effective, &changes);
  for (size_t i = 0; i < changes.len; i++)
    tm_cli_say("note: step '%s': %s was %s, and is %s", step->name, changes.at[i].key,
               changes.at[i].before, changes.at[i].now);
  tm_changes_release(&changes);
}

static bool has_step(const struct tm_pipeline *p, const char *name)
{
  for (size_t i = 0; i < p->steps_len; i++)
    if (strcmp(p->steps[i]->name, name) == 0)
      return true;
  return false;
}

static void say_gone(const struct tm_pipeline *p, const struct tm_json *steps)
{
  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++) {
    const char *name = tm_json_str(steps->list.at[i], "name", "");
    if (!has_step(p, name))
      tm_cli_say("note: the pipeline has no step '%s' any more", name);
  }
}

int tm_like_apply(const struct tm_like *like, struct tm_pipeline *p, bool takes_items,
                  struct tm_err *err)
{
  if (takes_items && tm_failed_source_again(like->record, p, err) < 0)
    return tm_err_wrap(err, "--like");
  for (size_t i = 0; i < p->steps_len; i++) {
    const struct tm_json *old = tm_job_record_step(like->record, p->steps[i]->name);
    if (old)
      say_changes(p->steps[i], tm_json_get(old, "definition"));
    else
      tm_cli_say("note: step '%s' is not in job '%s'", p->steps[i]->name, like->dir);
  }
  say_gone(p, tm_json_get(like->record, "steps"));
  return 0;
}

void tm_like_release(struct tm_like *like)
{
  tm_json_free(like->record);
  free(like->dir);
}
