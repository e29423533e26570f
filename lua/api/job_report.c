/* job_report.c - what a job writes for its user: logs and the screen (core/report), and a joblog
 * (core/export). */
#include "api/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "export/joblog_file.h"

/* ---- logs and the screen ---- */

/* The screen's calls are callbacks too. It shows nothing once a callback has closed the job. */

static void screen_write(void *data, const char *text, size_t len)
{
  struct tidemill_job *job = data;
  if (job->wants_close)
    return;
  job->calls++;
  job->screen.write(text, len, job->screen.data);
  job->calls--;
}

static bool screen_is_ready(void *data)
{
  struct tidemill_job *job = data;
  if (job->wants_close)
    return false;
  job->calls++;
  bool is_ready = job->screen.is_ready(job->screen.data);
  job->calls--;
  return is_ready;
}

static int screen_width(void *data)
{
  struct tidemill_job *job = data;
  if (job->wants_close)
    return 0;
  job->calls++;
  int width = job->screen.width(job->screen.data);
  job->calls--;
  return width;
}

static struct tm_report_options report_options(struct tidemill_job *job)
{
  static const enum tm_progress_mode modes[] = { [TIDEMILL_PROGRESS_NONE] = TM_PROGRESS_NONE,
                                                 [TIDEMILL_PROGRESS_PLAIN] = TM_PROGRESS_PLAIN,
                                                 [TIDEMILL_PROGRESS_BAR] = TM_PROGRESS_BAR };
  const struct tidemill_screen *given = job->o.screen;
  struct tidemill_screen *s = &job->screen;
  *s = (struct tidemill_screen)TIDEMILL_SCREEN_INIT;
  if (given)
    memcpy(s, given, given->size < sizeof(*s) ? given->size : sizeof(*s));
  if ((unsigned)s->progress >= TM_COUNT_OF(modes))
    s->progress = TIDEMILL_PROGRESS_NONE;
  return (struct tm_report_options) { .writer = { .write = s->write ? screen_write : NULL,
                                                  .is_ready = s->is_ready ? screen_is_ready : NULL,
                                                  .width = s->width ? screen_width : NULL,
                                                  .data = job },
                                      .progress = modes[s->progress],
                                      .has_color = s->has_color };
}

static void open_report(struct tidemill_job *job)
{
  tm_require(!job->report && !job->job);
  struct tm_report_options o = report_options(job);
  o.fs = job->rt->fs;
  o.events = &job->events;
  job->report = tm_report_new(&o);
  job->o.screen = NULL; /* the host's memory */
}

/* ---- the joblog ---- */

static void on_joblog_failure(void *data, const struct tm_err *err)
{
  struct tidemill_job *job = data;
  char *text = tm_xprintf("%s; the job continues without it", err->text);
  tm_report_say(job->report, TM_WARNING, text);
  free(text);
}

static int open_joblog(struct tidemill_job *job, const char *path, struct tm_err *err)
{
  struct tm_joblog_file_options o = { .fs = job->rt->fs,
                                      .path = path,
                                      .events = &job->events,
                                      .on_failure = on_joblog_failure,
                                      .data = job };
  job->o.joblog = NULL; /* the host's memory */
  job->joblog = path ? tm_joblog_file_new(&o, err) : NULL;
  if (!path || job->joblog)
    return 0;
  tm_err_wrap(err, "`joblog`");
  err->code = TM_EUSAGE;
  return TM_EUSAGE;
}

/* ---- both ---- */

int tm_job_report_open(struct tidemill_job *job, struct tm_err *err)
{
  open_report(job);
  return open_joblog(job, job->o.joblog, err);
}

void tm_job_report_close(struct tidemill_job *job)
{
  tm_joblog_file_free(job->joblog); /* which may report a failure */
  tm_report_free(job->report);
}
