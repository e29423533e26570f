/* job_own.h - the inside of a job, shared by its files and nobody else:
 *
 *   job.c        the job: opening, the node, the result
 *   job_cancel.c ending it early: asked for by its owner, or by another process
 *   job_steps.c  its steps: which one may begin, what the end of one means for others, who has how many workers
 *   reusing.c    results of earlier jobs: looked for before a step begins, kept when it is Completed
 */
#ifndef TM_RUN_JOB_OWN_H
#define TM_RUN_JOB_OWN_H

#include "base/mem.h"
#include "run/job.h"
#include "run/cancel_request.h"
#include "run/job_dir.h"
#include "run/recheck.h"
#include "run/reuse.h"
#include "run/step_view.h"
#include "run/supervisor.h"
#include "run/temp_dirs.h"

enum tm_step_state {
  TM_STEP_WAITING, /* for others, or for a worker */
  TM_STEP_LOOKS,   /* whether an earlier result of another job can be taken */
  TM_STEP_OPEN,    /* what an earlier session left is recovered */
  TM_STEP_RUNS,
  TM_STEP_OVER,
};

struct tm_job_step {
  enum tm_step_state state;
  struct tm_supervisor *s; /* from OPEN on; NULL: nothing of it is run */
  struct tm_step_view own; /* what is known of it without */
  struct tm_step_places places;
  struct tm_reuse *reuse; /* NULL: it has nothing to do with other jobs */
  bool may_reuse;         /* that is to be seen when what it waits for is there */
  /* its destinations are looked at when it is known that it is run: what is there may be the result
   */
  bool is_unchecked;
  struct tm_reuse_errand *errand;   /* at work; or NULL */
  struct tm_stale_look *stale_look; /* likewise: stale_inputs.h */
  struct tm_json *kept;             /* its result of an earlier session: it was Completed */
  struct tm_err cause;              /* why it cannot be run, or not be recorded; code 0: nothing */
  char *why;                        /* it is not run; the view's */
  size_t *needs;                    /* numbers of the steps it waits for */
  size_t needs_len;
};

struct tm_job {
  struct tm_job_options o;
  struct tm_job_dir dir;
  struct tm_job_view view;
  struct tm_snapshot *snapshots;          /* by step */
  struct tm_job_step *steps;              /* likewise */
  const struct tm_step_view **step_views; /* likewise: the supervisor's, else the step's own */
  size_t steps_len, steps_over;
  size_t errands; /* threads at work: of reuse, and of stale_inputs.h */
  int64_t max_workers;
  struct tm_share *shares;   /* room for one for each step */
  bool is_going, goes_again; /* job_steps.c (2) */
  struct tm_node *node;
  struct tm_temp_dirs temp; /* of that node */
  struct tm_timer tick;
  struct tm_json *earlier;       /* result of a job that is Completed already */
  struct tm_recheck *recheck;    /* while the inputs of that are compared */
  bool is_refused;               /* they are others: nothing has been done */
  struct TM_ARRAY(char *) notes; /* said when the job starts */
  int64_t canceled_ns;           /* monotonic; 0: not */
  struct tm_cancel_watch cancel_watch;
  bool is_made,
      /* the directory: by this session, and nobody else is in it; there had been an empty folder */
      is_empty_before;
  bool is_void; /* it was refused when it was opened: nothing of it stays */
  bool is_started, is_ended;
  int code;
  struct tm_err cause;
};

/* job.c */
void tm_job_note(struct tm_job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tm_job_emit(struct tm_job *job, enum tm_event_kind kind, enum tm_level level,
                 const char *text);
void tm_job_start_node(struct tm_job *job);
void tm_job_end(struct tm_job *job);
/* Ends without having begun: the job stays as it was. */
void tm_job_end_refused(struct tm_job *job, enum tm_verdict verdict);

/* job_cancel.c */
/* At each tick: cancels the job if another process has asked for it. */
void tm_job_hear_request(struct tm_job *job);

/* job_steps.c */
void tm_job_steps_init(struct tm_job *job);
/* What is kept of each step, and those that need not wait are opened; nothing runs yet. */
int tm_job_steps_open(struct tm_job *job, struct tm_err *err);
/* Begins all that can begin, and ends the job when all is over. */
void tm_job_steps_go(struct tm_job *job);
void tm_job_steps_tick(struct tm_job *job);
void tm_job_steps_cancel(struct tm_job *job, bool now);
void tm_job_steps_set_node(struct tm_job *job, struct tm_node *node);
void tm_job_steps_lose_node(struct tm_job *job);
void tm_job_steps_fail(struct tm_job *job, const struct tm_err *err);
/* Whether anything that is not over runs. */
bool tm_job_steps_need_node(const struct tm_job *job);
void tm_job_steps_close(struct tm_job *job);
void tm_job_steps_release(struct tm_job *job);

/* reusing.c */
/* Which steps may be reused, as far as definitions say. What is wrong with the database is noted,
 * and the job goes on without. */
void tm_reusing_open(struct tm_job *job);
/* Looks, on a thread: the step is then OVER, or WAITING again without may_reuse. False: no thread
 * can be had. */
bool tm_reusing_begin(struct tm_job *job, size_t i);
/* The step is Completed: its result is kept for other jobs. */
void tm_reusing_keep(struct tm_job *job, size_t i);
void tm_reusing_cancel(struct tm_job *job);
void tm_reusing_close(struct tm_job *job); /* nothing of it is at work any more */
void tm_reusing_release(struct tm_job *job);

/* job_steps.c, for reusing.c: it is over, as an earlier result says. */
void tm_job_steps_take(struct tm_job *job, size_t i, const struct tm_step_view *view);

#endif
