/* report.c - see report.h.
 *
 *   event -> on_event --> of its step: step_report        (files)
 *                     `-> screen                          (at once)
 *
 *  (1) Steps that are known when the job starts get their files then: messages about the job before
 *      any step begins are in the logs of each step. Another step gets them with its first event.
 *  (2) Errors of tries are shown while they are new, at a readable rate: the newest, once a second
 *      on a terminal, else about every ten seconds. All are in user/error.txt, the first ones in
 *      the result.
 */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "report/result.h"
#include "report/step_report.h"

#define ERROR_BAR_NS   TM_S
#define ERROR_PLAIN_NS (10 * TM_S)
#define ERROR_MAX      300 /* bytes of an error's text */

struct tm_report {
  struct tm_report_options o;
  struct tm_listener listener;
  struct tm_screen screen;
  struct TM_ARRAY(struct tm_step_report *) steps; /* by number; NULL: unknown so far */
  struct tm_buf error;                            /* the newest that was not shown yet */
  int64_t error_ns;                               /* monotonic: when one was shown; 0: never */
};

static void on_note(void *data, const struct tm_err *err)
{
  struct tm_report *r = data;
  char *text = tm_xprintf("%s; the job continues without it", err->text);
  tm_screen_say(&r->screen, TM_WARNING, text);
  free(text);
}

static struct tm_step_report *step_of(struct tm_report *r, const struct tm_event *e,
                                      const struct tm_step_view *step)
{
  while (r->steps.len <= step->number)
    *TM_ARRAY_ADD(&r->steps) = NULL;
  if (!r->steps.at[step->number])
    r->steps.at[step->number] = tm_step_report_new(r->o.fs, e, step, on_note, r);
  return r->steps.at[step->number];
}

/* The place and the first line; the rest comes with the result. */
static void add_short(struct tm_buf *out, const char *where, const char *message)
{
  size_t first_line = strcspn(message, "\n");
  if (*where && strncmp(message, where, strlen(where)) != 0)
    tm_buf_printf(out, "%s: ", where);
  tm_text_one_line(out, message, first_line, ERROR_MAX);
  if (message[first_line])
    tm_buf_add_str(out, " ...");
}

/* The newest error. */

static void keep_error(struct tm_report *r, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  tm_buf_clear(&r->error);
  tm_buf_printf(&r->error, "mini-batch %" PRIu64 ", try %" PRIu32 ": ", a->index, a->try);
  add_short(&r->error, a->script_where, a->message);
}

static void show_error(struct tm_report *r, int64_t mono_ns) /* keeps (2) */
{
  int64_t every = r->o.progress == TM_PROGRESS_BAR ? ERROR_BAR_NS : ERROR_PLAIN_NS;
  if (r->error.len == 0 || r->o.progress == TM_PROGRESS_NONE ||
      (r->error_ns != 0 && mono_ns - r->error_ns < every))
    return;
  r->error_ns = mono_ns;
  tm_screen_say(&r->screen, TM_WARNING, r->error.data);
  tm_buf_clear(&r->error);
}

/* Events. */

static void on_job_started(struct tm_report *r, const struct tm_event *e)
{
  tm_screen_start(&r->screen, e->job, e->mono_ns);
  for (size_t i = 0; i < e->job->steps_len; i++) /* keeps (1) */
    if (e->job->steps[i] && !e->job->steps[i]->is_idle)
      step_of(r, e, e->job->steps[i]);
}

/* Messages about the job, and about its nodes, go to the logs of every step. */
static void on_message(struct tm_report *r, const struct tm_event *e)
{
  if (e->step)
    step_of(r, e, e->step);
  for (size_t i = 0; i < r->steps.len; i++)
    if (r->steps.at[i] && (!e->step || e->step->number == i))
      tm_step_report_add(r->steps.at[i], e);
  if (!e->is_for_logs && (e->level >= TM_WARNING || (!e->step && e->level == TM_INFO)))
    tm_screen_say(&r->screen, e->level, e->text);
}

