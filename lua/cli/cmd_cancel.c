/* cmd_cancel.c - `tidemill cancel JOB`: asks the process that runs a job to cancel it, and waits
 * for the end of the job. */
#include <inttypes.h>
#include <poll.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "records/resume_line.h"

#define LOOK_MS      100
#define PATIENCE_NS  (10 * TM_S) /* a running supervisor takes a request within a second */
#define NOT_CANCELED 1

struct cancel_options {
  bool now, no_wait;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "now", TM_OPTION_FLAG, offsetof(struct cancel_options, now), NULL, NULL, "kills running mini-batches; without it they may end" },
  { "no-wait", TM_OPTION_FLAG, offsetof(struct cancel_options, no_wait), NULL, NULL, "leaves the request, and does not wait for the end of the job" },
};
/* clang-format on */

static int cancel(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_cancel = {
  .name = "cancel",
  .run = cancel,
  .usage = "JOB [--now] [--no-wait]",
  .summary = "cancels a job that another process runs",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "JOB is the directory of a job, its name in the workspace, or 'latest'.\n\n"
          "The job ends as it does after one Ctrl-C: it is Canceled, and can be resumed.\n"
          "--now does what a second Ctrl-C does.\n"
          "The request is a file in the job's directory. It reaches a process on another\n"
          "host that shares the file system, and a host application whose loop turns. Only\n"
          "the user who runs the job, or root, can cancel it. A request never cancels a\n"
          "later session of the job.\n\n"
          "Exit status: 0 the job is Canceled, or the request is left (--no-wait); 1 nobody\n"
          "runs the job, or it ended in another way; 2 there is no such job, or it is\n"
          "refused; 3 system error.\n",
};

/* Reports that no process runs the job. */
static int say_not_running(const struct tidemill_cancel_info *info)
{
  struct tm_buf line = TM_BUF_NONE, dir = TM_BUF_NONE;
  tm_text_shell(&dir, info->dir);
  if (info->state == TIDEMILL_STATE_COMPLETED) {
    tm_cli_say("job '%s' is Completed, there is nothing to cancel; to remove it: tidemill clean %s",
               info->dir, dir.data);
  } else if (info->is_elsewhere) {
    tm_cli_say("cannot cancel job '%s': pid %" PRId64
               " on host '%s' ran it last, and no process on "
               "this host does; if it still runs there, its locks are not visible here: run this "
               "command on that host",
               info->dir, info->pid, info->host);
  } else if (info->state == TIDEMILL_STATE_INTERRUPTED) {
    tm_resume_line_add(&line, NULL, info->dir, NULL);
    tm_cli_say("nobody runs job '%s', there is nothing to cancel: pid %" PRId64
               " died, or was killed\n%s",
               info->dir, info->pid, tm_buf_str(&line));
  } else {
    tm_resume_line_add(&line, NULL, info->dir, NULL);
    tm_cli_say("job '%s' is %s already, there is nothing to cancel\n%s", info->dir,
               tidemill_state_name(info->state), tm_buf_str(&line));
  }
  tm_buf_release(&line);
  tm_buf_release(&dir);
  return NOT_CANCELED;
}

static int say_end(const struct tidemill_cancel_info *info)
{
  struct tm_buf text = TM_BUF_NONE;
  int status;
  if (info->is_resumed) {
    tm_cli_say("the session that was asked has ended, and somebody has resumed job '%s' since; "
               "that session goes on",
               info->dir);
    return NOT_CANCELED;
  }
  tm_buf_printf(&text, "%s: %s\n", tidemill_state_name(info->state), info->dir);
  if (info->state != TIDEMILL_STATE_CANCELED)
    tm_cli_say("the job has ended before it was canceled");
  if (info->state != TIDEMILL_STATE_COMPLETED) {
    tm_resume_line_add(&text, NULL, info->dir, NULL);
    tm_buf_add_char(&text, '\n');
  }
  status = tm_cli_write_and_release(&text);
  return status ? status : info->state == TIDEMILL_STATE_CANCELED ? 0 : NOT_CANCELED;
}

/* Which messages the command has printed while it waits; it prints each once. */
struct waiting {
  int64_t begin_ns;
  bool now, has_said_taken, has_said_late, has_said_stopped;
};

static void say_stopped(const struct tidemill_cancel_info *info)
{
  tm_cli_say("pid %" PRId64 " on host '%s' is stopped (Ctrl-Z or SIGSTOP); it takes the request "
             "when it is continued: fg in its terminal, or kill -CONT %" PRId64,
             info->pid, info->host, info->pid);
}

static void say_wait(struct waiting *w, const struct tidemill_cancel_info *info)
{
  if (info->is_taken && !w->has_said_taken && !w->now) {
    w->has_said_taken = true;
    tm_cli_say("the job hands out no more mini-batches, running ones may end; --now kills them");
  }
  if (info->is_stopped && !w->has_said_stopped) {
    w->has_said_stopped = w->has_said_late = true;
    say_stopped(info);
  }
  if (!info->is_taken && !w->has_said_late && tm_cli_now_ns() - w->begin_ns >= PATIENCE_NS) {
    w->has_said_late = true;
    tm_cli_say(
        "pid %" PRId64 " on host '%s' has not taken the request for 10 s: it is stopped, or "
        "busy, or a host application whose loop does not turn. The request stays. If the process "
        "is stopped, continue it there: kill -CONT %" PRId64 "; to end it instead: kill -9 %" PRId64
        "; the job can be resumed then",
        info->pid, info->host, info->pid, info->pid);
  }
}

static int wait_for_end(struct tidemill_cancel *c, const struct cancel_options *o,
                        struct tm_err *err)
{
  struct waiting w = { .begin_ns = tm_cli_now_ns(), .now = o->now };
  const struct tidemill_cancel_info *info = tidemill_cancel_info(c);
  int rc = 0;
  while (rc >= 0 && !info->has_ended) {
    say_wait(&w, info);
    (void)poll(NULL, 0, LOOK_MS);
    rc = tidemill_cancel_look(c, err);
  }
  if (rc >= 0)
    return say_end(info);
  return rc == TM_EUSAGE ? rc : tm_err_wrap(err, "cannot tell how the job ends");
}

static int cancel_job(struct tidemill_cancel *c, const struct cancel_options *o, struct tm_err *err)
{
  const struct tidemill_cancel_info *info = tidemill_cancel_info(c);
  if (!info->is_asked)
    return say_not_running(info);
  tm_cli_say("pid %" PRId64 " on host '%s' is asked to cancel job '%s'%s", info->pid, info->host,
             info->dir,
             o->no_wait ? "; tidemill status shows how far it is"
                        : "; waiting for its end (Ctrl-C ends the waiting, not the canceling)");
  if (!o->no_wait)
    return wait_for_end(c, o, err);
  if (info->is_stopped)
    say_stopped(info);
  return 0;
}

static int check_words(const struct tm_words *rest, struct tm_err *err)
{
  if (rest->len == 0)
    return tm_err_set(
        err, TM_EUSAGE,
        "which job? Name its directory, its name (tidemill jobs lists them), or latest");
  if (rest->len > 1)
    return tm_err_set(err, TM_EUSAGE, "one job at a time, '%s' is one too many", rest->at[1]);
  return 0;
}

static int cancel(const struct tm_cli *cli, int argc, char **argv)
{
  struct cancel_options o = { 0 };
  struct tidemill_cancel *c = NULL;
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &rest, &err);
  if (rc >= 0)
    rc = check_words(&rest, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_cancel, &err);
  }
  struct tidemill_workspace *ws = tm_cli_nearest_workspace(cli);
  rc = tidemill_cancel_new(&c, ws, rest.at[0], o.now, &err);
  if (rc >= 0)
    rc = cancel_job(c, &o, &err);
  tidemill_cancel_free(c);
  tidemill_workspace_close(ws);
  TM_ARRAY_RELEASE(&rest);
  return tm_cli_end(rc, &err);
}
