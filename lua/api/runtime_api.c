/* runtime_api.c - a runtime: its own loop or the host's, waiting, closing.
 *
 *  (1) The host's code is called only during a turn of the loop, so that nothing happens
 *      unexpectedly during another call of the host.
 *  (2) Only one call at a time turns the loop; a call from a callback fails with an error.
 */
#include "api/own.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "api/command_host.h"
#include "api/lua_host.h"
#include "base/check.h"
#include "base/time.h"

/* What a later version of a struct may have more. A larger size was never set. */
enum { UNKNOWN_MAX = 4096 };

int tm_need(struct tm_err *err, const char *call, ...)
{
  const char *name;
  bool is_there = true;
  va_list ap;
  va_start(ap, call);
  while (is_there && (name = va_arg(ap, const char *)) != NULL)
    is_there = va_arg(ap, const void *) != NULL;
  va_end(ap);
  return is_there ? 0 : tm_err_set(err, TM_EUSAGE, "%s: `%s` is NULL", call, name);
}

/* The offset of the first byte in [from, to) that is not 0; `to`: all are. */
static size_t first_set(const unsigned char *at, size_t from, size_t to)
{
  while (from < to && at[from] == 0)
    from++;
  return from;
}

int tm_take_options(void *out, size_t size, const void *given, const char *call, const char *what,
                    const char *init, struct tm_err *err)
{
  size_t given_size = given ? *(const size_t *)given : 0, unknown;
  if (!given)
    return 0;
  if (given_size < sizeof(size_t))
    return tm_err_set(err, TM_EUSAGE, "%s: the size of %s is missing; begin with %s", call, what,
                      init);
  if (given_size > size + UNKNOWN_MAX)
    return tm_err_set(err, TM_EUSAGE, "%s: the size of %s cannot be %zu; begin with %s", call, what,
                      given_size, init);
  unknown = first_set(given, size, given_size);
  if (unknown < given_size)
    return tm_err_set(
        err, TM_EUSAGE,
        "%s: a member of %s that tidemill %s does not know is set, at byte %zu; use the "
        "library that the header came with, or leave the member 0",
        call, what, tidemill_version(), unknown);
  memcpy(out, given, given_size < size ? given_size : size);
  return 0;
}

char *tm_api_here(struct tm_err *err)
{
  char *cwd = getcwd(NULL, 0);
  if (!cwd)
    tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
  return cwd;
}

static void stop(struct tidemill_runtime *rt)
{
  if (rt->is_waiting)
    tm_loop_stop(&rt->loop);
}

static void on_limit(struct tm_timer *t)
{
  struct tidemill_runtime *rt = t->data;
  rt->is_late = true;
  stop(rt);
}

static void on_wake(struct tm_wake *w)
{
  stop(w->data);
}

static int open_loop(struct tidemill_runtime *rt, struct tm_err *err)
{
  int rc;
  if (rt->o.loop) {
    tm_loop_join(&rt->loop, rt->o.loop);
    return 0;
  }
  if ((rc = tm_loop_init(&rt->loop, err)) < 0)
    return rc;
  tm_wake_open(&rt->wake, &rt->loop, on_wake, rt);
  tm_timer_open(&rt->limit, &rt->loop, on_limit, rt);
  return 0;
}

static void free_now(void *data)
{
  struct tidemill_runtime *rt = data;
  void (*on_closed)(void *) = tm_loop_is_joined(&rt->loop) ? rt->o.on_closed : NULL;
  void *host = rt->o.data;
  tm_require(!rt->jobs && rt->pipelines == 0 && rt->consoles == 0 && rt->loading == 0);
  tm_host_values_release(rt);
  free(rt->workspace);
  free(rt->program);
  free(rt);
  if (on_closed)
    on_closed(host);
}

/* NULL means that it was not given; "" would mean the current directory. */
static int refuse_empty(const struct tidemill_runtime_options *o, struct tm_err *err)
{
  const char *name = o->workspace && !*o->workspace ? "workspace"
                     : o->program && !*o->program   ? "program"
                                                    : NULL;
  return name ? tm_err_set(err, TM_EUSAGE, "tidemill_runtime_new(): `%s` is empty", name) : 0;
}

int tidemill_runtime_new(struct tidemill_runtime **out,
                         const struct tidemill_runtime_options *options, struct tm_err *err)
{
  static const char call[] = "tidemill_runtime_new()";
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tidemill_runtime *rt;
  if (tm_need(err, call, "out", out, NULL) < 0)
    return TM_EUSAGE;
  *out = NULL;
  if (tm_take_options(&o, sizeof(o), options, call, "the options", "TIDEMILL_RUNTIME_OPTIONS_INIT",
                      err) < 0 ||
      refuse_empty(&o, err) < 0)
    return TM_EUSAGE;
  rt = TM_NEW(struct tidemill_runtime);
  rt->o = o;
  rt->log = (struct tm_log) { rt->o.on_log, rt->o.data };
  rt->fs = tm_fs_real();
  rt->workspace = tm_xstrdup(rt->o.workspace);
  rt->program = tm_program_find(rt->fs, rt->o.program, err);
  if (!rt->program || open_loop(rt, err) < 0) {
    int rc = rt->program ? -EMFILE : -ENOENT;
    free(rt->workspace);
    free(rt->program);
    free(rt);
    return err && err->code < 0 ? err->code : rc;
  }
  *out = rt;
  return 0;
}

int tm_runtime_may_turn(const struct tidemill_runtime *rt, const char *what, struct tm_err *err)
{
  if (tm_loop_is_joined(&rt->loop))
    return tm_err_set(err, TM_EUSAGE,
                      "%s: the runtime is on a loop of the host's; run that, and wait for the "
                      "job's last event",
                      what);
  if (rt->loop.is_running)
    return tm_err_set(err, TM_EUSAGE,
                      "%s: this is within a callback, or a wait; return from it first", what);
  return 0;
}

