/* execute.c - see execute.h.
 *
 * Order: runtime, terminal, signals, job; hooks between opening and the first turn of the loop. What is on the loop is closed
 * before the runtime, and with it the job. The writer of the report outlives it.
 */
#include "cli/execute.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "sys/clock.h"
#include "sys/process.h"

#define AGAIN_NS (500 * TM_MS) /* as of tm_job_cancel() */

const char *const tm_progress_modes[] = { "auto", "bar", "plain", "none", NULL };

int tm_execute_status_of(int rc)
{
  return rc == TM_ESCRIPT ? 2 : tm_exit_status_of(rc);
}

static enum tm_progress_mode mode_of(const struct tm_execution *x)
{
  const char *mode = x->o->progress ? x->o->progress : "auto";
  if (strcmp(mode, "none") == 0)
    return TM_PROGRESS_NONE;
  if (strcmp(mode, "plain") == 0)
    return TM_PROGRESS_PLAIN;
  if (strcmp(mode, "bar") == 0)
    return TM_PROGRESS_BAR;
  return tm_terminal_has_bar(&x->terminal) ? TM_PROGRESS_BAR : TM_PROGRESS_PLAIN;
}

void tm_execution_stop(struct tm_execution *x)
{
  tm_loop_stop(&x->rt->loop);
}

/* 0: nothing is done, it is the first one, bouncing. 1: the first. 2: again. */
static int cancel(struct tm_execution *x)
{
  int64_t now = tm_clock_mono_ns();
  bool is_first = x->canceled_ns == 0;
  if (!is_first && now - x->canceled_ns < AGAIN_NS)
    return 0;
  if (is_first)
    x->canceled_ns = now;
  tidemill_job_cancel(x->job, !is_first);
  return is_first ? 1 : 2;
}

void tm_execution_cancel(struct tm_execution *x)
{
  cancel(x);
}

static void on_ended(void *data, struct tidemill_job *job)
{
  struct tm_execution *x = data;
  const struct tm_execute_hooks *hooks = x->o->hooks;
  x->has_ended = true;
  if (!hooks || !hooks->on_ended || hooks->on_ended(x->o->data, x))
    tm_execution_stop(x);
}

static void on_signal(struct tm_signal *s, int number)
{
  struct tm_execution *x = s->data;
  if (x->has_ended) {
    if (x->o->hooks && x->o->hooks->on_hurry)
      x->o->hooks->on_hurry(x->o->data, x);
    return;
  }
  switch (cancel(x)) {
  case 1:
    tm_report_say(x->job->report, TM_INFO,
                  "canceling: no more mini-batches are handed out, running ones may end; once more "
                  "kills them");
    break;
  case 2: tm_report_say(x->job->report, TM_INFO, "canceling: what still runs is killed"); break;
  default: break;
  }
}

static bool is_ignored(int number)
{
  struct sigaction old;
  return sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

static int open_signals(struct tm_execution *x, struct tm_err *err)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++) {
    int rc;
    if (numbers[i] == SIGHUP && is_ignored(SIGHUP))
      continue;
    if ((rc = tm_signal_open(&x->signals[i], &x->rt->loop, numbers[i], on_signal, x, err)) < 0)
      return rc;
  }
  return 0;
}

static int open_job(struct tm_execution *x, struct tm_err *err)
{
  const struct tm_execute *e = x->o;
  struct tidemill_job_options o = TIDEMILL_JOB_OPTIONS_INIT;
  struct tm_submission s = { .rt = x->rt,
                             .o = &o,
                             .pipeline = e->pipeline,
                             .workspace = e->workspace,
                             .keep_script = e->keep_script,
                             .has_stdin = e->has_stdin,
                             .has_stderr = true,
                             .report = { .writer = tm_terminal_writer(&x->terminal),
                                         .progress = mode_of(x),
                                         .has_color = tm_terminal_has_color(&x->terminal) },
                             .on_ended = on_ended,
                             .data = x };
  o.dir = e->dir;
  o.resume = e->resume;
  o.keep_failed = e->keep_failed;
  o.accept_changes = e->accept_changes;
  o.verify_input = e->verify_input;
  o.max_workers = e->max_workers;
  o.no_reuse = e->no_reuse;
  int rc = tm_submission_open(&x->job, &s, err);
  if (rc >= 0 && e->hooks && e->hooks->on_open)
    rc = e->hooks->on_open(e->data, x, err);
  return rc;
}

static int print_result(const struct tm_execution *x)
{
  const char *result = tidemill_job_result(x->job);
  struct tm_buf text = TM_BUF_NONE;
  if (!result)
    return 0;
  tm_buf_printf(&text, "%s\n", result);
  int status = tm_cli_write(&text);
  tm_buf_release(&text);
  return status;
}

static void say(struct tm_execution *x, const char *what, const char *words)
{
  struct tm_buf line = TM_BUF_NONE;
  tm_buf_printf(&line, "%s: %s", what, words);
  tm_report_say(x->job->report, TM_INFO, tm_buf_str(&line));
  tm_buf_release(&line);
}

static int run_job(struct tm_execution *x)
{
  int status, ended, written = 0;
  say(x, "job", x->o->dir);
  tm_loop_run(&x->rt->loop);
  ended = tidemill_job_exit_status(x->job);
  status = x->status ? x->status : ended;
  if (x->o->again && ended != 0 && ended != 2)
    say(x, "to go on", x->o->again);
  if (x->o->json)
    written = print_result(x);
  return status ? status : written;
}

/* From an open loop to a closed one. */
static int run_on_loop(struct tm_execution *x, struct tm_err *err)
{
  const struct tm_execute_hooks *hooks = x->o->hooks;
  int status = 0, rc;
  if ((rc = open_signals(x, err)) >= 0 && (rc = open_job(x, err)) >= 0)
    status = run_job(x);
  if (hooks && hooks->on_close)
    hooks->on_close(x->o->data, x);
  for (size_t i = 0; i < TM_COUNT_OF(x->signals); i++)
    tm_signal_close(&x->signals[i]);
  tidemill_runtime_close(x->rt, NULL);
  return rc < 0 ? rc : status;
}

int tm_execute(const struct tm_execute *o, struct tm_err *err)
{
  struct tidemill_runtime_options options = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tm_execution x = { .o = o };
  char *program = tm_process_program();
  int rc;
  if (!program)
    return tm_err_set(err, -ENOENT,
                      "cannot tell where this program is: /proc is not there; mount it");
  options.program = program;
  if ((rc = tidemill_runtime_new(&x.rt, &options, err)) >= 0) {
    x.rt->fs = o->cli->fs;
    /* Who reads our output may go, and a file may not be let grow: errors of a write, not our death. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    tm_terminal_init(&x.terminal, STDERR_FILENO);
    rc = run_on_loop(&x, err);
    tm_terminal_release(&x.terminal);
  }
  free(program);
  return rc;
}
