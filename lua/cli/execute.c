/* execute.c - see execute.h.
 *
 * The program polls the runtime's descriptor, signals, and what the command waits for. It starts
 * the terminal, the signals and the job in this order. Hooks run between the submission and the
 * first turn. It blocks signals and reads them, so that no handler does any work. The terminal
 * outlives the job.
 *
 * The submission reads databases and paths in this thread, and a file system may hang. A handler
 * would run only after such a call returned, so a second thread reads the signals meanwhile. The
 * first signal cancels the job as soon as it exists, or ends the wait for another process that has
 * the job. A second signal ends the process, and with it the call.
 */
#include "cli/execute.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "records/rerun.h"
#include "records/resume_line.h"
#include "cli/portal_link.h"
#include "cli/terminal/signals.h"

/* A program that signals a process and its group sends the same signal twice; users are slower. */
#define AGAIN_NS (20 * TM_MS)
#define KILL_NS  (510 * TM_MS)

const char *const tm_progress_modes[] = { "auto", "bar", "plain", "none", NULL };

/* Returns the exit status for an error that prevents a job: the same status as for a job that
 * fails with this error. A script with a syntax error gets 2, because it is found before a job
 * exists. */
int tm_execute_status_of(int rc)
{
  switch (rc) {
  case TM_EUSAGE:
  case TM_ECHANGED:
  case TM_EVERSION:
  case TM_ESCRIPT: return 2;
  case -ECANCELED: return 128 + SIGINT;
  case TM_ENOINPUT:
  case TM_EINPUT:
  case TM_ETHRESHOLD: return 1;
  default: return 3;
  }
}

static enum tidemill_progress mode_of(const struct tm_execution *x)
{
  const char *mode = x->o->progress ? x->o->progress : "auto";
  if (strcmp(mode, "none") == 0)
    return TIDEMILL_PROGRESS_NONE;
  if (strcmp(mode, "plain") == 0)
    return TIDEMILL_PROGRESS_PLAIN;
  if (strcmp(mode, "bar") == 0)
    return TIDEMILL_PROGRESS_BAR;
  return tm_terminal_has_bar(&x->terminal) ? TIDEMILL_PROGRESS_BAR : TIDEMILL_PROGRESS_PLAIN;
}

/* ---- cancellation ---- */

/* 0: ignores a repetition of the last signal. 1: the first signal. 2: the second. 3: a later
 * one. */
static int cancel(struct tm_execution *x)
{
  tm_require(x->job);
  int64_t now = tm_cli_now_ns();
  bool is_first = x->canceled_ns == 0;
  if (!is_first && now - x->canceled_ns < AGAIN_NS)
    return 0;
  x->canceled_ns = now;
  if (!is_first && x->is_killing)
    return 3;
  x->is_killing = !is_first;
  tidemill_job_cancel(x->job, !is_first);
  return is_first ? 1 : 2;
}

void tm_execution_end(struct tm_execution *x)
{
  cancel(x);
  x->kill_ns = tm_cli_now_ns() + KILL_NS;
}

/* For when something hangs that cannot be killed, such as a copy from a dead file system, so it
 * looks at no file. Ends this process; then the keeper ends the workers. */
static void end_at_once(struct tm_execution *x)
{
  tm_require(x->job && x->is_killing);
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, "ended before the job could be closed; to go on: tidemill resume ");
  tm_text_shell(&text, tidemill_job_dir(x->job));
  tidemill_job_say(x->job, TIDEMILL_LEVEL_WARNING, tm_buf_str(&text));
  _exit(128 + SIGINT);
}

static void on_signal(struct tm_execution *x)
{
  const struct tm_execute_hooks *hooks = x->o->hooks;
  if (x->has_ended) {
    if (hooks && hooks->on_hurry)
      hooks->on_hurry(x->o->data, x);
    return;
  }
  switch (cancel(x)) {
  case 1:
    tidemill_job_say(x->job, TIDEMILL_LEVEL_INFO,
                     "canceling: no more mini-batches are handed out, running ones may end; once "
                     "more kills them");
    break;
  case 2:
    tidemill_job_say(x->job, TIDEMILL_LEVEL_INFO,
                     "canceling: what still runs is killed; once more ends the program at once");
    break;
  case 3: end_at_once(x); break;
  default: break;
  }
}

static int open_signals(struct tm_execution *x, struct tm_err *err)
{
  tm_require(x->signals < 0);
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  if (!tm_signals_is_ignored(SIGHUP))
    sigaddset(&wanted, SIGHUP);
  sigprocmask(SIG_BLOCK, &wanted, &x->before);
  x->signals = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
  return x->signals < 0 ? tm_err_system(err, -errno, "cannot hear signals") : 0;
}

