/* facts.h - what is known of a job besides what happened in it: its state and its words, as other
 * commands show them. Filled by the owner of the record (../../lua/insights); the strings are the
 * owner's. NULL or "": there is none. */
#ifndef TM_INSIGHT_FACTS_H
#define TM_INSIGHT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table_faults.h"

#define TM_FAULTY_TABLES 20

enum tm_fact_state { /* of a job or a step */
                     TM_FACT_RUNNING,
                     TM_FACT_INTERRUPTED,
                     TM_FACT_CANCELED,
                     TM_FACT_FAILED,
                     TM_FACT_COMPLETED,
                     TM_FACT_SKIPPED,
                     TM_FACT_WAITING
};

struct tm_fact_counts {
  int64_t created, succeeded, failed; /* mini-batches */
  bool is_listed;                     /* `created` is final */
  int64_t items_total;                /* -1: not known */
  int64_t items_succeeded;            /* -1: not known, of a removed job */
  int64_t items_failed;
};

struct tm_fact_output {
  const char *name, *path, *destination, *registered; /* `registered`: "digits:3" */
  int64_t bytes, rows;                                /* -1: not known */
};

struct tm_fact_input {
  const char *name, *kind, *where, *version; /* `where`: paths, one line */
  int64_t files, bytes;                      /* -1: not known */
};

struct tm_fact_setting {
  const char *name, *value, *origin; /* "option", "file", "parameter workers", "default" */
  bool is_default;
  const char *before; /* the value in the last Completed job, if it differs; else NULL */
  bool is_bytes;      /* the value is a number of bytes */
};

struct tm_fact_activity { /* right now */
  const char *worker, *phase, *first_item, *text;
  int64_t elapsed_ns, mini_batch, try_number, pid;
  int64_t begun_ns; /* when the worker began the try; 0: not known */
  bool is_stopped;
};

struct tm_fact_item { /* failed in the end */
  const char *item, *error, *status;
  int64_t mini_batch;
};

struct tm_fact_effort {
  int64_t items; /* that succeeded; 0: nothing ran, or it is not known */
  int64_t ns;    /* of all tries, one after the other */
};

struct tm_fact_table { /* that cannot be read, or not all of it */
  const char *node;    /* whose resources it has; NULL: it is not one of those */
  const char *name;    /* below logs/, or logs/perf/NODE/ */
  struct tm_table_faults faults;
};

struct tm_fact_step {
  const char *name, *cause, *waits_for, *reused_from, *logs_dir, *error_file;
  enum tm_fact_state state;
  struct tm_fact_counts counts;
  double rate;             /* mini-batches per second, while it runs */
  int64_t damage_at_byte;  /* -1: none */
  int64_t error_threshold; /* items; -1: all are tolerated */
  int64_t mini_batch_size; /* of files: items; 0: bytes, or not known */
  double run_invocation_timeout_s;
  int64_t workers_wanted;               /* process_count_per_node * node_count */
  int64_t worker_memory_limit;          /* bytes; 0: none */
  const char *script, *script_hash;     /* the hash of the files of its folder */
  const char *script_hash_before;       /* in the last Completed job, if it differs; else NULL */
  struct tm_fact_effort effort, before; /* of a Completed step; of the same in the job before */
  struct TM_ARRAY(struct tm_fact_output) outputs;
  struct TM_ARRAY(struct tm_fact_input) inputs;
  int64_t input_files, input_bytes; /* of all inputs together; -1: not known */
  struct TM_ARRAY(struct tm_fact_setting) settings;
  struct TM_ARRAY(struct tm_fact_activity) running;
  struct TM_ARRAY(struct tm_fact_item) failed_items; /* the first 5,000 */
  int64_t failed_items_more;
  struct TM_ARRAY(struct tm_fact_table) faulty_tables; /* the first TM_FAULTY_TABLES */
  int64_t faulty_tables_more;
  struct TM_ARRAY(size_t) after; /* the steps that it needs, by index */
};

struct tm_fact_file {
  const char *path; /* relative to the job */
  const char *kind; /* "output", "log", "record" */
  int64_t bytes;
};

struct tm_fact_job {
  const char *dir, *name, *pipeline, *file, *host, *version, *cause, *fault, *cancel_asked_by;
  enum tm_fact_state state;
  bool is_removed;
  int64_t pid, begin_ns, end_ns, elapsed_ns, now_ns; /* end 0: it runs */
  struct tm_fact_counts counts;
  /* The command to type next, and what for. NULL: nothing, or only the sentence is known. The other
   * one is for a corrected script or input. */
  const char *next, *next_why, *next_other, *next_other_why;
  const char *before; /* the last Completed job of this pipeline: its name; NULL: none */
  int64_t before_elapsed_ns, before_items, before_items_failed;
  struct TM_ARRAY(struct tm_fact_step) steps;
  struct TM_ARRAY(struct tm_fact_setting) parameters;
  struct TM_ARRAY(struct tm_fact_file) files; /* at most 1,000 */
  int64_t files_more;
};

/* Where a table is, from the job's directory: "score/logs/perf/node0/node_disk_usage.csv". */
void tm_fact_table_add_path(struct tm_buf *out, const struct tm_fact_step *s,
                            const struct tm_fact_table *t);

#endif
