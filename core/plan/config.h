/* config.h - the effective ParallelRunConfig of a step. Filled by params.c from the one table of parameters. */
#ifndef TM_PLAN_CONFIG_H
#define TM_PLAN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/level.h"

enum tm_output_action { TM_APPEND_ROW, TM_SUMMARY_ONLY };

struct tm_config {
  char *entry_script;      /* absolute */
  char *source_directory;  /* absolute, or NULL: the entry script alone is copied */
  int64_t mini_batch_size; /* items */
  int64_t error_threshold; /* failed items to tolerate; -1 all */
  enum tm_output_action output_action;
  char *append_row_file_name;
  bool escapes_line_breaks;       /* of a returned string; else they are errors */
  char append_row_separator;      /* of data frames */
  bool append_row_header;         /* likewise */
  int64_t allowed_failed_count;   /* failed mini-batches to tolerate; -1 all */
  double allowed_failed_percent;  /* of all mini-batches; negative: all */
  int64_t process_count_per_node; /* 0 never: the default is the number of cores */
  enum tm_level logging_level;
  int64_t run_invocation_timeout_ns;
  int64_t run_max_try;
  bool isolate_failures;       /* what has used up its tries is run in parts */
  int64_t isolation_max_try;   /* parts of a mini-batch */
  int64_t load_timeout_ns;     /* task_overhead_timeout: before run() */
  int64_t progress_timeout_ns; /* progress_update_timeout */
  int64_t first_timeout_ns;    /* first_task_creation_timeout */
  int64_t max_result_size;     /* bytes */
  int64_t sync_interval_ns;
  char **environment; /* "NAME=value"; NULL-ended; or NULL */
  bool overwrite;
  char *description; /* or NULL */
  char *resume_from; /* a job as it is called, or NULL */
};

#endif
