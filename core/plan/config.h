/* config.h - the effective ParallelRunConfig of a step. settings.c fills it. */
#ifndef TM_PLAN_CONFIG_H
#define TM_PLAN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/level.h"

enum tm_output_action { TM_APPEND_ROW, TM_SUMMARY_ONLY };

/* Whether each succeeded item must have a returned element; auto: see step/returns.h. */
enum tm_returns { TM_RETURNS_AUTO, TM_RETURNS_ROWS, TM_RETURNS_ANY };
enum tm_interruptible { TM_INTERRUPTIBLE_AUTO, TM_INTERRUPTIBLE, TM_NOT_INTERRUPTIBLE };

/* Settings that are read alike: the field, and the name of its parameter (params.c). `WORD` is true
 * for one word of a choice. settings.c reads them all; it reads the other fields one by one. */
#define TM_CONFIG_MAP(INT, NS, BOOL, WORD)                                                         \
  INT(error_threshold, "error_threshold") /* failed items to tolerate; -1: any number */           \
  INT(process_count_per_node,                                                                      \
      "process_count_per_node") /* 0: each node that is launched decides */                        \
  INT(node_count, "node_count")                                                                    \
  INT(run_max_try, "run_max_try")                                                                  \
  INT(isolation_max_try, "isolation_max_try")     /* tries for the parts of a mini-batch */        \
  INT(worker_memory_limit, "worker_memory_limit") /* bytes; 0: none */                             \
  INT(max_result_size, "max_result_size")         /* bytes */                                      \
  NS(run_invocation_timeout_ns, "run_invocation_timeout")                                          \
  NS(init_timeout_ns, "init_timeout") /* 0: none */                                                \
  NS(interrupt_grace_ns, "interrupt_grace")                                                        \
  NS(load_timeout_ns, "task_overhead_timeout") /* before run() */                                  \
  NS(progress_timeout_ns, "progress_update_timeout")                                               \
  NS(first_timeout_ns, "first_task_creation_timeout")                                              \
  NS(sync_interval_ns, "sync_interval")                                                            \
  NS(node_timeout_ns, "node_timeout")                                                              \
  NS(node_start_timeout_ns, "node_start_timeout")                                                  \
  NS(node_wait_ns, "node_wait")              /* 0: any time */                                     \
  BOOL(isolate_failures, "isolate_failures") /* runs parts when the tries are used up */           \
  BOOL(ships_source, "ship_source")          /* to each node that is launched */                   \
  BOOL(overwrite, "overwrite")                                                                     \
  /* in returned strings; otherwise they are errors */                                             \
  WORD(escapes_line_breaks, "append_row_line_break", "escape")                                     \
  WORD(hides_gpus, "gpu_surplus", "none")                                                          \
  WORD(uses_slurm, "compute_target", "slurm")                                                      \
  WORD(wants_slurm_jobs, "slurm_allocation", "new") /* never steps of an allocation */

struct tm_config {
#define INT(field, name)        int64_t field;
#define BOOL(field, name)       bool field;
#define WORD(field, name, word) bool field;
  TM_CONFIG_MAP(INT, INT, BOOL, WORD)
#undef INT
#undef BOOL
#undef WORD
  char *entry_script;      /* absolute; with a model, where its copy is in the job's folder */
  char *model;             /* absolute; NULL: entry_script is a file */
  const char *script_text; /* with a model: the contents of entry_script, which is not a file */
  char *library_dir;       /* with a model in a pipeline file: its folder; or NULL */
  char *source_directory;  /* absolute, or NULL: only the entry script is copied */
  int64_t mini_batch_size; /* files; for tables bytes or rows; 0 with partition_keys */
  bool counts_rows;
  char **partition_keys; /* or NULL */
  size_t partition_keys_len;
  int64_t monitor_interval_ns; /* resource_monitor_interval; 0: off; negative: auto */
  enum tm_returns returns;
  enum tm_output_action output_action;
  char *append_row_file_name;
  char append_row_separator;     /* for data frames */
  bool append_row_header;        /* for data frames */
  int64_t allowed_failed_count;  /* failed mini-batches to tolerate; -1: any number */
  double allowed_failed_percent; /* of all mini-batches; negative: any number */
  enum tm_level logging_level;
  enum tm_interruptible interruptible;
  bool is_profiled;       /* profiling_module */
  int64_t retry_delay_ns; /* -1: not given */
  char **environment;     /* "NAME=value", NULL-ended; or NULL */
  bool launches_nodes;    /* compute_target is not "local", which means that workers run here */
  /* With uses_slurm: the options of the user for srun, NULL-ended, without the hosts to exclude,
   * which are separated by commas, or NULL. */
  char **slurm_options;
  char *slurm_exclude;
  /* Else, with launches_nodes: the template of the command that starts a node, NULL-ended; the
   * values of its {host}, different ones, or NULL. */
  char **node_command;
  char **node_hosts;
  size_t node_hosts_len;
  char **module_paths; /* from `environment`, absolute, NULL-ended; or NULL */
  char *description;   /* or NULL */
  char *resume_from;   /* a job's name or path, or NULL */
};

/* Whether run() may return any number of elements for its items; `are_rows`: they are rows of a
 * table. */
bool tm_config_returns_any(const struct tm_config *c, bool are_rows);
/* Frees what it owns, also if it is partly filled, and zeroes it. */
void tm_config_release(struct tm_config *c);

#endif
