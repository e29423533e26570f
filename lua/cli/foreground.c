/* foreground.c - see foreground.h. */
#include "cli/foreground.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/parameter_options.h"
#include "cli/terminal/signals.h"

#define AGAIN_NS (50 * TM_MS) /* between two interruptions of a call */

/* `more` stays as it is: a stack. */
static void say(const struct tm_foreground *f, const char *before, const char *text,
                const char *more)
{
  struct tm_buf words = TM_BUF_NONE;
  if (f->names_options)
    tm_parameter_words_add_message(&words, text, strlen(text));
  else
    tm_buf_add_str(&words, text);
  tm_cli_say("%s%s%s%s", before, tm_buf_str(&words), *more ? "\n" : "", more);
  tm_buf_release(&words);
}

static void on_log(enum tidemill_level level, const char *text, void *data)
{
  say(data, level == TIDEMILL_LEVEL_WARNING ? "warning: " : "", text, "");
}

struct tm_foreground_exit {
  struct tm_foreground *f; /* NULL: closed */
};

/* Runs when the script calls os.exit(). In a job this would end a worker. */
static void on_exit_within(int status, void *data)
{
  struct tm_foreground_exit *e = data;
  if (!e->f || !e->f->call)
    return;
  fflush(stdout);
  tm_cli_say(
      "%s ended the program: os.exit(%d); a worker would have died, and its mini-batch failed. "
      "Return from run(), or raise an error",
      e->f->call, status);
  tidemill_script_leave(e->f->script);
  _exit(1);
}

void tm_foreground_open(struct tm_foreground *f)
{
  tm_require(!f->exit && !f->script);
  f->exit = TM_NEW(struct tm_foreground_exit);
  f->exit->f = f;
  on_exit(on_exit_within, f->exit);
  fflush(stdout);
  f->out_fd = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

struct tidemill_script_options tm_foreground_options(struct tm_foreground *f, const char *step,
                                                     bool no_timeout)
{
  struct tidemill_script_options o = TIDEMILL_SCRIPT_OPTIONS_INIT;
  o.step = step;
  o.interruptible = true;
  o.no_timeout = no_timeout;
  o.on_log = on_log;
  o.data = f;
  return o;
}

void tm_foreground_place(const struct tm_foreground *f)
{
  const char *variable;
  for (size_t i = 0; (variable = tidemill_script_variable(f->script, i)) != NULL; i++) {
    char *name = tm_xstrndup(variable, strcspn(variable, "="));
    setenv(name, variable + strlen(name) + 1, 1);
    free(name);
  }
  /* overrides the script's own variables */
  setenv("TMPDIR", tidemill_script_info(f->script)->temp_dir, 1);
}

void tm_foreground_say_folders(const struct tm_foreground *f)
{
  tm_cli_say("output_dir, log_dir and temp_dir are in '%s'; what stays empty is removed",
             tidemill_script_info(f->script)->dir);
}

/* ---- signals ---- */

static void on_ctrl_c(int signal, void *data)
{
  struct tm_foreground *f = data;
  if (f->ctrl_cs++ > 0)
    tm_signals_surrender(SIGINT);
  else
    tidemill_script_interrupt(f->script);
}

/* Repeats the interruption until the call has ended, because a single one may have no effect. */
static void on_late(int signal, void *data)
{
  struct tm_foreground *f = data;
  if (f->limit_ns == 0)
    return;
  tidemill_script_interrupt(f->script);
  if (f->has_said_so || tm_cli_now_ns() - f->begun_ns <
                            f->limit_ns + tidemill_script_info(f->script)->interrupt_grace_ns)
    return;
  f->has_said_so = true;
  (void)!write(STDERR_FILENO, f->words, strlen(f->words));
}

static void on_crash(int signal, void *data)
{
  const struct tm_foreground *f = data;
  if (f->call)
    (void)!write(STDERR_FILENO, f->crash, strlen(f->crash));
  tm_signals_surrender(signal);
}

static void catch_crashes(struct tm_foreground *f)
{
  static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++)
    tm_signals_catch(numbers[i], on_crash, f);
}

