/* survey.h - what there is to say of a job, read from its files: running, interrupted or over, how
 * much of it is done.
 *
 * Nothing is written and nobody is asked; a job that runs does not notice. Numbers of a job that is
 * over are those of its result; else they are counted from the journal and the end of the manifest,
 * 64 bytes for each mini-batch that has ended. What a power cut may have cost behind the last sync
 * record is counted as done: whether the output holds it is the business of verify.h and of the
 * next session.
 */
#ifndef TM_RUN_SURVEY_H
#define TM_RUN_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "run/activity.h"
#include "run/cancel_request.h"

enum tm_job_status {
  TM_JOB_RUNNING,
  TM_JOB_INTERRUPTED, /* it has no result, and nobody runs it */
  TM_JOB_COMPLETED,
  TM_JOB_FAILED,
  TM_JOB_CANCELED,
};
const char *tm_job_status_name(enum tm_job_status s); /* "Running" */

#define TM_SURVEY_ERRORS 3 /* at most so many of a step */

/* Why items failed: one reason. */
struct tm_survey_error {
  char *message;      /* may be of several lines */
  char *item;         /* the first; NULL: it is not known which */
  char *log;          /* the file with the whole, or NULL */
  int64_t mini_batch; /* of the first */
  int64_t items;      /* how many failed for it, as far as they were read */
};

struct tm_step_survey {
  char *name;
  char *status;            /* of a step that is over: as in the result; else NULL */
  char *reused_from;       /* the job whose result it is: nothing was run; else NULL */
  char *waits_for;         /* "'a', 'b'": steps, of one that has not begun; else NULL */
  char *cause;             /* why it Failed, or NULL */
  char *output;            /* where the rows are, or the folder; NULL: not known yet */
  struct tm_json *outputs; /* of a step that is over, those with names, as in the result; or NULL */
  char *error_file;        /* logs/user/error.txt where it is there, else NULL */
  int64_t total;           /* mini-batches, so far */
  bool is_listed;          /* total is final */
  int64_t succeeded, failed; /* mini-batches */
  int64_t uncounted; /* of `failed`: those whose rows nobody could count; each counts as one item */
  int64_t items_total;                   /* -1: not known before all are listed */
  int64_t items_succeeded, items_failed; /* of mini-batches that are over */
  int64_t try_errors, try_timeouts,
      /* tries of all sessions that failed, as far as the summary has them; -1: there is none */
      try_lost;
  int64_t sessions;                                /* 0: not begun */
  int64_t begin_wall_ns;                           /* of the first session; 0: not begun */
  int64_t session_wall_ns;                         /* of the last one */
  int64_t session_ended;                           /* mini-batches that have ended in it */
  int64_t damage_at;                               /* place of the first bad record; -1: none */
  struct tm_survey_error errors[TM_SURVEY_ERRORS]; /* distinct; the last first */
  size_t errors_len;
  /* the list is long, and its end alone was read: there may be more items and reasons */
  bool errors_cut;
  struct tm_activities
      activities; /* of a step that runs: what has taken a second or longer (activity.h) */
};

struct tm_survey {
  char *dir, *name, *pipeline_file;
  enum tm_job_status status;
  int64_t pid; /* of the supervisor, the last one; 0: not known */
  char *host;
  bool is_cancel_asked,
      is_cancel_taken; /* of a running job: by `cancel`; and its supervisor knows */
  struct tm_cancel_request cancel;
  char *cause;           /* why it Failed, or NULL */
  int64_t begin_wall_ns; /* of the first session; 0: none has begun */
  /* of the result; when it is missing, of the last record; 0: not known; running: 0 */
  int64_t end_wall_ns;
  int64_t now_wall_ns; /* when this was read */
  struct tm_step_survey *steps;
  size_t steps_len;
};

/* `dir`: absolute. `now_wall_ns` is the clock's. TM_EDAMAGE, TM_EVERSION, system errors. Release it
 * in every case. Leaves out the details. */
int tm_survey_read(struct tm_survey *s, const char *dir, int64_t now_wall_ns, struct tm_err *err);
/* The same for a list of thousands of jobs. Of a job that is over, its result is read and not its
 * definition, and pid and host are not looked for. */
int tm_survey_read_for_list(struct tm_survey *s, const char *dir, int64_t now_wall_ns,
                            struct tm_err *err);
/* Adds the details, once: the last errors, error_file, the numbers of tries, activities, and
 * is_listed of steps that are over. */
void tm_survey_read_details(struct tm_survey *s);
void tm_survey_release(struct tm_survey *s);

/* Mini-batches a second in the session that runs, over all of it; 0: nothing has ended yet. */
double tm_survey_rate(const struct tm_survey *s, const struct tm_step_survey *step);
/* What `status --json` writes; to free. */
struct tm_json *tm_survey_to_json(const struct tm_survey *s);

/* Whether a supervisor has the job, by its lock; its pid and host (to free()) where `owner` says
 * so. Both may be NULL. */
bool tm_survey_is_running(const char *dir, int64_t *pid, char **host);

/* try_errors, try_timeouts and try_lost, out of logs/sys/job_report/process_summary.csv of the step
 * in `dir`. While a job runs that file is up to ten seconds old. */
void tm_survey_read_tries(struct tm_step_survey *s, const char *dir);

/* activities, out of logs/sys/running.json of the step in `dir`, whose job a supervisor runs. What
 * an earlier session has left there does not count. `now_wall_ns`: the clock's. */
void tm_survey_read_running(struct tm_step_survey *s, const char *dir, const char *job_dir,
                            int64_t now_wall_ns);

/* errors and errors_cut. Of a step that is over the lines that still count, else those that were
 * written so far. What cannot be read is left out. */
void tm_survey_read_errors(struct tm_step_survey *s, const char *dir, bool is_over);
/* How many items a line of the failures log stands for. */
int64_t tm_survey_items_of(const struct tm_json *line);

/* The end of a manifest's file. */
struct tm_manifest_extent {
  int64_t mini_batches;
  int64_t items; /* -1: the list is not complete */
  bool has_end;
};
/* Reads a piece at the end of it, more only when an entry is larger. A file that is missing or
 * begins only has no mini-batches. A negative code when it cannot be read. */
int tm_manifest_look(struct tm_manifest_extent *out, const char *path, struct tm_err *err);

/* One mini-batch out of it. */
struct tm_manifest_found {
  uint32_t dataset, items;
  struct tm_buf bytes; /* the items (data/item.h) */
};
/* Walks the file from its beginning, and checks what it passes. TM_EUSAGE: there is no such
 * mini-batch, and which there are; TM_EDAMAGE: it is behind what can be read. Release it in every
 * case. */
int tm_manifest_pick(struct tm_manifest_found *out, const char *path, uint64_t index,
                     struct tm_err *err);
void tm_manifest_found_release(struct tm_manifest_found *f);

#endif
