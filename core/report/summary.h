/* summary.h - logs/sys/job_report/process_summary.csv and node_summary.csv:
 * processed_mini-batches.csv summed by worker and by node. Public formats.
 *
 * Columns of both: Process (process_summary.csv) or Processes, how many (node_summary.csv); Node;
 * Node Address; Tries; Total, Succeeded, Failed (items); Elapsed Seconds, Process Seconds, Run
 * Method Seconds; and for each status the number of tries that ended with it, RUN_DONE to CANCELED.
 * Each number is the sum of that column over the tries of the worker: items that are tried twice
 * count twice in Total.
 *
 * node_summary.csv ends with the columns of node_use.h. It has a row for each node that had a
 * worker of the step, also if no try has ended there. Processes counts only workers with an ended
 * try.
 *
 * A resumed job adds to the files: rows of earlier workers stay, and the nodes are summed from all
 * rows. Tries that ended after the last write before a kill (at most ten seconds) are only in
 * processed_mini-batches.csv.
 */
#ifndef TM_REPORT_SUMMARY_H
#define TM_REPORT_SUMMARY_H

#include "base/map.h"
#include "base/mem.h"
#include "record/events.h"
#include "report/log_file.h"
#include "report/node_use.h"

#define TM_STATUS_COUNT (TM_CANCELED + 1)

struct tm_sums {
  int64_t tries, items, succeeded, failed;
  int64_t total_ns, cpu_ns, run_ns;
  int64_t by_status[TM_STATUS_COUNT]; /* tries */
};

struct tm_summary_row {
  char *process, *node, *address;
  struct tm_sums sums;
};

struct tm_summary {
  const struct tm_fs *fs;
  char *process_path, *node_path;
  struct TM_ARRAY(struct tm_summary_row) rows; /* in the order of the workers' first ended tries */
  struct tm_map places;                        /* name of a worker -> index + 1 */
  struct tm_node_uses nodes;
  struct tm_log_due due;
};

/* Reads existing files. Fails if they cannot be read: then they are left alone, and no summary is
 * written. */
int tm_summary_init(struct tm_summary *s, const struct tm_fs *fs, const char *logs_dir,
                    int64_t mono_ns, struct tm_err *err);
void tm_summary_release(struct tm_summary *s);                       /* zeroed: a no-op */
void tm_summary_add(struct tm_summary *s, const struct tm_event *e); /* TRY_ENDED */
/* A worker has started or ended; other events are ignored. */
void tm_summary_add_life(struct tm_summary *s, const struct tm_event *e);
/* Writes both files if there is something new and ten seconds have passed, or if `now`. Not synced.
 * Fails once. */
int tm_summary_write(struct tm_summary *s, int64_t mono_ns, bool now, struct tm_err *err);

#endif