static void read_signals(struct tm_execution *x, bool are_heard)
{
  struct signalfd_siginfo s;
  while (x->signals >= 0 && read(x->signals, &s, sizeof(s)) == (ssize_t)sizeof(s))
    if (are_heard)
      on_signal(x);
}

/* ---- the thread of the submission ---- */

static void *watch(void *data)
{
  static const char words[] = "ended before there was a job, or before it was begun\n";
  struct tm_execution *x = data;
  struct signalfd_siginfo s;
  struct pollfd both[] = { { .fd = x->signals, .events = POLLIN },
                           { .fd = x->submitted, .events = POLLIN } };
  int64_t first_ns = 0;
  for (;;) {
    if (poll(both, 2, -1) < 0)
      continue;
    if (both[1].revents)
      return NULL;
    if (read(x->signals, &s, sizeof(s)) != (ssize_t)sizeof(s))
      continue;
    if (first_ns != 0 && tm_cli_now_ns() - first_ns >= AGAIN_NS) {
      (void)!write(STDERR_FILENO, words, sizeof(words) - 1);
      _exit(128 + SIGINT);
    }
    first_ns = first_ns ? first_ns : tm_cli_now_ns();
    x->is_early = true;
  }
}

static int watch_signals(struct tm_execution *x, struct tm_err *err)
{
  x->submitted = eventfd(0, EFD_CLOEXEC);
  if (x->submitted < 0)
    return tm_err_system(err, -errno, "cannot hear signals");
  int rc = pthread_create(&x->watch, NULL, watch, x);
  if (rc == 0)
    return 0;
  close(x->submitted);
  return tm_cli_fail_thread(rc, err);
}

static void unwatch_signals(struct tm_execution *x)
{
  tm_require(x->submitted >= 0);
  uint64_t one = 1;
  (void)!write(x->submitted, &one, sizeof(one));
  pthread_join(x->watch, NULL);
  close(x->submitted);
  if (x->is_early && x->job)
    on_signal(x);
}

static void close_signals(struct tm_execution *x)
{
  if (x->signals < 0)
    return;
  read_signals(x, false); /* too late to end anything */
  close(x->signals);
  sigprocmask(SIG_SETMASK, &x->before, NULL);
}

/* ---- the job ---- */

static void on_event(const struct tidemill_event *e, void *data)
{
  struct tm_execution *x = data;
  const struct tm_execute_hooks *hooks = x->o->hooks;
  x->has_ended =
      x->has_ended || (e->kind == TIDEMILL_EVENT_STATE && e->state != TIDEMILL_STATE_RUNNING);
  if (hooks && hooks->on_event)
    hooks->on_event(e, x->o->data);
}

/* Whether to stop waiting for another process that has the directory. No work has begun then. */
static bool is_stopped(void *data)
{
  struct tm_execution *x = data;
  return atomic_load(&x->is_early);
}

static int open_job(struct tm_execution *x, struct tm_err *err)
{
  const struct tm_execute *e = x->o;
  struct tidemill_job_options o = e->o;
  struct tidemill_screen screen = tm_terminal_screen(&x->terminal);
  x->terminal.add_message = e->hooks ? e->hooks->add_message : NULL;
  screen.progress = mode_of(x);
  screen.has_color = tm_terminal_has_color(&x->terminal);
  o.screen = &screen;
  o.on_event = on_event;
  o.is_stopped = is_stopped;
  o.data = x;
  int rc = tidemill_job_submit(&x->job, e->pipeline, &o, err);
  if (rc >= 0 && e->hooks && e->hooks->on_open)
    rc = e->hooks->on_open(e->data, x, err);
  return rc;
}

/* The smaller timeout; -1 means forever. */
static int sooner(int a, int b)
{
  return a < 0 ? b : b < 0 || a < b ? a : b;
}

static bool is_over(const struct tm_execution *x)
{
  const struct tm_execute_hooks *hooks = x->o->hooks;
  return x->is_over ||
         (x->has_ended && (!hooks || !hooks->is_done || hooks->is_done(x->o->data, x)));
}

/* Waits for events, for at most `timeout_ms`, and handles signals. */
static void wait_for_all(struct tm_execution *x, const struct pollfd *beside, int timeout_ms)
{
  struct pollfd fds[3] = { { .fd = tidemill_runtime_fd(x->o->rt), .events = POLLIN },
                           { .fd = x->signals, .events = POLLIN },
                           *beside };
  int timeout = sooner(timeout_ms, tidemill_runtime_timeout_ms(x->o->rt));
  if (x->kill_ns) {
    int64_t left = (x->kill_ns - tm_cli_now_ns() + TM_MS - 1) / TM_MS;
    timeout = sooner(timeout, left > 0 ? (int)left : 0);
  }
  if (poll(fds, TM_COUNT_OF(fds), timeout) > 0 && fds[1].revents)
    read_signals(x, true);
  if (x->kill_ns && tm_cli_now_ns() >= x->kill_ns) {
    tidemill_job_cancel(x->job, true);
    x->kill_ns = 0;
  }
}

