/* sample_rows.h - the resources of a step's machines and processes, from the tables in
 * logs/perf/<node_id>/ (node/sampler.h).
 *
 * A figure is -1 if its column is missing or empty, or has no sensible number.
 */
#ifndef TM_REPORT_SAMPLE_ROWS_H
#define TM_REPORT_SAMPLE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table_faults.h"

/* Of a machine. Bytes of disks and of the network are totals since its start. */
struct tm_node_sample {
  int64_t wall_ns;    /* 0: the row has no time */
  double cpu_percent; /* of all cores, since the last sample */
  int64_t memory_total, memory_used, disk_read, disk_written, network_sent, network_received;
};

struct tm_process_sample { /* strings are valid during the call */
  int64_t wall_ns;
  const char *process; /* "process003", "keeper", ...: descendants have the same name */
  int64_t pid, parent; /* 0: not known */
  const char *name;    /* of its program */
  double cpu_percent;  /* of one core, since the last sample */
  int64_t rss, disk_read, disk_written;
};

struct tm_disk_sample { /* likewise */
  int64_t wall_ns;
  const char *device, *mount_point;
  int64_t total, used, free; /* `free`: for users other than root */
  double used_percent;
};

/* Whether perf/ may have a folder of this name: a number, or a word such as "supervisor". */
bool tm_sample_rows_is_node(const char *node_id);

/* All samples from *at on; 0: from the beginning. As tm_table_rows_read(), which see.
 * `faults` may be NULL. */
int tm_sample_rows_node(const char *logs_dir, const char *node_id, int64_t *at,
                        int (*on_row)(void *data, const struct tm_node_sample *row), void *data,
                        struct tm_table_faults *faults, struct tm_err *err);
int tm_sample_rows_processes(const char *logs_dir, const char *node_id, int64_t *at,
                             int (*on_row)(void *data, const struct tm_process_sample *row),
                             void *data, struct tm_table_faults *faults, struct tm_err *err);
int tm_sample_rows_disks(const char *logs_dir, const char *node_id, int64_t *at,
                         int (*on_row)(void *data, const struct tm_disk_sample *row), void *data,
                         struct tm_table_faults *faults, struct tm_err *err);

#endif
