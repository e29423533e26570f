/* config.h - the effective ParallelRunConfig of a step. settings.c fills it. */
#ifndef TM_PLAN_CONFIG_H
#define TM_PLAN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/level.h"

enum tm_output_action { TM_APPEND_ROW, TM_SUMMARY_ONLY };

/* Minimum of worker_memory_limit, bytes: a worker with LuaJIT needs less than half of it to
 * start. */
#define TM_WORKER_MEMORY_MIN 33554432
/* Whether each succeeded item must have a returned element; auto: see step/returns.h. */
enum tm_returns { TM_RETURNS_AUTO, TM_RETURNS_ROWS, TM_RETURNS_ANY };
enum tm_interruptible { TM_INTERRUPTIBLE_AUTO, TM_INTERRUPTIBLE, TM_NOT_INTERRUPTIBLE };

struct tm_config {
  char *entry_script;      /* absolute */
  char *source_directory;  /* absolute, or NULL: only the entry script is copied */
  int64_t mini_batch_size; /* files; for tables bytes or rows; 0 with partition_keys */
  bool counts_rows;
  char **partition_keys; /* or NULL */
  size_t partition_keys_len;
  int64_t error_threshold; /* failed items to tolerate; -1: any number */
  enum tm_returns returns;
  enum tm_output_action output_action;
  char *append_row_file_name;
  bool escapes_line_breaks;       /* in returned strings; otherwise they are errors */
  char append_row_separator;      /* for data frames */
  bool append_row_header;         /* for data frames */
  int64_t allowed_failed_count;   /* failed mini-batches to tolerate; -1: any number */
  double allowed_failed_percent;  /* of all mini-batches; negative: any number */
  int64_t process_count_per_node; /* never 0: the default is the number of cores, or 1 with a GPU */
  enum tm_level logging_level;
  int64_t run_invocation_timeout_ns;
  int64_t run_max_try;
  int64_t init_timeout_ns; /* 0: none */
  enum tm_interruptible interruptible;
  int64_t interrupt_grace_ns;
  bool is_profiled;            /* profiling_module */
  bool isolate_failures;       /* runs parts of a mini-batch that has used up its tries */
  int64_t isolation_max_try;   /* tries for the parts of a mini-batch */
  int64_t load_timeout_ns;     /* task_overhead_timeout: before run() */
  int64_t progress_timeout_ns; /* progress_update_timeout */
  int64_t first_timeout_ns;    /* first_task_creation_timeout */
  int64_t retry_delay_ns;      /* -1: not given */
  int64_t worker_memory_limit; /* bytes; 0: none */
  int64_t max_result_size;     /* bytes */
  int64_t sync_interval_ns;
  int64_t monitor_interval_ns; /* resource_monitor_interval; 0: off */
  bool hides_gpus;             /* gpu_surplus = "none" */
  char **environment;          /* "NAME=value", NULL-ended; or NULL */
  char **module_paths;         /* from `environment`, absolute, NULL-ended; or NULL */
  bool overwrite;
  char *description; /* or NULL */
  char *resume_from; /* a job's name or path, or NULL */
};

/* Whether run() may return any number of elements for its items; `are_rows`: they are rows of a
 * table. */
bool tm_config_returns_any(const struct tm_config *c, bool are_rows);
/* Frees what it owns, also if it is partly filled, and zeroes it. */
void tm_config_release(struct tm_config *c);

#endif
