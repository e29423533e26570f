/* control.h - cancels and resumes jobs, runs their failed items again, and replays mini-batches,
 * for a portal with --allow-control.
 *
 * The portal itself stays confined. Before it is, it starts a process, the helper, which is not:
 * it takes an action and the name of a job of the workspace, for a replay also a step and the
 * number of a mini-batch that the record of the job has, and nothing else. The command is its own,
 * `tidemill resume DIR`, if the library says that this is how to resume the job; for failed items
 * it is the one that the library makes of the job's record. It runs in a session of its own,
 * without descriptors of the portal and without a shell, and outlives both. A replay ends when its
 * page does (replays.h). The helper ends when the portal does, even if that is killed.
 *
 * What a job names is run only if the library trusts the job: nobody has named its path.
 */
#ifndef TM_PORTAL_CONTROL_H
#define TM_PORTAL_CONTROL_H

#include <sys/types.h>

#include "base/err.h"
#include "portal/control_rules.h"

/* In the job's directory: what the command prints (record/job_dir.c knows the names). */
#define TM_CONTROL_LOG       "portal_resume.txt"
#define TM_CONTROL_RERUN_LOG "portal_only_failed.txt"
#define TM_CONTROL_TEXT      1000

struct tm_control {
  pid_t pid; /* 0: not started */
  int fd;
  unsigned asked; /* how often */
};

struct tm_control_request {
  enum tm_control_action action;
  const char *job;    /* its key */
  const char *step;   /* TM_CONTROL_REPLAY; else NULL */
  int64_t mini_batch; /* TM_CONTROL_REPLAY */
};

struct tm_control_reply {
  unsigned number; /* of the question */
  int status;      /* of HTTP; 200: a replay runs */
  int output;      /* of it, to read without blocking and to close; else -1 */
  char text[TM_CONTROL_TEXT];
};

/* `jobs_dir`: where the jobs of the workspace are. There must be no other thread. TM_EUSAGE: the
 * program `tidemill` is not where it was installed. */
int tm_control_start(struct tm_control *c, const char *jobs_dir, struct tm_err *err);
/* Does it, and says what has become of it; waits for that for ten seconds at most. */
void tm_control_ask(struct tm_control *c, const struct tm_control_request *r,
                    struct tm_control_reply *reply);
/* Waits for its end, but less than a second. */
void tm_control_end(struct tm_control *c);

#endif
