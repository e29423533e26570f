/* logs.c - `tidemill logs JOB`: its log files as one, in the order of time.
 *
 * Without options: what `docker logs` shows of a container and `journalctl` of a machine: everything that was said, from the
 * beginning. That is the supervisor's log, errors of the script with their stacks, its logger, and what it printed, which has
 * the name of its file before each line. A row for each try is left out: it may be millions; --worker and --mini-batch show it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "cli/logs_show.h"
#include "run/job_record.h"
#include "run/survey.h"

struct logs_options {
  bool follow, errors;
  const char *step, *worker, *mini_batch;
};

#define PLACE(field) offsetof(struct logs_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "follow", TM_OPTION_FLAG, PLACE(follow), NULL, NULL, "goes on with what is written, until the job ends" },
  { "f", TM_OPTION_FLAG, PLACE(follow), NULL, NULL, "the same" },
  { "errors", TM_OPTION_FLAG, PLACE(errors), NULL, NULL, "errors with their stacks, warnings, and why workers and the job ended" },
  { "worker", TM_OPTION_VALUE, PLACE(worker), "NAME", NULL, "all there is of one worker (process000), its tries too" },
  { "mini-batch", TM_OPTION_VALUE, PLACE(mini_batch), "N", NULL, "all there is of one mini-batch: its tries, and what their workers logged meanwhile" },
  { "step", TM_OPTION_VALUE, PLACE(step), "NAME", NULL, "of one step; without it of all, with their names where there are several" },
};
/* clang-format on */

static int logs(const struct tm_cli *cli, int argc, char **argv);
static void add_help(struct tm_buf *out);

const struct tm_command tm_command_logs = {
  .name = "logs",
  .run = logs,
  .usage = "JOB [--follow] [--errors] [--worker NAME] [--mini-batch N] [--step NAME]",
  .summary = "shows what a job, its workers and its script have said",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .add_help = add_help,
};

static void add_help(struct tm_buf *out)
{
  tm_buf_add_str(
      out,
      "Without options: the supervisor's log, errors of the script with their stacks, its "
      "logger, and what it\nprinted, which has the name of its worker before each line; in the "
      "order of time. Nothing of the job is\nchanged, and it may be running.\n\n");
  tm_options_add_help(out, options, TM_COUNT_OF(options));
}

static int refuse_name(const char *what, const char *given, const char *const *names, size_t n,
                       struct tm_err *err)
{
  struct tm_buf all = TM_BUF_NONE;
  const char *nearest = tm_text_nearest(given, names, n);
  for (size_t i = 0; i < n && i < 20; i++)
    tm_buf_printf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
  if (nearest && n > 20)
    tm_err_set(err, TM_EUSAGE, "there is no %s '%s'; did you mean '%s'?", what, given, nearest);
  else
    tm_err_set(err, TM_EUSAGE, "there is no %s '%s'; there is: %s%s", what, given,
               n > 0 ? tm_buf_str(&all) : "none yet", n > 20 ? ", ..." : "");
  tm_buf_release(&all);
  return TM_EUSAGE;
}

static void add_step(struct tm_logs *l, const char *name)
{
  *TM_ARRAY_ADD(&l->steps) =
      (struct tm_logs_step) { .name = tm_xstrdup(name),
                              .logs_dir = tm_xprintf("%s/%s/logs", l->dir, name) };
}

static int find_steps(struct tm_logs *l, const struct tm_json *record, const char *wanted,
                      struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(record, "steps");
  struct TM_ARRAY(const char *) names = { 0 };
  int rc = 0;
  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++)
    *TM_ARRAY_ADD(&names) = tm_json_str(steps->list.at[i], "name", "");
  for (size_t i = 0; i < names.len; i++)
    if (!wanted || strcmp(names.at[i], wanted) == 0)
      add_step(l, names.at[i]);
  l->shows_names = l->steps.len > 1;
  if (names.len == 0)
    rc = tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: it has no list of steps", l->dir);
  else if (l->steps.len == 0)
    rc = refuse_name("step", wanted, names.at, names.len, err);
  TM_ARRAY_RELEASE(&names);
  return rc;
}

