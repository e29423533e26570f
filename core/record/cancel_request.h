/* cancel_request.h - a request to cancel a job that another process runs.
 *
 * The request is a file in the job's directory, not a signal: the process that runs the job may be
 * a host application, or run on another machine that shares the file system.
 *
 *   cancel          the request, renamed into place by the process that asks
 *   cancel.taken    its name after the supervisor has taken it
 *
 * Both are JSON: {"epoch": of the session, "now": bool, "user", "host", "pid": of the process that
 * asks}. A request names the session that it is for, by the random epoch in the job's `owner`. So a
 * request that is left over never cancels a later session.
 *
 * The process that asks: tm_session_look() and tm_cancel_judge() tell whether there is something to
 * cancel; tm_cancel_request_put() leaves the request; tm_session_look() again tells when the
 * session has ended. The supervisor calls tm_cancel_watch_look() at each tick. It ignores and
 * removes requests of other users and requests that it cannot read.
 */
#ifndef TM_RECORD_CANCEL_REQUEST_H
#define TM_RECORD_CANCEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define TM_CANCEL_NAME_MAX 256 /* bytes of a user's or a host's name, with the NUL */

struct tm_cancel_request {
  uint64_t epoch;
  bool now; /* kills running mini-batches */
  int64_t pid;
  char user[TM_CANCEL_NAME_MAX], host[TM_CANCEL_NAME_MAX]; /* printable ASCII without blanks */
};

/* Adds the request as the text of the file. */
void tm_cancel_request_write(struct tm_buf *out, const struct tm_cancel_request *r);
/* TM_EDAMAGE: the text is not a request. */
int tm_cancel_request_parse(struct tm_cancel_request *out, const char *text, size_t len,
                            struct tm_err *err);
/* For the result of a job that was canceled: {"now", "user", "host", "pid"}; to free. */
struct tm_json *tm_cancel_request_to_json(const struct tm_cancel_request *r);
/* The same back. False: it is not a request. */
bool tm_cancel_request_from_json(struct tm_cancel_request *out, const struct tm_json *v);
/* Copies a name into a request: bytes that it may not hold become '?'. */
void tm_cancel_name_set(char out[TM_CANCEL_NAME_MAX], const char *name);

/* Leaves the request in the job's directory `dir`; replaces an earlier request. */
int tm_cancel_request_put(const char *dir, const struct tm_cancel_request *r, struct tm_err *err);
/* The request for the session with this epoch, if there is one. `is_taken` may be NULL. */
bool tm_cancel_request_find(struct tm_cancel_request *out, const char *dir, uint64_t epoch,
                            bool *is_taken);
/* Removes requests, whether taken or not. */
void tm_cancel_request_forget(const char *dir);

/* The supervisor's look for requests. Zero it first. */
struct tm_cancel_watch {
  int64_t due_ns;
  bool has_failed; /* to take a request: this has been reported */
};
/* Looks twice a second, and otherwise returns at once. 1: `out` is a request for the session with
 * this epoch. 0: there is no such request. Negative: a request is ignored; `err` says why, once for
 * each. */
int tm_cancel_watch_look(struct tm_cancel_watch *w, const char *dir, uint64_t epoch,
                         int64_t mono_ns, struct tm_cancel_request *out, struct tm_err *err);

/* The session of a job: who runs it, or ran it last. A message may tell the user to kill the
 * process: an owner file without a process's number, such as 0 or -1, names no session. */
struct tm_session {
  bool is_held;                  /* a process has the job's lock, as far as this machine can see */
  bool has_result;               /* job_result.json exists */
  bool has_ended;                /* the result is of this session */
  uint64_t epoch;                /* 0: not known */
  int64_t pid;                   /* 0: not known */
  char host[TM_CANCEL_NAME_MAX]; /* "": not known */
};
/* -ENOENT: the directory does not exist. System errors. */
int tm_session_look(struct tm_session *out, const char *dir, struct tm_err *err);

enum tm_cancel_way {
  TM_CANCEL_BY_REQUEST,
  TM_CANCEL_OVER,        /* the job has a result */
  TM_CANCEL_INTERRUPTED, /* no process runs it, and it has no result */
  /* the same, but it last ran on another host, whose locks may not be visible here */
  TM_CANCEL_ELSEWHERE,
};
/* Only decides. `host`: of this machine. */
enum tm_cancel_way tm_cancel_judge(const struct tm_session *s, const char *host);

#endif