static void begin_call(struct tm_foreground *f, const char *what, const char *name,
                       int64_t limit_ns)
{
  tm_require(!f->call && f->limit_ns == 0); /* one call at a time */
  f->call = what;
  snprintf(f->crash, sizeof(f->crash),
           "tidemill: %s crashed the program; a worker would have died, and its mini-batch failed. "
           "A core dump or a debugger says where\n",
           what);
  if (limit_ns <= 0 || !tidemill_script_info(f->script)->interruptible)
    return;
  snprintf(f->words, sizeof(f->words),
           "tidemill: %s has passed %s (%g s) and cannot be interrupted: it is in a C function, or "
           "waits for a program; a worker would be killed now. It is pid %ld; Ctrl-C twice ends "
           "it\n",
           what, name, (double)limit_ns / TM_S, (long)getpid());
  f->has_said_so = false;
  f->begun_ns = tm_cli_now_ns();
  f->limit_ns = limit_ns;
  tm_signals_alarm(limit_ns, AGAIN_NS);
}

static void end_call(struct tm_foreground *f)
{
  tm_require(f->call);
  f->call = NULL;
  f->limit_ns = 0;
  tm_signals_alarm(0, 0);
}

/* ---- calls ---- */

/* Prints the script's error with its stack, or another error; returns the exit status. */
static int say_failure(const struct tm_foreground *f, const struct tm_err *err)
{
  const struct tidemill_script_error *e = tidemill_script_error(f->script);
  if (e)
    say(f, "", e->text, e->stack);
  else
    say(f, "", err->text, "");
  return 1;
}

static int init(struct tm_foreground *f, struct tm_err *err)
{
  begin_call(f, "init()", "init_timeout", tidemill_script_info(f->script)->init_timeout_ns);
  int rc = tidemill_script_init(f->script, err);
  end_call(f);
  return rc < 0 && tidemill_script_error(f->script) ? say_failure(f, err) : rc;
}

/* Restores standard output for the rows. */
static void write_rows(struct tm_foreground *f, const struct tidemill_returned *r)
{
  tm_require(!f->call && f->out_fd >= 0);
  const struct tm_buf text = { .data = (char *)r->rows, .len = r->rows_bytes };
  fflush(stdout);
  dup2(f->out_fd, STDOUT_FILENO);
  f->written = tm_cli_write(&text);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

/* "mini-batch 2: 3 items, 2 elements returned; 1 item failed, ..." */
static void say_returned(const char *what, const struct tidemill_returned *r)
{
  struct tm_buf text = TM_BUF_NONE;
  bool is_short = !r->any_number && r->elements < r->items;
  tm_buf_printf(&text, "%s: %" PRId64 " %s, %" PRId64 " %s returned", what, r->items,
                tm_text_counted(r->items, "item", "items"), r->elements,
                tm_text_counted(r->elements, "element", "elements"));
  if (!r->any_number && r->elements > r->items)
    tm_buf_add_str(&text, "; more than one for an item");
  if (r->items_failed > 0)
    tm_buf_printf(&text, "; %" PRId64 " %s failed%s", r->items_failed,
                  tm_text_counted(r->items_failed, "item has", "items have"),
                  is_short ? ": an item without an element counts as failed" : "");
  tm_cli_say("%s", tm_buf_str(&text));
  tm_buf_release(&text);
}

static int run(struct tm_foreground *f, const char *what)
{
  const struct tidemill_returned *r;
  struct tm_err err = TM_ERR_NONE;
  begin_call(f, "run()", "run_invocation_timeout", tidemill_script_info(f->script)->run_timeout_ns);
  int rc = tidemill_script_run(f->script, &r, &err);
  end_call(f);
  if (rc < 0)
    return say_failure(f, &err);
  write_rows(f, r);
  say_returned(what, r);
  f->has_failed_items = r->items_failed > 0;
  return 0;
}

int tm_foreground_run(struct tm_foreground *f, const char *what, struct tm_err *err)
{
  tm_require(f->exit && f->script && !f->call);
  struct tm_err words = TM_ERR_NONE;
  catch_crashes(f);
  if (tidemill_script_info(f->script)->interruptible) {
    tm_signals_catch(SIGINT, on_ctrl_c, f);
    tm_signals_catch(SIGALRM, on_late, f);
  }
  int rc = init(f, err);
  if (rc == 0)
    rc = run(f, what);
  f->call = "shutdown()";
  if (rc == 0 && tidemill_script_shutdown(f->script, &words) < 0)
    say_failure(f, &words); /* a warning, not a failure */
  f->call = NULL;
  tm_signals_release();
  fflush(stdout);
  if (rc < 0)
    return rc;
  if (rc > 0)
    return f->ctrl_cs > 0 ? 130 : 1;
  return f->written ? f->written : f->has_failed_items;
}

void tm_foreground_close(struct tm_foreground *f)
{
  tm_require(f->exit->f == f && !f->call);
  f->exit->f = NULL;
  tidemill_script_close(f->script);
  fflush(stdout);
  dup2(f->out_fd, STDOUT_FILENO);
  close(f->out_fd);
}