/* Of any of the steps. A job that runs may start it yet. */
static int check_worker(const struct tm_logs *l, struct tm_err *err)
{
  struct TM_ARRAY(const char *) all = { 0 };
  bool is_found = false;
  int rc = 0;
  for (size_t i = 0; i < l->steps.len; i++) {
    const char *const *names;
    size_t n = tm_log_set_workers(l->steps.at[i].set, &names);
    for (size_t k = 0; k < n; k++) {
      is_found = is_found || strcmp(names[k], l->choice.worker) == 0;
      *TM_ARRAY_ADD(&all) = names[k];
    }
  }
  if (!is_found)
    rc = refuse_name("worker", l->choice.worker, all.at, all.len, err);
  TM_ARRAY_RELEASE(&all);
  return rc;
}

/* A step that was reused has its logs where it was run. */
static void say_none(const struct tm_logs *l)
{
  bool is_said = false;
  for (size_t i = 0; i < l->steps.len; i++) {
    char *dir = tm_path_join(l->dir, l->steps.at[i].name);
    struct tm_json *result = tm_step_result_load(dir);
    const char *from = tm_json_str(result, "reused_from", NULL);
    if (from)
      tm_cli_say("step '%s' was reused from job '%s': its logs are there", l->steps.at[i].name,
                 from);
    is_said = is_said || from;
    tm_json_free(result);
    free(dir);
  }
  if (!is_said)
    tm_cli_say("job '%s' has no logs yet", l->dir);
}

static int show_all(struct tm_logs *l, struct tm_err *err)
{
  size_t found = 0;
  for (size_t i = 0; i < l->steps.len; i++) {
    l->steps.at[i].set = tm_log_set_new(l->steps.at[i].logs_dir, &l->choice, NULL, NULL);
    tm_log_set_finish(l->steps.at[i].set);
    found += tm_log_set_count(l->steps.at[i].set);
  }
  if (l->choice.worker && check_worker(l, err) < 0)
    return err->code;
  if (found == 0)
    say_none(l);
  return tm_logs_show(l);
}

static int show(struct tm_logs *l, const struct logs_options *o, struct tm_err *err)
{
  struct tm_json *record = tm_job_record_load(l->dir, err);
  int rc = record ? find_steps(l, record, o->step, err) : err->code;
  tm_json_free(record);
  if (rc < 0)
    return rc;
  if (o->mini_batch)
    return tm_logs_show_mini_batch(l, err);
  return o->follow && tm_survey_is_running(l->dir, NULL, NULL) ? tm_logs_follow(l, err)
                                                               : show_all(l, err);
}

static void release(struct tm_logs *l)
{
  for (size_t i = 0; i < l->steps.len; i++) {
    tm_log_set_free(l->steps.at[i].set);
    free(l->steps.at[i].name);
    free(l->steps.at[i].logs_dir);
  }
  TM_ARRAY_RELEASE(&l->steps);
  tm_buf_release(&l->out);
  free(l->dir);
}

static int read_options(struct logs_options *o, struct tm_words *rest, int argc, char **argv,
                        struct tm_log_choice *c, struct tm_err *err)
{
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, o, rest, err);
  if (rc < 0 || (rc = tm_cli_one_job(rest, err)) < 0)
    return rc;
  *c = (struct tm_log_choice) { .worker = o->worker, .errors = o->errors, .mini_batch = -1 };
  if (o->mini_batch && (!tm_text_int(o->mini_batch, &c->mini_batch) || c->mini_batch < 0))
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' is \"%s\"; accepted: a number from 0 on",
                      o->mini_batch);
  if (o->mini_batch && (o->follow || o->errors || o->worker))
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' goes with '--step' alone");
  return 0;
}

static int logs(const struct tm_cli *cli, int argc, char **argv)
{
  struct logs_options o = { 0 };
  struct tm_logs l = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = read_options(&o, &rest, argc, argv, &l.choice, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_logs, &err);
  }
  l.dir = tm_cli_find_job(cli, rest.at[0], &err);
  rc = l.dir ? show(&l, &o, &err) : err.code;
  TM_ARRAY_RELEASE(&rest);
  release(&l);
  return tm_cli_end(rc, &err);
}
