/* execute.c - see execute.h.
 *
 * Order: terminal, report, signals, job; hooks between opening and starting. Everything on the loop is closed before it is
 * released, the report last: it listens until the job has been closed. The writer of the report outlives it.
 */
#include "cli/execute.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/time.h"
#include "plan/snapshot.h"
#include "runtime.h"
#include "sys/clock.h"
#include "sys/process.h"

#define AGAIN_NS (500 * TM_MS) /* as of tm_job_cancel() */

const char *const tm_progress_modes[] = { "auto", "bar", "plain", "none", NULL };

int tm_execute_check_scripts(const struct tm_pipeline *p, struct tm_err *err)
{
  struct tm_map seen = { 0 };
  int rc = 0;
  for (size_t i = 0; i < p->steps_len && rc >= 0; i++) {
    const char *script = p->steps[i]->config.entry_script;
    bool is_new;
    tm_map_add(&seen, script, strlen(script), &is_new);
    if (is_new) /* many steps may share one */
      rc = tm_lua_check_script(script, script, err);
    if (rc >= 0)
      rc = tm_snapshot_check(tm_fs_real(), &p->steps[i]->config, err);
  }
  tm_map_release(&seen);
  return rc < 0 ? rc : 0;
}

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
  tm_loop_stop(&x->loop);
}

void tm_execution_cancel(struct tm_execution *x)
{
  tm_job_cancel(x->job);
}

static void on_ended(void *data, struct tm_job *job)
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
  int64_t now = tm_clock_mono_ns();
  if (x->has_ended) {
    if (x->o->hooks && x->o->hooks->on_hurry)
      x->o->hooks->on_hurry(x->o->data, x);
    return;
  }
  if (x->canceled_ns == 0) {
    x->canceled_ns = now;
    tm_report_say(x->report, TM_INFO,
                  "canceling: no more mini-batches are handed out, running ones may end; once more "
                  "kills them");
  } else if (now - x->canceled_ns >= AGAIN_NS) {
    tm_report_say(x->report, TM_INFO, "canceling: what still runs is killed");
  }
  tm_job_cancel(x->job);
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
    if ((rc = tm_signal_open(&x->signals[i], &x->loop, numbers[i], on_signal, x, err)) < 0)
      return rc;
  }
  return 0;
}

static void open_report(struct tm_execution *x)
{
  struct tm_report_options o = { .fs = x->o->cli->fs,
                                 .events = &x->events,
                                 .writer = tm_terminal_writer(&x->terminal),
                                 .progress = mode_of(x),
                                 .has_color = tm_terminal_has_color(&x->terminal) };
  x->report = tm_report_new(&o);
}

static int open_job(struct tm_execution *x, struct tm_err *err)
{
  const struct tm_execute *e = x->o;
  struct tm_job_options o = { .loop = &x->loop,
                              .fs = e->cli->fs,
                              .pipeline = e->pipeline,
                              .dir = e->dir,
                              .program = x->program,
                              .events = &x->events,
                              .resume = e->resume,
                              .keep_failed = e->keep_failed,
                              .accept_changes = e->accept_changes,
                              .verify_input = e->verify_input,
                              .has_stdin = e->has_stdin,
                              .max_workers = e->max_workers,
                              .workspace = e->workspace,
                              .no_reuse = e->no_reuse,
                              .on_ended = on_ended,
                              .data = x };
  int rc = tm_job_open(&x->job, &o, err);
  if (rc >= 0 && e->hooks && e->hooks->on_open)
    rc = e->hooks->on_open(e->data, x, err);
  return rc;
}

static void print_result(const struct tm_execution *x)
{
  struct tm_json *result = tm_job_result(x->job);
  struct tm_buf text = TM_BUF_NONE;
  if (!result)
    return;
  tm_json_write(&text, result, (struct tm_json_style) { 0 });
  tm_buf_add_char(&text, '\n');
  if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0)
    tm_cli_say("cannot write the result to standard output");
  tm_buf_release(&text);
  tm_json_free(result);
}

static void say(struct tm_execution *x, const char *what, const char *words)
{
  struct tm_buf line = TM_BUF_NONE;
  tm_buf_printf(&line, "%s: %s", what, words);
  tm_report_say(x->report, TM_INFO, tm_buf_str(&line));
  tm_buf_release(&line);
}

static int run_job(struct tm_execution *x)
{
  int status, ended;
  say(x, "job", x->o->dir);
  tm_job_start(x->job);
  tm_loop_run(&x->loop);
  ended = tm_job_exit_status(x->job);
  status = x->status ? x->status : ended;
  if (x->o->again && ended != 0 && ended != 2)
    say(x, "to go on", x->o->again);
  if (x->o->json)
    print_result(x);
  return status;
}

/* From an open loop to a closed one. */
static int run_on_loop(struct tm_execution *x, struct tm_err *err)
{
  const struct tm_execute_hooks *hooks = x->o->hooks;
  int status = 0, rc;
  open_report(x);
  if ((rc = open_signals(x, err)) >= 0 && (rc = open_job(x, err)) >= 0)
    status = run_job(x);
  if (hooks && hooks->on_close)
    hooks->on_close(x->o->data, x);
  tm_job_close(x->job);
  for (size_t i = 0; i < TM_COUNT_OF(x->signals); i++)
    tm_signal_close(&x->signals[i]);
  tm_loop_release(&x->loop);
  tm_report_free(x->report);
  return rc < 0 ? rc : status;
}

int tm_execute(const struct tm_execute *o, struct tm_err *err)
{
  struct tm_execution x = { .o = o, .program = tm_process_program() };
  int rc;
  if (!x.program)
    return tm_err_set(err, -ENOENT,
                      "cannot tell where this program is: /proc is not there; mount it");
  if ((rc = tm_loop_init(&x.loop, err)) >= 0) {
    /* Who reads our output may go, and a file may not be let grow: errors of a write, not our death. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    tm_terminal_init(&x.terminal, STDERR_FILENO);
    rc = run_on_loop(&x, err);
    tm_terminal_release(&x.terminal);
  }
  free(x.program);
  return rc;
}
