/* inspection.h - the state of a job, read from its files: running, interrupted or ended, and how
 * much of it is done.
 *
 * It writes nothing and asks no process; a running job does not notice. The numbers of a job that
 * has ended are from its result; others are counted from the journal, 64 bytes for each mini-batch
 * that has ended, and from the end of the manifest. It counts as done what a power cut may have
 * destroyed after the last sync record: verify.h and the next session find out whether the output
 * has it.
 */
#ifndef TM_INSPECT_INSPECTION_H
#define TM_INSPECT_INSPECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "inspect/journal_count.h"
#include "record/activity.h"
#include "record/cancel_request.h"
#include "record/nodes.h"

enum tm_job_status {
  TM_JOB_RUNNING,
  TM_JOB_INTERRUPTED, /* it has no result, and no process runs it */
  TM_JOB_COMPLETED,
  TM_JOB_FAILED,
  TM_JOB_CANCELED,
};
const char *tm_job_status_name(enum tm_job_status s); /* "Running" */

#define TM_INSPECTION_ERRORS 5 /* of a step, at most */

/* Why items failed: one reason. */
struct tm_inspection_error {
  char *message;       /* of the first; may have several lines */
  char *pattern;       /* of all its messages (base/message_pattern.h) */
  bool is_mixed;       /* not all its messages are equal */
  char *where;         /* the line of the script, "score.lua:12"; NULL: unknown */
  char *status;        /* of the first's try, "RUN_EXCEPTION"; NULL: run() returned */
  char *detail;        /* of the first: "1 element for 2 items", or NULL */
  char *item;          /* the first that failed; NULL: nobody knows which */
  char *log;           /* the file with the full text, or NULL */
  int64_t mini_batch;  /* of the first */
  int64_t first_items; /* how many failed in the first's mini-batch; 1: the message names it */
  bool are_rows;       /* `item` is the file of rows */
  int64_t row, number; /* of that row, if it is one: in its file, in its mini-batch, from 1; or 0 */
  int64_t items;       /* how many failed for this reason, as far as was read */
};

struct tm_step_inspection {
  char *name;
  char *status;              /* of a step that has ended, as in the result; else NULL */
  char *reused_from;         /* the job that the result is from: nothing ran; else NULL */
  char *waits_for;           /* "'a', 'b'": names of steps, if the step has not begun; else NULL */
  char *cause;               /* why it Failed, or NULL */
  char *output;              /* where the rows are, or the folder; NULL: not known yet */
  struct tm_json *outputs;   /* of a step that has ended: with names, as in the result; or NULL */
  char *error_file;          /* logs/user/error.txt if it exists, else NULL */
  int64_t total;             /* mini-batches, so far */
  bool is_listed;            /* total is final */
  int64_t succeeded, failed; /* mini-batches */
  int64_t uncounted; /* of `failed`: those whose rows nobody could count; each counts as one item */
  int64_t items_total;                   /* -1: not known before all are listed */
  int64_t items_succeeded, items_failed; /* of mini-batches that have ended */
  /* failed tries of all sessions, as far as the summary has them; -1: there is no summary */
  int64_t try_errors, try_timeouts, try_lost;
  int64_t sessions;        /* 0: not begun */
  int64_t begin_wall_ns;   /* of the first session; 0: not begun */
  int64_t session_wall_ns; /* of the last one */
  int64_t session_ended;   /* mini-batches that have ended in it */
  int64_t damage_at;       /* place of the first bad record; -1: none */
  struct tm_inspection_error errors[TM_INSPECTION_ERRORS]; /* distinct; the last first */
  size_t errors_len;
  int64_t errors_more; /* other reasons */
  /* only the end of a long list was read: there may be more items and reasons */
  bool errors_cut;
  /* of a running step: what has taken a second or longer (activity.h) */
  struct tm_activities activities;
  struct tm_nodes_now nodes; /* of a running step, if commands start them; else zeros */
  struct tm_journal_count count;
};

struct tm_inspection {
  char *dir, *name, *pipeline_file;
  enum tm_job_status status;
  int64_t pid; /* of the supervisor, the last one; 0: not known */
  char *host;
  bool is_stopped; /* the supervisor of the running job, by Ctrl-Z or SIGSTOP */
  /* `cancel` has asked the running job to end; its supervisor knows. Or: so it was canceled */
  bool is_cancel_asked, is_cancel_taken;
  struct tm_cancel_request cancel;
  char *cause;    /* why it Failed, or NULL */
  bool has_nodes; /* it has ended, and commands had started nodes: */
  struct tm_nodes_sum nodes;
  struct tm_json *command; /* the command line that started it, as in job.json; or NULL */
  int64_t begin_wall_ns;   /* of the first session; 0: none has begun */
  /* of the result; if that is missing, of the last record; 0: not known, or running */
  int64_t end_wall_ns;
  int64_t now_wall_ns; /* when this was read */
  struct tm_step_inspection *steps;
  size_t steps_len;
  struct tm_inspection *earlier; /* while it is renewed */
};

