/* foreground.c - see foreground.h. */
#include "cli/foreground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "data/frame_text.h"
#include "lua/script.h"
#include "sys/alarm.h"
#include "sys/clock.h"

#define AGAIN_NS (50 * TM_MS) /* between two interruptions of one call */

int tm_foreground_open(struct tm_foreground *f, const char *kind, struct tm_err *err)
{
  f->out_fd = -1;
  int rc = tm_script_folders_make(&f->folders, kind, err);
  f->setup = (struct tm_setup) { .worker_name = (char *)"process000",
                                 .node_id = (char *)"0",
                                 .is_interruptible = true,
                                 .output_dir = f->folders.output_dir,
                                 .log_dir = f->folders.log_dir,
                                 .temp_dir = f->folders.temp_dir,
                                 .logger_file = f->folders.logger_file };
  return rc;
}

static void clear_error(struct tm_foreground *f)
{
  tm_buf_clear(&f->error.message);
  tm_buf_clear(&f->error.stack);
  tm_buf_clear(&f->error.where);
}

static int say_failure(const struct tm_foreground *f, const char *what)
{
  const struct tm_script_error *e = &f->error;
  tm_cli_say("%s failed%s%s: %s%s%s", what, e->where.len > 0 ? " at " : "",
             e->where.len > 0 ? e->where.data : "", e->message.len > 0 ? e->message.data : "",
             e->stack.len > 0 ? "\n" : "", e->stack.len > 0 ? e->stack.data : "");
  return TM_ESCRIPT;
}

static void on_ctrl_c(void *data)
{
  struct tm_foreground *f = data;
  f->setup.run_timeout_ns = f->setup.init_timeout_ns = 0; /* it is not for them */
  if (f->ctrl_cs++ > 0)
    tm_alarm_surrender(SIGINT);
  else
    f->script.interrupt(f->script.data);
}

/* Comes again until the call has ended: an interruption may come at a moment when it does not take hold. */
static void on_late(void *data)
{
  struct tm_foreground *f = data;
  if (f->limit_ns == 0)
    return;
  f->script.interrupt(f->script.data);
  if (f->has_said_so || tm_clock_mono_ns() - f->begun_ns < f->limit_ns + f->grace_ns)
    return;
  f->has_said_so = true;
  tm_fd_append(STDERR_FILENO, f->words, strlen(f->words));
}

static void begin_call(struct tm_foreground *f, const char *what, const char *name,
                       int64_t limit_ns)
{
  if (limit_ns <= 0 || !f->setup.is_interruptible)
    return;
  snprintf(f->words, sizeof(f->words),
           "tidemill: %s has passed %s (%g s) and cannot be interrupted: it is in a C function, or "
           "waits for a program; a worker would be killed now. It is pid %ld; Ctrl-C twice ends "
           "it\n",
           what, name, (double)limit_ns / TM_S, (long)getpid());
  f->has_said_so = false;
  f->begun_ns = tm_clock_mono_ns();
  f->limit_ns = limit_ns;
  tm_alarm_start(limit_ns, AGAIN_NS);
}

static void end_call(struct tm_foreground *f)
{
  f->limit_ns = 0;
  tm_alarm_start(0, 0);
}

static int load(struct tm_foreground *f)
{
  bool has_no_run = false;
  begin_call(f, "init()", "init_timeout", f->setup.init_timeout_ns);
  int rc = f->script.load(f->script.data, &f->setup, &has_no_run, &f->error);
  if (rc < 0) {
    end_call(f);
    return say_failure(f, "loading the script");
  }
  clear_error(f);
  rc = f->script.init(f->script.data, &f->error);
  end_call(f);
  return rc < 0 ? say_failure(f, "init()") : 0;
}

/* Standard output is given back for that. */
static void write_rows(struct tm_foreground *f)
{
  struct tm_buf text = TM_BUF_NONE;
  if (f->extras.columns.len > 0 && f->has_header)
    tm_frame_add_header(&text, f->extras.columns.data, f->extras.columns.len, f->setup.separator);
  tm_buf_add(&text, tm_buf_str(&f->rows), f->rows.len);
  fflush(stdout);
  dup2(f->out_fd, STDOUT_FILENO);
  f->written = tm_cli_write(&text);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  tm_buf_release(&text);
}

