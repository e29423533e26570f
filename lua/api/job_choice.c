/* job_choice.c - see job_choice.h. */
#include "api/job_choice.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "store/trust.h"
#include "store/workspace.h"
#include "sys/clock.h"

/* `other`: a job of that name that is not the pipeline's; or NULL. */
static char *note_of(const struct tm_job_choice *c, const char *other)
{
  struct tm_buf text = TM_BUF_NONE;

  tm_buf_printf(&text,
                "no job of '%s' is left to resume in the workspace '%s': a new one is started",
                c->pipeline->name, c->workspace);
  if (other) {
    tm_buf_printf(&text, "; '%s' has that name, but another pipeline file; to resume it: ", other);
    tm_buf_add_str(&text, "tidemill resume ");
    tm_text_shell(&text, other);
  }
  return tm_buf_take(&text);
}

char *tm_job_choose(const struct tm_job_choice *c, char **note, struct tm_err *err)
{
  const struct tm_pipeline *p = c->pipeline;
  char *dir = NULL, *other = NULL;

  *note = NULL;
  if (c->resume)
    dir = tm_workspace_find_open_job(c->fs, c->workspace, p->name, p->file ? p->file : "", &other);
  if (dir && !c->is_named && tm_trust_job(c->fs, dir, err) < 0) {
    free(dir);
    dir = NULL;
  } else if (!dir) {
    dir = tm_workspace_new_job(c->fs, c->workspace, p->name, tm_clock_wall_ns(), err);
    *note = c->resume ? note_of(c, other) : NULL;
  }
  free(other);
  return dir;
}

void tm_job_choice_explain(const struct tm_pipeline *p, const char *dir, bool is_command,
                           struct tm_err *err)
{
  tm_err_append(err, is_command ? "; to resume another job: --job-dir DIR"
                                : "; to resume another job, give its directory as `dir`");
  tm_err_wrap(err, "the newest job of '%s' that is not Completed is '%s'", p->name, dir);
}