static void run_loop(struct tm_execution *x)
{
  const struct tm_execute_hooks *hooks = x->o->hooks;
  struct tm_err err = { 0 };
  int rc = 0;
  while (rc >= 0) {
    struct pollfd beside = { .fd = -1 };
    int timeout = hooks && hooks->on_turn ? hooks->on_turn(x->o->data, x, &beside) : -1;
    if (is_over(x)) /* on_turn() may have ended it, and nothing would end the wait */
      return;
    wait_for_all(x, &beside, timeout);
    rc = tidemill_runtime_turn(x->o->rt, &err);
  }
  tm_cli_say("%s", err.text);
  x->status = 3;
}

static const struct tm_json *find_step(const struct tm_json *steps, const char *name)
{
  for (size_t i = 0; i < tm_json_items(steps); i++)
    if (strcmp(tm_json_str(steps->list.at[i], "name", ""), name) == 0)
      return steps->list.at[i];
  return NULL;
}

/* Gives each step the errors of the same step in `record`. */
static void add_errors(struct tm_json *result, const struct tm_json *record)
{
  static const char *const keys[] = { "errors", "errors_cut" };
  struct tm_json *steps = tm_json_get(result, "steps");
  for (size_t i = 0; i < tm_json_items(steps); i++) {
    struct tm_json *step = steps->list.at[i];
    const struct tm_json *from =
        find_step(tm_json_get(record, "steps"), tm_json_str(step, "name", ""));
    for (size_t k = 0; from && k < TM_COUNT_OF(keys); k++)
      tm_json_set(step, keys[k], tm_json_copy(tm_json_get(from, keys[k])));
  }
}

/* Adds the result. If items failed, reads the job's record for the errors that `status --json`
 * shows. */
static void add_result(struct tm_buf *out, const char *text, struct tidemill_job *job)
{
  struct tidemill_record *record = NULL;
  struct tm_json *result = tm_json_of(text), *shown = NULL;
  if (tidemill_job_counts(job)->items_failed > 0 &&
      tidemill_record_open(&record, NULL, tidemill_job_dir(job), NULL) >= 0)
    shown = tm_json_of(tidemill_record_json(record));
  if (result && shown) {
    add_errors(result, shown);
    tm_json_write(out, result, (struct tm_json_style) { 0 });
  } else
    tm_buf_add_str(out, text);
  tm_json_free(result);
  tm_json_free(shown);
  tidemill_record_close(record);
}

static int print_result(const struct tm_execution *x)
{
  const char *result = tidemill_job_result(x->job);
  struct tm_buf text = TM_BUF_NONE;
  if (!result)
    return 0;
  add_result(&text, result, x->job);
  tm_buf_add_char(&text, '\n');
  return tm_cli_write_and_release(&text);
}

/* If the job's directory is gone, its record cannot tell how to start a new job: the result can. */
static void add_anew(struct tm_buf *line, struct tidemill_job *job, const char *anew)
{
  char *record = tm_xprintf("%s/job.json", tidemill_job_dir(job));
  const char *text = access(record, F_OK) < 0 ? tidemill_job_result(job) : NULL;
  struct tm_json *result = tm_json_of(text);
  const char *file = tm_json_str(result, "pipeline", NULL);
  if (text && anew) {
    tm_buf_printf(line, ": %s", anew);
  } else if (file) {
    tm_buf_add_str(line, ": tidemill run ");
    tm_text_shell(line, file);
  }
  tm_json_free(result);
  free(record);
}

