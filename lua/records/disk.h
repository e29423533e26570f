/* disk.h - private structs for what is on disk: workspaces, records of jobs, registered datasets,
 * the removal of jobs.
 *
 *   workspace_api.c      a workspace and its jobs
 *   record.c         the files of a job (inspect/inspection.h) as structs of the header
 *   record_refresh.c what is new in them
 *   record_tables.c  its tries, workers and samples
 *   record_errors.c  its errors in groups
 *   record_walk.c    all of its files
 *   export.c         the job in formats of other programs (core/export)
 *   record_metrics.c the job as OpenMetrics text
 *   record_files.c   the rest of a record: failed items, the texts of its files, their verification
 *   dataset_api.c        registered datasets (store/registry.h)
 *   clean.c          selects jobs and removes them
 *   cancel.c         asks the process that runs a job to cancel it
 *
 * Only the program's tests use a table of file calls other than the real one.
 */
#ifndef TM_RECORDS_DISK_H
#define TM_RECORDS_DISK_H

#include <tidemill.h>

#include "base/mem.h"
#include "export/metrics.h"
#include "inspect/inspection.h"
#include "records/rerun.h"
#include "report/error_groups.h"
#include "store/history.h"
#include "store/registry.h"
#include "store/trust.h"
#include "sys/changes.h"
#include "sys/fs.h"

struct tidemill_workspace {
  struct tidemill_workspace_options o;
  const struct tm_fs *fs;
  char *path;     /* absolute; NULL: no workspace, and jobs are named by their directories */
  bool is_named;  /* the caller named its path, and so agreed to its use (store/trust.h) */
  bool is_judged; /* it is named or trusted; otherwise it may only be read */
};

struct tm_record_step {
  struct tidemill_record_step step;
  struct tidemill_counts counts; /* `step` points to it */
  char *logs_dir, *text;
  struct TM_ARRAY(struct tidemill_record_output) outputs;
  struct TM_ARRAY(struct tidemill_failure) errors;
  struct TM_ARRAY(struct tidemill_activity) running; /* each with a `text` of its own */
  struct TM_ARRAY(struct tidemill_session) sessions; /* read when one is requested */
  bool has_sessions;
};

/* The errors of a step, as far as they were read. */
struct tm_record_errors {
  struct tm_error_groups groups;
  bool is_over;                    /* `items_at` is in the list of a step that has ended */
  uint64_t tries_file, items_file; /* numbers, which change with the file */
  int64_t tries_at, items_at;
};

struct tidemill_record {
  bool is_lent; /* the call that passed it closes it */
  struct tidemill_record_info info;
  struct tidemill_counts counts;      /* `info` points to it */
  struct tm_inspection inspection;    /* info and steps point into it; or */
  const struct tm_history_job *known; /* a job that is gone; or NULL */
  struct tm_err fault;
  bool has_details; /* of the inspection: read when a step is requested */
  struct TM_ARRAY(struct tm_record_step) steps;
  char *cancel_asked_by, *nodes;                   /* or NULL */
  char *json, *definition, *result;                /* made when they are requested */
  char *command, *directory;                       /* likewise */
  struct TM_ARRAY(char *) words;                   /* of the command, NULL-ended; likewise */
  struct tm_rerun again;                           /* as last returned, or empty */
  struct tidemill_rerun rerun;                     /* points to it, and has a text of its own */
  struct TM_ARRAY(struct tm_record_errors) errors; /* of each step, once they were requested */
  struct TM_ARRAY(struct tm_metrics_step) metrics; /* of each step, once they were requested */
  char *metrics_text;                              /* as last returned, or NULL */
  uint64_t mark;             /* of the inspection, when it was renewed; 0: it was not */
  struct tm_changes changes; /* open once its descriptor was asked for */
};

struct tidemill_dataset {
  bool is_lent; /* the call that passed it closes it */
  const struct tm_fs *fs;
  struct tidemill_dataset_info info;
  struct tm_registered registered;
  struct TM_ARRAY(char *) paths, tags;
  struct tm_buf changes; /* since it was registered */
  bool has_looked;       /* for these changes */
  char *json;
};

/* Like tidemill_workspace_open(), which uses it, with these file calls. */
int tm_workspace_open_on(struct tidemill_workspace **out, const struct tm_fs *fs,
                         const struct tidemill_workspace_options *options, enum tm_use use,
                         struct tm_err *err);
/* The nearest workspace, only for reading; or one without a path, in which jobs are found by their
 * directories. */
struct tidemill_workspace *tm_workspace_nearest(const struct tm_fs *fs);
/* Finds the directory of a job by its name; the caller frees it. NULL and an error. */
char *tm_workspace_job_dir(const struct tidemill_workspace *ws, const char *job, enum tm_use use,
                           struct tm_err *err);
/* Whether a workspace that was opened for reading may be used: 0, or TM_EUSAGE. */
int tm_workspace_may_use(const struct tidemill_workspace *ws, struct tm_err *err);
/* Calls the host's on_log. */
void tm_workspace_log(const struct tidemill_workspace *ws, enum tidemill_level level,
                      const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Reads lines of JSON from *position on, to the present end, because a device in the place of the
 * file may have none. Afterwards *position is behind the last whole line. No file: no lines. */
int tm_record_read_lines(const char *path, int64_t *position,
                         int (*on_line)(void *data, const struct tm_json *line), void *data,
                         struct tm_err *err);
/* The errors of a step, for a caller that adds new tries itself, and sets `tries_at`. What was read
 * of another file is forgotten. Valid until the next call for the record. */
struct tm_record_errors *tm_record_errors_of(struct tidemill_record *r, size_t step);
void tm_record_release_errors(struct tidemill_record *r);

/* Reads a job's directory. If it cannot be read, the record has a fault, whose code is returned.
 * Release it in every case. */
int tm_record_read(struct tidemill_record *r, const char *dir);
/* Like tm_inspection_read_for_list(). */
int tm_record_read_for_list(struct tidemill_record *r, const char *dir);
/* The same again: of the journals, only what is new. What the record has returned is gone. */
int tm_record_renew(struct tidemill_record *r);
/* Nothing has changed but the time. */
void tm_record_set_now(struct tidemill_record *r);
void tm_record_read_details(struct tidemill_record *r); /* once; later calls do nothing */
/* Makes a record of a job that is gone; `job` must live as long as the record. */
void tm_record_of_history(struct tidemill_record *r, const struct tm_history_job *job);
void tm_record_release(struct tidemill_record *r);
/* For a step that it does not have: TM_EUSAGE, with the names of those that it has. */
int tm_record_refuse_step(const struct tidemill_record *r, const char *step, struct tm_err *err);

#endif
