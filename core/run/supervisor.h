/* supervisor.h - one step of a job: its mini-batches, its workers, its commit.
 *
 * Caller, on the loop's thread: open, which recovers what an earlier session left and says what was found; start; cancel at
 * any time; on_ended comes once, when nothing of the step runs any more; close.
 */
#ifndef TM_RUN_SUPERVISOR_H
#define TM_RUN_SUPERVISOR_H

#include "plan/pipeline.h"
#include "run/commit.h"
#include "run/events.h"
#include "run/node.h"
#include "run/share.h"

struct tm_supervisor;

struct tm_supervisor_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_events *events;
  const struct tm_job_view *job;
  const struct tm_step *step;      /* must live until close */
  uint32_t number;                 /* of the step, from 0 */
  const char *program;             /* that runs workers: `program worker` */
  const struct tm_temp_dirs *temp; /* of the node that _set_node() gives it */
  const char *script, *script_dir; /* the copy of the entry script, and of its folder */
  const char *owner_file;
  uint64_t epoch;
  bool keep_failed, verify_input, is_resumed;
  bool
      accept_changes; /* with is_resumed: a file that has changed since it was listed is handed out as it is now */
  bool records_inputs; /* <step>/state/inputs is written: input_record.h */
  void (*on_ended)(void *data, struct tm_supervisor *s);
  /* Workers are shared with other steps: whether it may have another one; NULL: it may. on_freed: one of its has ended. */
  bool (*may_start)(void *data, const struct tm_supervisor *s);
  void (*on_freed)(void *data);
  void *data;
};

int tm_supervisor_open(struct tm_supervisor **out, const struct tm_supervisor_options *o,
                       struct tm_err *err);
const struct tm_commit_found *tm_supervisor_found(const struct tm_supervisor *s);
const struct tm_step_view *tm_supervisor_view(const struct tm_supervisor *s);
/* 0, or why the step is Failed when that is more than its own failures: TM_EUSAGE (the script has no run()), a system error. */
int tm_supervisor_code(const struct tm_supervisor *s);
/* True when everything had been committed before: no worker is needed. */
bool tm_supervisor_is_over(const struct tm_supervisor *s);
/* Workers come with tm_supervisor_set_node(). on_ended may come within: everything had been committed, or nothing can start. */
void tm_supervisor_start(struct tm_supervisor *s);
/* The node is gone. What its workers had said is read, the rest goes back; _set_node() brings the next. */
void tm_supervisor_lose_node(struct tm_supervisor *s);
void tm_supervisor_set_node(struct tm_supervisor *s, struct tm_node *node);
/* No new mini-batches, the running ones may end; `now`: they are killed. */
void tm_supervisor_cancel(struct tm_supervisor *s, bool now);
/* The job cannot go on: everything is killed, the step is Failed for this reason. */
void tm_supervisor_fail(struct tm_supervisor *s, const struct tm_err *err);
/* Others have fewer workers now, and it may have more. */
void tm_supervisor_fill(struct tm_supervisor *s);
/* Ends one of its workers, once that has ended what it has in hand. */
void tm_supervisor_give_back(struct tm_supervisor *s);
void tm_supervisor_share(const struct tm_supervisor *s, struct tm_share *out);
/* About ten times a second. The numbers in the view are brought up to date, as with every event. */
void tm_supervisor_tick(struct tm_supervisor *s);
/* Before it has ended too: then its node has been closed. What was committed so far is written, and not run again when the job is
 * resumed. NULL is a no-op; memory goes when the loop has closed its timers. */
void tm_supervisor_close(struct tm_supervisor *s);

#endif
