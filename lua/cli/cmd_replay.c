/* cmd_replay.c - `tidemill replay JOB --mini-batch N`: runs a mini-batch of a job again, in this
 * process.
 *
 *   tidemill_script_load_again(): its script, its items, its settings -> foreground.c -> rows, or
 *   the error with its stack
 *
 * The script gets new folders to write to, also as its current directory. run_invocation_timeout
 * and init_timeout show where it hangs (foreground.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/foreground.h"
#include "cli/loading.h"
#include "cli/parameter_options.h"

struct replay_options {
  const char *step, *mini_batch;
  bool no_timeout;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "mini-batch", TM_OPTION_VALUE, offsetof(struct replay_options, mini_batch), "N", NULL, "the number of the mini-batch, from 0; errors and processed_mini-batches.csv name it" },
  { "step", TM_OPTION_VALUE, offsetof(struct replay_options, step), "NAME", NULL, "the step; needed if the job has several" },
  { "no-timeout", TM_OPTION_FLAG, offsetof(struct replay_options, no_timeout), NULL, NULL, "ignores the job's run_invocation_timeout and init_timeout, for debugging" },
};
/* clang-format on */

static int replay(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_replay = {
  .name = "replay",
  .run = replay,
  .usage = "[JOB] --mini-batch N [--step NAME] [--no-timeout]",
  .summary = "runs one mini-batch of a job again, in this process",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "Exit status: 0 all items succeeded; 1 the script failed, or an item did\n"
          "(context:fail(), no element for it, or an entry or row that cannot be read),\n"
          "whatever error_threshold allows; 130 it was interrupted.\n",
};

static int run_it(struct tm_foreground *f, int64_t index, struct tm_err *err)
{
  const struct tidemill_script_info *info = tidemill_script_info(f->script);
  char what[64];
  tm_cli_say("step '%s' of job '%s', which is not changed", info->step, info->job);
  tm_foreground_say_folders(f);
  tm_foreground_place(f);
  if (chdir(info->working_dir) < 0)
    return tm_err_set(err, TM_EUSAGE, "the working directory '%s' of the job is gone",
                      info->working_dir);
  snprintf(what, sizeof(what), "mini-batch %" PRId64, index);
  int rc = tidemill_script_next(f->script, NULL, err);
  return rc < 0 ? rc : tm_foreground_run(f, what, err);
}

/* A job that cannot be read is reported when its script is loaded. */
static bool is_of_map(const struct tm_cli *cli, const char *job)
{
  struct tm_err unheard = TM_ERR_NONE;
  struct tidemill_record *record = NULL;
  bool yes =
      tm_cli_open_record(cli, &record, job, &unheard) >= 0 && tm_command_line_defines(record);
  tidemill_record_close(record);
  return yes;
}

static int replay_it(const struct tm_cli *cli, const char *job, int64_t index,
                     const struct replay_options *o, struct tm_err *err)
{
  struct tm_foreground f = { 0 };
  struct tidemill_script_options how = tm_foreground_options(&f, o->step, o->no_timeout);
  struct tidemill_runtime *rt = NULL;
  int rc = tm_cli_open_runtime(cli, &rt, err);
  tm_foreground_open(&f);
  f.names_options = is_of_map(cli, job);
  struct tm_loading *l = tm_loading_begin_job(cli, job, "the mini-batch has not run");
  if (rc >= 0)
    rc = tidemill_script_load_again(&f.script, rt, job, index, &how, err);
  tm_loading_end(l);
  if (rc >= 0)
    rc = run_it(&f, index, err);
  if (rc < 0 && f.names_options)
    tm_parameter_words_in_error(err);
  tm_foreground_close(&f);
  tidemill_runtime_close(rt, NULL);
  return rc;
}

static int read_options(struct replay_options *o, struct tm_words *rest, int argc, char **argv,
                        int64_t *index, struct tm_err *err)
{
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, o, rest, err);
  if (rc < 0 || (rc = tm_cli_one_job(rest, err)) < 0)
    return rc;
  if (!o->mini_batch)
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' is missing; accepted: a number from 0 on");
  if (!tm_text_int(o->mini_batch, index) || *index < 0)
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' is \"%s\"; accepted: a number from 0 on",
                      o->mini_batch);
  return 0;
}

static int replay(const struct tm_cli *cli, int argc, char **argv)
{
  struct replay_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int64_t index = 0;
  int rc = read_options(&o, &rest, argc, argv, &index, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_replay, &err);
  }
  rc = replay_it(cli, rest.at[0], index, &o, &err);
  TM_ARRAY_RELEASE(&rest);
  return tm_cli_end(rc, &err);
}
