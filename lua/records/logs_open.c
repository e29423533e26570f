/* logs_open.c - see logs.h: lines of a job's logs as they come, without blocking. */
#include "records/logs.h"

#include <stdlib.h>

#include "api/own.h"
#include "base/check.h"
#include "base/path.h"
#include "base/time.h"
#include "record/owner.h"

#define LOOK_NS (2 * TM_S) /* where changes are not reported: made by another machine */

struct tidemill_logs {
  struct tm_logs l;
  struct tm_changes changes;
  struct tidemill_logs_options o; /* with strings of our own */
  bool is_over;
};

static void on_folder(void *data, const char *path)
{
  tm_changes_add(data, path);
}

/* The folders of the steps, too: logs/ will appear there. */
static void watch_all(struct tidemill_logs *logs)
{
  tm_changes_add(&logs->changes, logs->l.dir);
  for (size_t i = 0; i < logs->l.steps.len; i++) {
    char *dir = tm_path_dir(logs->l.steps.at[i].logs_dir);
    tm_changes_add(&logs->changes, dir);
    free(dir);
  }
}

/* Folders are watched before they are read, and the job is looked at before its files: what it
 * wrote before it ended is read. */
static void look(struct tidemill_logs *logs)
{
  bool is_running = tm_owner_is_running(logs->l.dir, NULL, NULL);
  for (size_t i = 0; i < logs->l.steps.len; i++) {
    tm_log_set_look(logs->l.steps.at[i].set);
    if (!is_running)
      tm_log_set_finish(logs->l.steps.at[i].set);
  }
  logs->is_over = !is_running;
}

static int begin(struct tidemill_logs *logs, struct tm_err *err)
{
  int rc = tm_logs_choose(&logs->l, &logs->o, err);
  if (rc >= 0)
    rc = tm_changes_open(&logs->changes, LOOK_NS, err);
  if (rc < 0)
    return rc;
  watch_all(logs);
  for (size_t i = 0; i < logs->l.steps.len; i++)
    logs->l.steps.at[i].set =
        tm_log_set_new(logs->l.steps.at[i].logs_dir, &logs->l.choice, on_folder, &logs->changes);
  look(logs);
  return logs->is_over ? tm_logs_check_names(&logs->l, err) : 0;
}

static int take_options(struct tidemill_logs *logs, const struct tidemill_logs_options *options,
                        const char *call, struct tm_err *err)
{
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  int rc = tm_take_options(&o, sizeof(o), options, call, "the options",
                           "TIDEMILL_LOGS_OPTIONS_INIT", err);
  if (rc < 0)
    return rc;
  if (o.mini_batch != -1)
    return tm_err_set(err, TM_EUSAGE,
                      "%s: `mini_batch` is %lld; accepted: -1; tidemill_workspace_logs() reports "
                      "on one mini-batch",
                      call, (long long)o.mini_batch);
  logs->o = o;
  logs->o.step = tm_xstrdup(o.step);
  logs->o.worker = tm_xstrdup(o.worker);
  logs->o.node = tm_xstrdup(o.node);
  return 0;
}

int tidemill_logs_open(struct tidemill_logs **out, struct tidemill_workspace *ws, const char *job,
                       const struct tidemill_logs_options *options, struct tm_err *err)
{
  static const char call[] = "tidemill_logs_open()";
  struct tidemill_logs *logs;
  int rc;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, call, "out", out, "job", job, NULL) < 0)
    return TM_EUSAGE;
  logs = TM_NEW(struct tidemill_logs);
  rc = take_options(logs, options, call, err);
  if (rc >= 0)
    rc = (logs->l.dir = tm_workspace_job_dir(ws, job, TM_TO_READ, err)) ? 0 : err->code;
  if (rc >= 0)
    rc = begin(logs, err);
  if (rc >= 0)
    *out = logs;
  else
    tidemill_logs_close(logs);
  return rc < 0 ? rc : 0;
}

int tidemill_logs_fd(const struct tidemill_logs *logs)
{
  return logs ? logs->changes.fd : TM_EUSAGE;
}

int tidemill_logs_read(struct tidemill_logs *logs,
                       int (*on_line)(const struct tidemill_log_line *line, void *data), void *data,
                       struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_logs_read()", "logs", logs, "on_line",
              on_line ? (const void *)logs : NULL, NULL) < 0)
    return TM_EUSAGE;
  tm_changes_take(&logs->changes);
  watch_all(logs);
  look(logs);
  logs->l.on_line = on_line;
  logs->l.data = data;
  return tm_logs_tell(&logs->l);
}

bool tidemill_logs_is_over(const struct tidemill_logs *logs)
{
  return !logs || logs->is_over;
}

void tidemill_logs_close(struct tidemill_logs *logs)
{
  if (!logs)
    return;
  tm_logs_release(&logs->l);
  tm_changes_close(&logs->changes);
  free((char *)(uintptr_t)logs->o.step);
  free((char *)(uintptr_t)logs->o.worker);
  free((char *)(uintptr_t)logs->o.node);
  free(logs);
}
