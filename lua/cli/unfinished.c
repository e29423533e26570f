/* unfinished.c - see unfinished.h.
 *
 * Handlers only count and wake the runtime: a signal that they block could not end an endless
 * on_event of the script.
 */
#include "cli/unfinished.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/terminal/signals.h"

/* A program that signals a process and its group sends the same signal twice; users are slower. */
#define AGAIN_NS (20 * TM_MS)

/* ---- the screen ---- */

static void on_write(const char *text, size_t len, void *data)
{
  struct tm_unfinished *u = data;
  struct tidemill_screen screen = tm_terminal_screen(&u->terminal);
  if (u->is_waiting)
    screen.write(text, len, screen.data);
}

static bool is_ready(void *data)
{
  struct tm_unfinished *u = data;
  struct tidemill_screen screen = tm_terminal_screen(&u->terminal);
  return u->is_waiting && screen.is_ready(screen.data);
}

static int width(void *data)
{
  struct tm_unfinished *u = data;
  struct tidemill_screen screen = tm_terminal_screen(&u->terminal);
  return screen.width(screen.data);
}

void tm_unfinished_init(struct tm_unfinished *u)
{
  *u = (struct tm_unfinished) { .screen = TIDEMILL_SCREEN_INIT };
  tm_terminal_init(&u->terminal, STDERR_FILENO);
  u->screen.write = on_write;
  u->screen.is_ready = is_ready;
  u->screen.width = width;
  u->screen.data = u;
  u->screen.progress =
      tm_terminal_has_bar(&u->terminal) ? TIDEMILL_PROGRESS_BAR : TIDEMILL_PROGRESS_PLAIN;
  u->screen.has_color = tm_terminal_has_color(&u->terminal);
}

void tm_unfinished_release(struct tm_unfinished *u)
{
  u->is_waiting = false;
  tm_terminal_release(&u->terminal);
}

/* ---- signals ---- */

static void on_end(int signal, void *data)
{
  struct tm_unfinished *u = data;
  int64_t now = tm_cli_now_ns();
  if (u->presses > 0 && now - u->pressed_ns < AGAIN_NS)
    return;
  u->pressed_ns = now;
  if (++u->presses > 2)
    tm_signals_surrender(SIGINT);
  tidemill_runtime_wake(u->rt);
}

static void catch_ends(struct tm_unfinished *u)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++)
    if (!tm_signals_is_ignored(numbers[i]))
      tm_signals_catch(numbers[i], on_end, u);
  signal(SIGPIPE, SIG_IGN); /* a closed pipe must be a write error, which does not end the job */
}

/* ---- the wait ---- */

static void cancel_all(const struct tm_unfinished *u, bool now)
{
  for (size_t i = 0; i < u->len; i++) {
    struct tidemill_job *job = u->job(u->data, i);
    if (!job || tidemill_job_state(job) != TIDEMILL_STATE_RUNNING)
      continue;
    tidemill_job_say(
        job, TIDEMILL_LEVEL_INFO,
        now ? "canceling: what still runs is killed; once more ends the program at once"
            : "canceling: no more mini-batches are handed out, running ones may end; "
              "once more kills them");
    tidemill_job_cancel(job, now);
  }
}

static void begin(const struct tm_unfinished *u)
{
  for (size_t i = 0; i < u->len; i++) {
    struct tidemill_job *job = u->job(u->data, i);
    char *words = tm_xprintf("the script has ended; waiting for job '%s' (Ctrl-C cancels it): %s",
                             tidemill_job_name(job), tidemill_job_dir(job));
    tidemill_job_say(job, TIDEMILL_LEVEL_INFO, words);
    free(words);
  }
}

/* Shows what to do next for each job; returns the status of the first that is not Completed. */
static int end(const struct tm_unfinished *u)
{
  int status = 0;
  for (size_t i = 0; i < u->len; i++) {
    struct tidemill_job *job = u->job(u->data, i);
    if (!job)
      continue;
    tm_execute_say_next(job, NULL);
    status = status ? status : tidemill_job_exit_status(job);
  }
  return status;
}

int tm_unfinished_wait(struct tm_unfinished *u)
{
  struct tm_err err = TM_ERR_NONE;
  int canceled = 0, rc;
  if (u->len == 0)
    return 0;
  u->is_waiting = true;
  catch_ends(u);
  begin(u);
  while ((rc = tidemill_runtime_run(u->rt, -1, &err)) == -EINTR)
    if (u->presses > canceled)
      cancel_all(u, (canceled = u->presses) > 1);
  tm_signals_release();
  int status = end(u);
  tm_unfinished_release(u);
  if (rc < 0)
    tm_cli_say("%s", err.text);
  return rc < 0 ? 3 : status;
}
