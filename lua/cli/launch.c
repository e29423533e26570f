/* launch.c - see launch.h.
 *
 *   pipeline file -> tree -> pipeline (checked) -> scripts (compiled) -> job directory -> job, reported -> exit status
 */
#include "cli/launch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/plan.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/execute.h"
#include "runtime.h"
#include "store/workspace.h"

/* What was asked for. */

static int read_max_workers(struct tm_launch *l, struct tm_err *err)
{
  const char *given = l->o.max_workers;
  if (!given ||
      (tm_text_int(given, &l->max_workers) && l->max_workers >= 1 && l->max_workers <= INT32_MAX))
    return 0;
  return tm_err_set(err, TM_EUSAGE, "'--max-workers' is '%s'; accepted: an integer from 1 on",
                    given);
}

int tm_launch_init(struct tm_launch *l, const struct tm_cli *cli, struct tm_err *err)
{
  l->cli = cli;
  l->cwd = getcwd(NULL, 0);
  if (!l->cwd)
    return tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
  if (read_max_workers(l, err) < 0 ||
      tm_submitted_add_words(&l->submitted, &l->o.params, l->cwd, err) < 0)
    return err->code;
  return l->o.params_file ? tm_submitted_add_file(&l->submitted, l->o.params_file, l->cwd, err) : 0;
}

static void on_note(void *data, const char *words)
{
  tm_cli_say("note: %s", words);
}

void tm_launch_find_workspace(struct tm_launch *l)
{
  const char *named = getenv(TM_WORKSPACE_VARIABLE);
  char *dir = named && *named ? tm_xstrdup(l->cwd) : tm_path_dir(l->pipeline->file);
  free(l->workspace);
  l->workspace = tm_workspace_look(l->cli->fs, named, dir);
  free(dir);
}

int tm_launch_load(struct tm_launch *l, const char *file, struct tm_err *err)
{
  struct tm_json *tree = tm_lua_load_pipeline(file, on_note, NULL, err);
  if (!tree)
    return err->code;
  l->pipeline =
      tm_pipeline_from_json(tree, file, l->submitted.given.at, l->submitted.given.len, err);
  tm_json_free(tree);
  if (!l->pipeline)
    return err->code;
  return l->o.keep_script ? 0 : tm_draft_check_scripts(l->pipeline, err);
}

int tm_launch_check_resume(const struct tm_pipeline *p, bool resume, bool keep_failed,
                           bool accept_changes, bool verify_input, struct tm_err *err)
{
  const char *alone = keep_failed      ? "keep-failed"
                      : accept_changes ? "accept-changes"
                      : verify_input   ? "verify-input"
                                       : NULL;
  for (size_t i = 0; i < p->steps_len; i++)
    resume = resume || p->steps[i]->config.resume_from;
  return resume || !alone
             ? 0
             : tm_err_set(err, TM_EUSAGE,
                          "'--%s' goes with --resume, or with --resume_from among the arguments",
                          alone);
}

static void on_warning(void *data, const char *words)
{
  tm_cli_say("warning: %s", words);
}

int tm_launch_say_plan(const struct tm_plan *plan, struct tm_err *err)
{
  struct tm_plan told = *plan;
  struct tm_buf text = TM_BUF_NONE;
  told.on_warning = on_warning;
  int rc = tm_plan_add(&text, &told, err);
  if (rc == 0 && plan->json)
    tm_buf_add_char(&text, '\n');
  if (rc == 0)
    rc = tm_cli_write(&text);
  tm_buf_release(&text);
  return rc;
}

int tm_launch_refuse_dry_resume(struct tm_err *err)
{
  return tm_err_set(err, TM_EUSAGE,
                    "'--dry-run' does not go with --resume; tidemill status JOB says what is done");
}

/* The command that goes on with the job, to be freed: file and parameters are in the job's record. */
static char *again(const struct tm_launch *l)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, "tidemill resume ");
  tm_text_shell(&text, l->dir);
  return tm_buf_take(&text);
}

int tm_launch_run(struct tm_launch *l, char *dir, struct tm_err *err)
{
  struct tm_execute e = { .cli = l->cli,
                          .pipeline = l->pipeline,
                          .dir = dir,
                          .resume = l->o.resume,
                          .keep_failed = l->o.keep_failed,
                          .accept_changes = l->o.accept_changes,
                          .verify_input = l->o.verify_input,
                          .has_stdin = l->o.has_stdin,
                          .max_workers = l->max_workers,
                          .no_reuse = l->o.no_reuse,
                          .keep_script = l->o.keep_script,
                          .progress = l->o.progress,
                          .json = l->o.json };
  char *command;
  int rc;
  l->dir = dir;
  tm_launch_find_workspace(l);
  e.workspace = l->workspace;
  e.again = command = again(l);
  rc = tm_execute(&e, err);
  free(command);
  return rc;
}

void tm_launch_release(struct tm_launch *l)
{
  tm_submitted_release(&l->submitted);
  TM_ARRAY_RELEASE(&l->o.params);
  tm_pipeline_free(l->pipeline);
  free(l->workspace);
  free(l->cwd);
  free(l->dir);
}

int tm_launch_status(int rc, const struct tm_err *err)
{
  if (rc >= 0)
    return rc;
  tm_cli_say("%s", err->text);
  return tm_execute_status_of(rc);
}
