/* cmd_logs.c - `tidemill logs JOB`: merges a job's log files in the order of time.
 *
 * Without options it shows every message from the beginning, like `docker logs` and `journalctl`:
 * the supervisor's log, script errors with their stacks, the script's logger, and printed lines,
 * each after the name of its file. It leaves out the row for each try, of which there may be
 * millions; --worker and --mini-batch show these rows.
 */
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

#define WRITE_BYTES (64u << 10)

struct logs_options {
  bool follow, errors;
  const char *step, *worker, *node, *mini_batch;
};

#define PLACE(field) offsetof(struct logs_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "follow", TM_OPTION_FLAG, PLACE(follow), NULL, NULL, "also shows new lines as they are written, until the job ends" },
  { "f", TM_OPTION_FLAG, PLACE(follow), NULL, NULL, "short for --follow" },
  { "errors", TM_OPTION_FLAG, PLACE(errors), NULL, NULL, "shows only errors with their stacks, warnings, and why workers and the job ended" },
  { "worker", TM_OPTION_VALUE, PLACE(worker), "NAME", NULL, "shows the lines of one worker (process000), and its tries" },
  { "node", TM_OPTION_VALUE, PLACE(node), "ID", NULL, "shows one node (3): the lines of its workers and of its command, and those that name it" },
  { "mini-batch", TM_OPTION_VALUE, PLACE(mini_batch), "N", NULL, "shows the tries of one mini-batch, and what their workers logged meanwhile" },
  { "step", TM_OPTION_VALUE, PLACE(step), "NAME", NULL, "shows one step; by default all, with their names if there are several" },
};
/* clang-format on */

static int logs(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_logs = {
  .name = "logs",
  .run = logs,
  .usage = "[JOB] [--follow] [--errors] [--worker NAME] [--node ID] [--mini-batch N] [--step NAME]",
  .summary = "shows the log lines of a job, its workers and its script",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "Without options, shows the supervisor's log, errors of the script with their\n"
          "stacks, the lines of its logger, the lines that it printed, its own .txt and .log\n"
          "files in log_dir, and what the commands of nodes wrote to standard error, each\n"
          "after the name of its worker, file or node, in the order of time. On a terminal,\n"
          "control characters are shown as \\x1b. The job may be running, and is not\n"
          "changed.\n",
};

struct showing {
  bool is_told; /* a line was shown */
  struct tm_buf out;
};

/* `line` NULL: writes the lines collected so far. */
static int on_line(const struct tidemill_log_line *line, void *data)
{
  struct showing *s = data;
  int rc;
  if (line) {
    s->is_told = true;
    if (line->steps_len > 1)
      tm_buf_printf(&s->out, "[%s] ", line->step);
    if (*line->source)
      tm_buf_printf(&s->out, "%s| ", line->source);
    tm_buf_add(&s->out, line->text, line->text_bytes);
    tm_buf_add_char(&s->out, '\n');
  }
  if (line ? s->out.len < WRITE_BYTES : s->out.len == 0)
    return 0;
  rc = tm_cli_write(&s->out);
  tm_buf_clear(&s->out);
  return rc;
}

/* A reused step has its logs in the job that ran it. Whether one is; `wanted` NULL: any step. */
static bool say_reused(const struct tidemill_record *r, const char *wanted)
{
  const struct tidemill_record_step *step;
  bool is_said = false;
  for (size_t i = 0; (step = tidemill_record_step(r, i)) != NULL; i++) {
    if (!*step->reused_from || (wanted && strcmp(step->name, wanted) != 0))
      continue;
    tm_cli_say("step '%s' was reused from job '%s': its logs are there", step->name,
               step->reused_from);
    is_said = true;
  }
  return is_said;
}

static int say_none(struct tidemill_workspace *ws, const char *job, const char *step,
                    struct tm_err *err)
{
  struct tidemill_record *r = NULL;
  int rc = tidemill_record_open(&r, ws, job, err);
  if (rc == 0 && !say_reused(r, step))
    tm_cli_say("job '%s' has no logs yet", tidemill_record_info(r)->dir);
  tidemill_record_close(r);
  return rc;
}

/* For a worker that the job does not have. */
static void say_reused_of(struct tidemill_workspace *ws, const char *job, const char *step)
{
  struct tidemill_record *r = NULL;
  if (tidemill_record_open(&r, ws, job, NULL) == 0)
    say_reused(r, step);
  tidemill_record_close(r);
}

static int on_first(const struct tidemill_log_line *line, void *data)
{
  return line ? 1 : 0; /* one message is enough */
}

/* Whether the job has any log lines. If not, `--errors` is not the reason for an empty result. */
static bool has_lines(struct tidemill_workspace *ws, const char *job)
{
  return tidemill_workspace_logs(ws, job, NULL, on_first, NULL, NULL) != 0;
}

/* `mini_batch` -1: all mini-batches. */
static int show(struct tidemill_workspace *ws, const char *job, const struct logs_options *o,
                int64_t mini_batch, struct tm_err *err)
{
  struct tidemill_logs_options wanted = TIDEMILL_LOGS_OPTIONS_INIT;
  struct showing s = { .is_told = o->follow || mini_batch >= 0 }; /* it may have no lines */
  int rc;
  wanted.step = o->step;
  wanted.worker = o->worker;
  wanted.node = o->node;
  wanted.errors = o->errors;
  wanted.follow = o->follow;
  wanted.mini_batch = mini_batch;
  rc = tidemill_workspace_logs(ws, job, &wanted, on_line, &s, err);
  if (rc == 0 && !s.is_told && !(o->errors && has_lines(ws, job)))
    rc = say_none(ws, job, o->step, err);
  else if (rc == TM_EUSAGE && (o->worker || o->node))
    say_reused_of(ws, job, o->step);
  tm_buf_release(&s.out);
  return rc;
}

static int read_options(struct logs_options *o, struct tm_words *rest, int argc, char **argv,
                        int64_t *mini_batch, struct tm_err *err)
{
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, o, rest, err);
  if (rc < 0 || (rc = tm_cli_one_job(rest, err)) < 0)
    return rc;
  if (o->mini_batch && (!tm_text_int(o->mini_batch, mini_batch) || *mini_batch < 0))
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' is \"%s\"; accepted: a number from 0 on",
                      o->mini_batch);
  if (o->mini_batch && (o->follow || o->errors || o->worker || o->node))
    return tm_err_set(err, TM_EUSAGE, "'--mini-batch' goes with '--step' alone");
  return 0;
}

static int logs(const struct tm_cli *cli, int argc, char **argv)
{
  struct logs_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  struct tidemill_workspace *ws;
  int64_t mini_batch = -1;
  int rc = read_options(&o, &rest, argc, argv, &mini_batch, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_logs, &err);
  }
  ws = tm_cli_nearest_workspace(cli);
  rc = show(ws, rest.at[0], &o, mini_batch, &err);
  TM_ARRAY_RELEASE(&rest);
  tidemill_workspace_close(ws);
  return tm_cli_end(rc, &err);
}