/* `ended`: the exit status. 2: the script or a setting is wrong, or the inputs have changed. */
static void say_again(struct tidemill_job *job, int ended, const struct tm_execute *o)
{
  const struct tm_execute_hooks *hooks = o->hooks;
  struct tm_resume_command command = { .add = hooks ? hooks->add_again : NULL,
                                       .add_anew = hooks ? hooks->add_rerun : NULL,
                                       .data = o->data };
  const struct tm_resume_command *own = command.add ? &command : NULL;
  struct tm_buf line = TM_BUF_NONE, after = TM_BUF_NONE;
  bool has_failed = tidemill_job_state(job) == TIDEMILL_STATE_FAILED;
  bool is_changed =
      ended == 2 && tm_resume_line_add_changed(&line, &after, tidemill_job_dir(job), own);
  if (!is_changed)
    tm_resume_line_add(&line, has_failed ? &after : NULL, tidemill_job_dir(job), own);
  if (!own)
    add_anew(&line, job, o->anew);
  /* With status 2 the script or the input is wrong: the job would end in the same way. */
  if (is_changed || ended != 2 || after.len == 0)
    tidemill_job_say(job, TIDEMILL_LEVEL_INFO, tm_buf_str(&line));
  if (after.len > 0)
    tidemill_job_say(job, TIDEMILL_LEVEL_INFO, tm_buf_str(&after));
  tm_buf_release(&line);
  tm_buf_release(&after);
}

/* Prints the command that runs failed items again, after a Completed job. A session that found the
 * job Completed has counted nothing. */
static void say_rerun(struct tidemill_job *job, const struct tm_execute *o)
{
  struct tidemill_record *record = NULL;
  struct tm_buf line = TM_BUF_NONE;
  const struct tidemill_counts *counts = tidemill_job_counts(job);
  if (counts->items_failed > 0 || counts->created == 0)
    (void)tidemill_record_open(&record, NULL, tidemill_job_dir(job), NULL);
  if (record && tm_rerun_add(&line, record, o->hooks ? o->hooks->add_rerun : NULL, o->data))
    tidemill_job_say(job, TIDEMILL_LEVEL_INFO, line.data);
  tidemill_record_close(record);
  tm_buf_release(&line);
}

void tm_execute_say_next(struct tidemill_job *job, const struct tm_execute *o)
{
  static const struct tm_execute none = { .rt = NULL };
  int ended = tidemill_job_exit_status(job);
  if (ended != 0)
    say_again(job, ended, o ? o : &none);
  else
    say_rerun(job, o ? o : &none);
}

static void say_link(struct tm_execution *x, const char *url)
{
  char *line = tm_xprintf("portal: %s", url);
  tidemill_job_say(x->job, TIDEMILL_LEVEL_INFO, line);
  free(line);
}

static int run_job(struct tm_execution *x)
{
  tm_require(x->job && !x->has_ended); /* nothing has turned the loop */
  struct tm_buf line = TM_BUF_NONE;
  int status, ended, written = 0;
  tm_buf_printf(&line, "job: %s", tidemill_job_dir(x->job));
  tidemill_job_say(x->job, TIDEMILL_LEVEL_INFO, tm_buf_str(&line));
  tm_buf_clear(&line);
  if (tm_portal_link_add(&line, tidemill_job_dir(x->job)))
    say_link(x, tm_buf_str(&line));
  tm_buf_release(&line);
  run_loop(x);
  ended = tidemill_job_exit_status(x->job);
  status = x->status ? x->status : ended;
  tm_execute_say_next(x->job, x->o);
  if (x->o->json)
    written = print_result(x);
  return status ? status : written;
}

static void on_report(const char *path, void *data)
{
  tm_cli_say("report: %s", path);
}

/* However the job has ended. A failure changes nothing of that. */
static void write_report(const char *file, const char *dir)
{
  struct tidemill_report_options o = TIDEMILL_REPORT_OPTIONS_INIT;
  struct tm_err err = TM_ERR_NONE;
  o.path = *file ? file : NULL;
  o.on_written = on_report;
  if (tidemill_report_write(NULL, dir, &o, &err) < 0)
    tm_cli_say("the report was not written: %s", err.text);
}

int tm_execute(const struct tm_execute *o, struct tm_err *err)
{
  struct tm_execution x = { .o = o, .signals = -1 };
  int status = 0, rc;
  /* A closed pipe and a file-size limit must be write errors. They must not end this process. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  tm_terminal_init(&x.terminal, STDERR_FILENO);
  if ((rc = open_signals(&x, err)) >= 0 && (rc = watch_signals(&x, err)) >= 0) {
    rc = open_job(&x, err);
    unwatch_signals(&x);
    if (rc >= 0)
      status = run_job(&x);
  }
  close_signals(&x);
  tm_terminal_release(&x.terminal); /* writes its held text before the following messages */
  if (rc >= 0 && o->hooks && o->hooks->on_over)
    rc = status = o->hooks->on_over(o->data, &x, status, err);
  char *dir = x.job && o->report ? tm_xstrdup(tidemill_job_dir(x.job)) : NULL;
  tidemill_job_close(x.job);
  tm_terminal_release(&x.terminal);
  if (dir)
    write_report(o->report, dir);
  free(dir);
  return rc < 0 ? rc : status;
}