static void on_tick(struct tm_report *r, const struct tm_event *e)
{
  for (size_t i = 0; i < r->steps.len && i < e->job->steps_len; i++)
    if (r->steps.at[i] && e->job->steps[i])
      tm_step_report_tick(r->steps.at[i], e, e->job->steps[i]);
  show_error(r, e->mono_ns);
  tm_screen_tick(&r->screen, e->job, e->mono_ns);
}

/* As a step has it, else where it is made. */
static char *log_of_node(void *data, uint32_t id)
{
  const struct tm_job_view *job = data;
  for (size_t i = 0; i < job->steps_len; i++) {
    char *log = job->steps[i] ? tm_xprintf("%s/sys/node/%" PRIu32 "/launcher.txt",
                                           job->steps[i]->logs_dir, id)
                              : NULL;
    if (log && tm_fs_exists(tm_fs_real(), log))
      return log;
    free(log);
  }
  return tm_xprintf("%s/nodes/%" PRIu32 ".txt", job->dir, id);
}

static void on_job_ended(struct tm_report *r, const struct tm_event *e)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_result_add_job(&text, e->job, e->mono_ns - e->job->begin_mono_ns);
  if (e->job->steps_len == 0)
    tm_buf_printf(&text, "  job: %s\n", e->job->dir);
  for (size_t i = 0; i < e->job->steps_len; i++) {
    const struct tm_step_report *s = i < r->steps.len ? r->steps.at[i] : NULL;
    if (e->job->steps[i])
      tm_result_add_step(&text, e->job->steps[i], tm_step_report_errors(s), 2);
  }
  tm_result_add_nodes(&text, e->job, 2, log_of_node, (void *)e->job);
  tm_screen_end(&r->screen, e->job, e->mono_ns, &text);
  tm_buf_release(&text);
}

static void on_step_event(struct tm_report *r, const struct tm_event *e)
{
  struct tm_buf text = TM_BUF_NONE;
  if (!tm_step_report_add(step_of(r, e, e->step), e))
    return;
  if (e->kind == TM_EVENT_TRY_ENDED) {
    keep_error(r, e);
    return;
  }
  tm_buf_printf(&text, "%s failed%s: ", tm_event_failed(e),
                e->kind == TM_EVENT_SHUTDOWN_FAILED ? ", which fails no item" : "");
  add_short(&text, e->script_where, e->message);
  tm_screen_say(&r->screen, TM_WARNING, text.data);
  tm_buf_release(&text);
}

static void on_event(void *data, const struct tm_event *e)
{
  struct tm_report *r = data;
  switch (e->kind) {
  case TM_EVENT_JOB_STARTED: on_job_started(r, e); break;
  case TM_EVENT_TICK: on_tick(r, e); break;
  case TM_EVENT_JOB_ENDED: on_job_ended(r, e); break;
  case TM_EVENT_NODE:
  case TM_EVENT_MESSAGE: on_message(r, e); break;
  default: on_step_event(r, e); break;
  }
}

struct tm_report *tm_report_new(const struct tm_report_options *o)
{
  struct tm_report *r = TM_NEW(struct tm_report);
  r->o = *o;
  r->listener = (struct tm_listener) { .on_event = on_event, .data = r };
  tm_screen_init(&r->screen, &o->writer, o->progress, o->has_color);
  tm_events_add(o->events, &r->listener);
  return r;
}

void tm_report_say(struct tm_report *r, enum tm_level level, const char *text)
{
  tm_screen_say(&r->screen, level, text);
}

void tm_report_free(struct tm_report *r)
{
  if (!r)
    return;
  for (size_t i = 0; i < r->steps.len; i++)
    tm_step_report_free(r->steps.at[i]);
  TM_ARRAY_RELEASE(&r->steps);
  tm_buf_release(&r->error);
  tm_screen_release(&r->screen);
  free(r);
}