/* What cannot be read of an archive is said, and left out. */
static void say_marks(const struct tm_buf *marks)
{
  struct tm_reader r;
  tm_reader_init(&r, tm_buf_str(marks), marks->len);
  while (r.at < r.end && !r.bad) {
    size_t len = 0;
    uint32_t number = tm_read_u32(&r);
    const char *words = tm_read_bytes32(&r, &len);
    tm_cli_say("item %u fails: %.*s", number, (int)len, words);
  }
}

/* As a worker has them before run(). */
static int load_entries(struct tm_foreground *f, struct tm_run_call *call)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_entry_items given;
  struct tm_buf marks = TM_BUF_NONE;
  if (!tm_entry_load_is_for(call->bytes, call->bytes_len))
    return 0;
  char *scratch = tm_path_join(f->setup.temp_dir, "entries");
  f->entries = tm_entry_loader_new(tm_fs_real(), scratch, NULL, NULL);
  free(scratch);
  int rc = tm_entry_load(f->entries, call->bytes, call->bytes_len, &given, &marks, &err);
  if (rc < 0) {
    tm_cli_say("the mini-batch cannot be loaded: %s", err.text);
  } else {
    call->bytes = given.bytes;
    call->bytes_len = given.bytes_len;
    call->items = given.items;
    call->numbers = given.numbers;
    call->entries = tm_entry_loader_entries(f->entries);
    say_marks(&marks);
  }
  tm_buf_release(&marks);
  return rc;
}

static int run(struct tm_foreground *f, const struct tm_run_call *given, const char *what)
{
  uint32_t returned = 0;
  struct tm_run_call own = *given, *call = &own;
  own.extras = &f->extras;
  clear_error(f);
  if (load_entries(f, call) < 0)
    return 1;
  begin_call(f, "run()", "run_invocation_timeout", f->setup.run_timeout_ns);
  int rc = f->script.run(f->script.data, call, &f->rows, &returned, &f->error);
  end_call(f);
  if (rc < 0)
    return say_failure(f, "run()");
  write_rows(f);
  tm_cli_say("%s: %u %s, %u %s returned%s", what, call->items,
             tm_text_counted(call->items, "item", "items"), returned,
             tm_text_counted(returned, "element", "elements"),
             returned < call->items   ? "; the missing ones count as failed items"
             : returned > call->items ? "; more than one for an item"
                                      : "");
  return 0;
}

int tm_foreground_run(struct tm_foreground *f, const struct tm_run_call *call, const char *what,
                      struct tm_err *err)
{
  setenv("TMPDIR", f->setup.temp_dir, 1); /* over what the definition may have set */
  int rc = tm_lua_script_open(&f->script, err);
  if (rc < 0)
    return rc;
  fflush(stdout);
  f->out_fd = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (f->setup.is_interruptible) {
    f->script.arm(f->script.data);
    tm_alarm_catch(SIGINT, on_ctrl_c, f);
    tm_alarm_catch(SIGALRM, on_late, f);
  }
  rc = load(f);
  if (rc == 0)
    rc = run(f, call, what);
  if (rc == 0) {
    clear_error(f);
    if (f->script.shutdown(f->script.data, &f->error) < 0)
      say_failure(f, "shutdown()"); /* fails nothing */
  }
  tm_alarm_release();
  tm_lua_script_close(&f->script);
  tm_entry_loader_free(f->entries);
  fflush(stdout);
  close(f->out_fd);
  return rc == 0 ? f->written : f->ctrl_cs > 0 ? 130 : 1;
}

void tm_foreground_close(struct tm_foreground *f)
{
  if (tm_script_folders_leave(&f->folders))
    tm_cli_say("output_dir: %s, log_dir: %s", f->folders.output_dir, f->folders.log_dir);
  tm_script_folders_release(&f->folders);
  tm_buf_release(&f->error.message);
  tm_buf_release(&f->error.stack);
  tm_buf_release(&f->error.where);
  tm_buf_release(&f->rows);
  tm_extras_release(&f->extras);
}
