/* replay.c - `tidemill replay JOB --mini-batch N`: a mini-batch of a job once more, in this process.
 *
 *   again.c: its script, its items, its settings -> foreground.c -> rows, or the error with its stack
 *
 * What a script may write to, its current directory too, is a folder made for it. run_invocation_timeout and init_timeout say where it
 * hangs (foreground.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/foreground.h"
#include "lua/again.h"

struct replay_options {
  const char *step, *mini_batch;
  bool no_timeout;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "mini-batch", TM_OPTION_VALUE, offsetof(struct replay_options, mini_batch), "N", NULL, "its number, from 0; errors and processed_mini-batches.csv name it" },
  { "step", TM_OPTION_VALUE, offsetof(struct replay_options, step), "NAME", NULL, "of which step, where the job has several" },
  { "no-timeout", TM_OPTION_FLAG, offsetof(struct replay_options, no_timeout), NULL, NULL, "without the job's run_invocation_timeout and init_timeout: it may be looked at for long" },
};
/* clang-format on */

static int replay(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_replay = {
  .name = "replay",
  .run = replay,
  .usage = "JOB --mini-batch N [--step NAME] [--no-timeout]",
  .summary = "runs one mini-batch of a job again, in this process",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

struct replay {
  struct tm_again again;
  struct tm_foreground foreground;
};

static void say(void *data, const char *words)
{
  tm_cli_say("%s", words);
}

static int run_it(struct replay *r, struct tm_err *err)
{
  struct tm_run_call call;
  struct tm_item range;
  char what[64];
  const char *dir = tm_again_working_dir(&r->again);
  if (chdir(dir) < 0)
    return tm_err_set(err, TM_EUSAGE, "the working directory '%s' of the job is gone", dir);
  snprintf(what, sizeof(what), "mini-batch %" PRId64, r->again.index);
  int rc = tm_again_call(&r->again, &call, &range, err);
  return rc < 0 ? rc : tm_foreground_run(&r->foreground, &call, what, err);
}

static int replay_found(struct replay *r, bool has_timeouts, struct tm_err *err)
{
  struct tm_foreground *f = &r->foreground;
  int rc = tm_foreground_open(f, "replay", err);
  if (rc >= 0)
    rc = tm_again_prepare(&r->again, f->folders.root, has_timeouts, &f->setup, err);
  if (rc < 0)
    return rc;
  f->has_header = r->again.has_header;
  f->grace_ns = r->again.grace_ns;
  tm_cli_say("step '%s' of job '%s', which is not changed", r->again.step_name, r->again.dir);
  tm_cli_say("output_dir, log_dir and temp_dir are in '%s'; what stays empty is removed",
             f->folders.root);
  return run_it(r, err);
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
  struct replay r = { .again = { .say = say } };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = read_options(&o, &rest, argc, argv, &r.again.index, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_replay, &err);
  }
  r.again.dir = tm_cli_find_job(cli, rest.at[0], &err);
  rc = r.again.dir ? tm_again_find(&r.again, o.step, &err) : err.code;
  if (rc >= 0)
    rc = replay_found(&r, !o.no_timeout, &err);
  TM_ARRAY_RELEASE(&rest);
  tm_again_release(&r.again);
  tm_foreground_close(&r.foreground);
  return tm_cli_end(rc, &err);
}