static void begin_wait(struct tidemill_runtime *rt, int timeout_ms)
{
  tm_require(!rt->is_waiting);
  rt->is_waiting = true;
  rt->is_late = false;
  if (timeout_ms > 0)
    tm_timer_start(&rt->limit, timeout_ms * TM_MS, 0);
}

static void end_wait(struct tidemill_runtime *rt)
{
  tm_require(rt->is_waiting);
  rt->is_waiting = false;
  tm_timer_stop(&rt->limit);
}

int tm_runtime_wait(struct tidemill_runtime *rt, bool (*is_done)(const void *), const void *data,
                    int timeout_ms, const char *what, struct tm_err *err)
{
  int rc = tm_runtime_may_turn(rt, what, err);
  bool is_woken;
  if (rc < 0)
    return rc;
  begin_wait(rt, timeout_ms);
  if (timeout_ms == 0 && !is_done(data)) {
    tm_loop_turn(&rt->loop);
    rt->is_late = true;
  }
  while (!is_done(data) && !rt->is_late && !atomic_load(&rt->is_woken))
    tm_loop_run(&rt->loop);
  end_wait(rt);
  if (is_done(data))
    return 0;
  is_woken = atomic_exchange(&rt->is_woken, false);
  return tm_err_set(err, is_woken ? -EINTR : -ETIMEDOUT, "%s: %s", what,
                    is_woken ? "woken" : "the time is over");
}

static size_t running(const struct tidemill_runtime *rt)
{
  size_t n = 0;
  for (const struct tidemill_job *job = rt->jobs; job; job = job->next)
    n += !job->has_ended;
  return n;
}

static bool is_idle(const void *data)
{
  return running(data) == 0;
}

int tidemill_runtime_run(struct tidemill_runtime *rt, int timeout_ms, struct tm_err *err)
{
  static const char call[] = "tidemill_runtime_run()";
  int rc = tm_need(err, call, "rt", rt, NULL);
  return rc < 0 ? rc : tm_runtime_wait(rt, is_idle, rt, timeout_ms, call, err);
}

int tidemill_runtime_turn(struct tidemill_runtime *rt, struct tm_err *err)
{
  static const char call[] = "tidemill_runtime_turn()";
  int rc = tm_need(err, call, "rt", rt, NULL);
  size_t n;
  if (rc == 0)
    rc = tm_runtime_may_turn(rt, call, err);
  if (rc < 0)
    return rc;
  tm_loop_turn(&rt->loop);
  atomic_store(&rt->is_woken, false);
  n = running(rt);
  return n > INT_MAX ? INT_MAX : (int)n;
}

int tidemill_runtime_fd(const struct tidemill_runtime *rt)
{
  return !rt || tm_loop_is_joined(&rt->loop) ? -1 : tm_loop_fd(&rt->loop);
}

int tidemill_runtime_timeout_ms(struct tidemill_runtime *rt)
{
  return !rt || tm_loop_is_joined(&rt->loop) ? -1 : tm_loop_timeout_ms(&rt->loop);
}

void tidemill_runtime_wake(struct tidemill_runtime *rt)
{
  if (!rt || tm_loop_is_joined(&rt->loop))
    return;
  atomic_store(&rt->is_woken, true);
  tm_wake_send(&rt->wake);
}

const char *tidemill_runtime_program(const struct tidemill_runtime *rt)
{
  return rt ? rt->program : NULL;
}

static int may_close(const struct tidemill_runtime *rt, struct tm_err *err)
{
  /* first: while a console is open, its thread turns the loop and changes the list of jobs */
  if (rt->consoles > 0)
    return tm_err_set(err, TM_EUSAGE,
                      "tidemill_runtime_close(): its console is open; tidemill_console_close() it "
                      "first");
  bool is_called = rt->loading > 0;
  for (const struct tidemill_job *job = rt->jobs; job; job = job->next)
    is_called = is_called || job->calls > 0;
  if (is_called || (!tm_loop_is_joined(&rt->loop) && rt->loop.is_running))
    return tm_err_set(err, TM_EUSAGE,
                      "tidemill_runtime_close(): this is within a callback; return from it first");
  if (rt->pipelines > 0)
    return tm_err_set(err, TM_EUSAGE,
                      "tidemill_runtime_close(): %zu of its pipelines %s not freed yet; "
                      "tidemill_pipeline_free() them",
                      rt->pipelines, rt->pipelines == 1 ? "is" : "are");
  return 0;
}

int tidemill_runtime_close(struct tidemill_runtime *rt, struct tm_err *err)
{
  int rc = rt ? may_close(rt, err) : 0;
  if (!rt || rc < 0)
    return rc;
  while (rt->jobs)
    tidemill_job_close(rt->jobs);
  if (tm_loop_is_joined(&rt->loop)) {
    tm_loop_leave(&rt->loop, free_now, rt);
    return 0;
  }
  tm_wake_close(&rt->wake);
  tm_timer_close(&rt->limit);
  tm_loop_release(&rt->loop);
  free_now(rt);
  return 0;
}

void tm_runtime_cancel_jobs(struct tidemill_runtime *rt, bool now)
{
  for (struct tidemill_job *job = rt->jobs; job; job = job->next)
    tidemill_job_cancel(job, now);
}

void tm_runtime_be_command(struct tidemill_runtime *rt, const struct tm_fs *fs)
{
  rt->fs = fs;
  rt->is_command = true;
}

void tidemill_set_on_fault(void (*on_fault)(const char *text, bool is_fatal, void *data),
                           void *data)
{
  tm_set_on_fault(on_fault, data);
}