/* `dir`: absolute. `now_wall_ns`: the time now. TM_EDAMAGE, TM_EVERSION, system errors. Release the
 * inspection in every case. Leaves out the details. */
int tm_inspection_read(struct tm_inspection *s, const char *dir, int64_t now_wall_ns,
                       struct tm_err *err);
/* The same for a list of thousands of jobs. For a job that has ended, reads its result but not its
 * definition, and does not look for pid and host. */
int tm_inspection_read_for_list(struct tm_inspection *s, const char *dir, int64_t now_wall_ns,
                                struct tm_err *err);
/* Reads the job again, but of the journals only what is new; without details. What it held before
 * is gone. As tm_inspection_read(). */
int tm_inspection_renew(struct tm_inspection *s, int64_t now_wall_ns, struct tm_err *err);
/* Another number if the files have changed from which it is read, or the process that runs the job.
 * In time that depends on the number of steps alone. */
uint64_t tm_inspection_mark(const struct tm_inspection *s);
/* The folders in which such files appear, change and go; not all of them exist. */
void tm_inspection_folders(const struct tm_inspection *s,
                           void (*on_folder)(void *data, const char *path), void *data);
/* Adds the details; call it once: the last errors, error_file, the numbers of tries, activities,
 * the command, and is_listed of steps that have ended. */
void tm_inspection_read_details(struct tm_inspection *s);
void tm_inspection_release(struct tm_inspection *s);

/* Mini-batches per second in the running session, over all of it; 0: nothing has ended yet. */
double tm_inspection_rate(const struct tm_inspection *s, const struct tm_step_inspection *step);
/* What `status --json` writes; to free. */
struct tm_json *tm_inspection_to_json(const struct tm_inspection *s);

/* Reads try_errors, try_timeouts and try_lost from logs/sys/job_report/process_summary.csv of the
 * step in `dir`. While a job runs, that file is up to ten seconds old. */
void tm_inspection_read_tries(struct tm_step_inspection *s, const char *dir);

/* Reads activities and nodes from logs/sys/running.json of the step in `dir`, whose job a
 * supervisor runs. Ignores a file that an earlier session has left. `now_wall_ns`: the time now. */
void tm_inspection_read_running(struct tm_step_inspection *s, const char *dir, const char *job_dir,
                                int64_t now_wall_ns);

/* Reads errors and errors_cut. For a step that has ended, reads the lines that still count, else
 * those that were written so far. Leaves out what cannot be read. */
void tm_inspection_read_errors(struct tm_step_inspection *s, const char *dir, bool is_over);
/* Reads count.each of a step, which is not whole for a step that has ended. */
int tm_inspection_read_sessions(struct tm_inspection *s, size_t step, struct tm_err *err);

/* Frees what belongs to the first item of a reason. */
void tm_inspection_error_release(struct tm_inspection_error *e);
/* How many items a line of the failures log is for. */
int64_t tm_inspection_items_of(const struct tm_json *line);

/* The end of a manifest's file. */
struct tm_manifest_extent {
  int64_t mini_batches;
  int64_t items; /* -1: the list is not complete */
  bool has_end;
};
/* Reads a piece at the end of the file; more only if an entry is larger. A file that is missing or
 * has only begun has no mini-batches. Negative: the file cannot be read. */
int tm_manifest_look(struct tm_manifest_extent *out, const char *path, struct tm_err *err);

/* One mini-batch from the manifest. */
struct tm_manifest_found {
  uint32_t dataset, items;
  struct tm_buf bytes; /* the items (data/item.h) */
};
/* Walks the file from its beginning, and checks what it passes. TM_EUSAGE: there is no such
 * mini-batch; `err` says which exist. TM_EDAMAGE: damage comes before it in the file. Release it in
 * every case. */
int tm_manifest_pick(struct tm_manifest_found *out, const char *path, uint64_t index,
                     struct tm_err *err);
void tm_manifest_found_release(struct tm_manifest_found *f);

/* The files of one dataset in a complete list. */
struct tm_manifest_files {
  int64_t files, bytes; /* -1: not known; no files if the dataset has rows or entries */
};
/* Sets the first `n` datasets of a list that has at most `max` bytes. Negative: it cannot be read,
 * has more, or is not complete; then nothing is known. */
int tm_manifest_count_files(struct tm_manifest_files *out, size_t n, const char *path, int64_t max,
                            struct tm_err *err);

#endif
