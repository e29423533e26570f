/* launch.c - see launch.h. */
#include "cli/launch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/loading.h"

/* ---- options ---- */

static int read_max_workers(struct tm_launch *l, struct tm_err *err)
{
  tm_require(!l->rt && l->max_workers == 0);
  const char *given = l->o.max_workers;
  if (!given ||
      (tm_text_int(given, &l->max_workers) && l->max_workers >= 1 && l->max_workers <= INT32_MAX))
    return 0;
  return tm_err_set(err, TM_EUSAGE, "'--max-workers' is '%s'; accepted: an integer from 1 on",
                    given);
}

/* Reports a value that a later one replaces. The last value counts, so that a script can append one
 * to the words that it got. */
static void tell_replaced(const struct tm_words *params, size_t at)
{
  const char *given = params->at[at];
  size_t n = strcspn(given, "=");
  for (size_t i = at + 1; i < params->len; i++)
    if (strncmp(params->at[i], given, n + 1) == 0) {
      tm_cli_say("'--param %s' is replaced by '--param %s'", given, params->at[i]);
      return;
    }
}

/* Before the job runs: at its end, nobody could name another file. */
static int check_report(const char *file, struct tm_err *err)
{
  if (!file || !*file)
    return 0;
  if (strcmp(file, "-") == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "'--report' needs a file here; for standard output, when the job has ended: "
                      "tidemill report JOB -o -");
  return tidemill_report_check(file, false, err);
}

int tm_launch_init(struct tm_launch *l, const struct tm_cli *cli, struct tm_err *err)
{
  if (l->o.joblog && strcmp(l->o.joblog, "-") == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "'--joblog' needs a file here; for standard output, when the job has ended: "
                      "tidemill report JOB --joblog -");
  if (check_report(l->o.report, err) < 0)
    return err->code;
  for (size_t i = 0; i < l->o.params.len; i++)
    if (!tm_option_pair(l->o.params.at[i], err))
      return TM_EUSAGE;
  for (size_t i = 0; i < l->o.params.len; i++)
    tell_replaced(&l->o.params, i);
  int rc = read_max_workers(l, err);
  return rc < 0 ? rc : tm_cli_open_runtime(cli, &l->rt, err);
}

char *tm_launch_path(const char *given, struct tm_err *err)
{
  char *cwd = getcwd(NULL, 0), *path = cwd ? tm_path_absolute(cwd, given) : NULL;
  if (!path)
    tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
  free(cwd);
  return path;
}

int tm_launch_set_params(struct tm_launch *l, struct tm_err *err)
{
  int rc = 0;
  if (l->o.params_file) {
    struct tm_loading *loading =
        tm_loading_begin(TM_LOADING_PARAMETERS, l->o.params_file, "nothing has run");
    rc = tidemill_pipeline_set_params_file(l->pipeline, l->o.params_file, err);
    tm_loading_end(loading);
  }
  for (size_t i = 0; rc == 0 && i < l->o.params.len; i++) {
    const char *given = l->o.params.at[i], *value = tm_option_pair(given, err);
    tm_require(value > given); /* tm_launch_init() refuses others */
    char *name = tm_xstrndup(given, (size_t)(value - given) - 1);
    rc = tidemill_pipeline_set_param_from(l->pipeline, name, value, "--param", ".", err);
    free(name);
  }
  return rc;
}

/* ---- actions ---- */

int tm_launch_run(struct tm_launch *l, const struct tm_execute_hooks *hooks, void *data,
                  struct tm_err *err)
{
  const struct tm_launch_options *o = &l->o;
  struct tm_execute e = { .rt = l->rt,
                          .pipeline = l->pipeline,
                          .o = TIDEMILL_JOB_OPTIONS_INIT,
                          .progress = o->progress,
                          .json = o->json,
                          .anew = l->anew,
                          .hooks = hooks,
                          .data = data };
  e.o.dir = o->job_dir;
  e.o.resume = o->resume;
  e.o.keep_failed = o->keep_failed;
  e.o.accept_changes = o->accept_changes;
  e.o.verify_input = o->verify_input;
  e.o.verify_output = o->verify_output;
  e.o.max_workers = l->max_workers;
  e.o.no_reuse = o->no_reuse;
  e.o.keep_script = o->keep_script;
  e.o.joblog = o->joblog;
  e.report = o->report;
  tm_require(l->rt && l->pipeline);
  int rc = l->argc > 0 ? tm_command_line_record(l->pipeline, l->argc, l->argv, err) : 0;
  return rc < 0 ? rc : tm_execute(&e, err);
}

int tm_launch_plan(struct tm_launch *l, bool explain, struct tm_err *err)
{
  struct tidemill_plan_options o = TIDEMILL_PLAN_OPTIONS_INIT;
  struct tm_buf text = TM_BUF_NONE;
  const char *plan;
  if (l->o.resume)
    return tm_err_set(
        err, TM_EUSAGE,
        "'--dry-run' does not go with --resume; tidemill status JOB says what is done");
  o.json = l->o.json;
  o.explain = explain;
  o.no_reuse = l->o.no_reuse;
  int rc = tidemill_pipeline_plan(&plan, l->pipeline, &o, err);
  if (rc < 0)
    return rc;
  tm_buf_printf(&text, "%s%s", plan, o.json ? "\n" : "");
  return tm_cli_write_and_release(&text);
}

void tm_launch_release(struct tm_launch *l)
{
  TM_ARRAY_RELEASE(&l->o.params);
  free(l->anew);
  tidemill_pipeline_free(l->pipeline);
  tidemill_runtime_close(l->rt, NULL);
}

int tm_launch_status(int rc, const struct tm_err *err)
{
  if (rc >= 0)
    return rc;
  tm_cli_say("%s", err->text);
  return tm_execute_status_of(rc);
}
