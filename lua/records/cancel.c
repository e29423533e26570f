/* cancel.c - cancels a job that another process runs, for hosts. Leaves a request in the job's
 * directory, and reads the result from the job's files (record/cancel_request.h).
 */
#include "records/disk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/own.h"
#include "base/check.h"
#include "record/cancel_request.h"
#include "record/job_record.h"
#include "record/owner.h"
#include "sys/process.h"

struct tidemill_cancel {
  struct tidemill_cancel_info info;
  struct tm_session session; /* the session that got the request, or the last one */
  char *dir;
  char here[TM_CANCEL_NAME_MAX];
};

static enum tidemill_state state_of(const char *name)
{
  for (int i = TIDEMILL_STATE_RUNNING; i <= TIDEMILL_STATE_WAITING; i++)
    if (strcmp(tidemill_state_name((enum tidemill_state)i), name) == 0)
      return (enum tidemill_state)i;
  return TIDEMILL_STATE_INTERRUPTED;
}

/* Reads how an ended session ended. */
static int take_end(struct tidemill_cancel *c, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  tm_require(!c->info.has_ended);
  struct tm_json *result = tm_job_result_load(c->dir, &why);
  c->info.has_ended = true;
  c->info.state = result ? state_of(tm_json_str(result, "status", "")) : TIDEMILL_STATE_INTERRUPTED;
  tm_json_free(result);
  if (why.code < 0)
    *err = why;
  return why.code;
}

/* The request is gone: either the session has just ended, or the process has removed the
 * request. */
static int take_missing(struct tidemill_cancel *c, struct tm_err *err)
{
  struct tm_session now;
  int rc = tm_session_look(&now, c->dir, err);
  if (rc < 0 || c->info.is_taken || now.epoch != c->session.epoch ||
      tm_cancel_judge(&now, c->here) != TM_CANCEL_BY_REQUEST)
    return rc < 0 ? rc : 0; /* the next check reports it */
  return tm_err_set(
      err, TM_EUSAGE,
      "the process that runs job '%s' refuses the request: only the user who runs the "
      "job, or root, can cancel it",
      c->dir);
}

static bool is_stopped(const struct tidemill_cancel *c, const struct tm_session *s)
{
  return tm_cancel_judge(s, c->here) == TM_CANCEL_BY_REQUEST &&
         tm_owner_is_stopped(s->pid, s->host);
}

static int take_look(struct tidemill_cancel *c, const struct tm_session *now, struct tm_err *err)
{
  struct tm_cancel_request request;
  bool is_taken = false;
  tm_require(!c->info.has_ended);
  enum tm_cancel_way way = tm_cancel_judge(now, c->here);
  c->info.is_resumed = c->info.is_asked && now->is_held && now->epoch != c->session.epoch;
  c->info.is_elsewhere = way == TM_CANCEL_ELSEWHERE;
  c->info.is_stopped = !c->info.is_resumed && is_stopped(c, now);
  if (c->info.is_resumed)
    c->info.has_ended = true;
  else if (way != TM_CANCEL_BY_REQUEST)
    return take_end(c, err);
  else if (!tm_cancel_request_find(&request, c->dir, now->epoch, &is_taken))
    return take_missing(c, err);
  c->info.is_taken = is_taken;
  return 0;
}

static int ask(struct tidemill_cancel *c, bool now, struct tm_err *err)
{
  struct tm_cancel_request r = { .epoch = c->session.epoch, .now = now, .pid = getpid() };
  char *user = tm_process_user();
  int rc;
  tm_require(!c->info.is_asked); /* a session gets one request */
  if (c->session.epoch == 0)
    rc = tm_err_set(err, TM_EDAMAGE,
                    "cannot cancel the job: '%s/owner' does not say which process runs it; end "
                    "that process, or send it SIGINT",
                    c->dir);
  else {
    tm_cancel_name_set(r.user, user);
    tm_cancel_name_set(r.host, *c->here ? c->here : "unknown");
    rc = tm_cancel_request_put(c->dir, &r, err);
    if (rc < 0)
      tm_err_wrap(err, "cannot leave a request to cancel job '%s'", c->dir);
  }
  free(user);
  c->info.is_asked = rc == 0;
  return rc;
}

static int begin(struct tidemill_cancel *c, bool now, struct tm_err *err)
{
  char host[TM_CANCEL_NAME_MAX] = "";
  (void)gethostname(host, sizeof(host) - 1);
  tm_cancel_name_set(c->here, host);
  c->info = (struct tidemill_cancel_info) { .size = sizeof(c->info), .dir = c->dir };
  int rc = tm_session_look(&c->session, c->dir, err);
  if (rc < 0)
    return rc;
  c->info.pid = c->session.pid;
  c->info.host = c->session.host;
  c->info.is_stopped = is_stopped(c, &c->session);
  if (tm_cancel_judge(&c->session, c->here) == TM_CANCEL_BY_REQUEST)
    return ask(c, now, err);
  return take_look(c, &c->session, err);
}

int tidemill_cancel_new(struct tidemill_cancel **out, struct tidemill_workspace *ws,
                        const char *job, bool now, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_cancel_new()", "out", out, "job", job, NULL) < 0)
    return TM_EUSAGE;
  char *dir = tm_workspace_job_dir(ws, job, TM_TO_USE, err);
  if (!dir)
    return err->code;
  struct tidemill_cancel *c = TM_NEW(struct tidemill_cancel);
  c->dir = dir;
  int rc = begin(c, now, err);
  if (rc == 0)
    *out = c;
  else
    tidemill_cancel_free(c);
  return rc;
}

int tidemill_cancel_look(struct tidemill_cancel *c, struct tm_err *err)
{
  struct tm_session now;
  err = TM_ERR_OWN(err);
  int rc = tm_need(err, "tidemill_cancel_look()", "c", c, NULL);
  if (rc == 0 && !c->info.has_ended)
    rc = tm_session_look(&now, c->dir, err);
  return rc < 0 || c->info.has_ended ? rc : take_look(c, &now, err);
}

const struct tidemill_cancel_info *tidemill_cancel_info(const struct tidemill_cancel *c)
{
  return c ? &c->info : NULL;
}

void tidemill_cancel_free(struct tidemill_cancel *c)
{
  if (!c)
    return;
  free(c->dir);
  free(c);
}
