/* sample_rows.c - see sample_rows.h. */
#include "report/sample_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/log_line.h"
#include "report/table_rows.h"

#define MB        (1024.0 * 1024)
#define BYTES_MAX 4e18 /* that an int64_t can hold */

bool tm_sample_rows_is_node(const char *node_id)
{
  static const char accepted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  tm_require(node_id);
  return *node_id && node_id[strspn(node_id, accepted)] == '\0';
}

static double number(const char *text, double max)
{
  double n = -1;
  return tm_text_number(text, &n) && n >= 0 && n <= max ? n : -1;
}

static int64_t bytes(const char *megabytes)
{
  double n = number(megabytes, BYTES_MAX / MB);
  return n < 0 ? -1 : (int64_t)(n * MB);
}

static double percent(const char *text)
{
  return number(text, 1e9);
}

static int64_t moment(const char *text)
{
  int64_t wall_ns = 0;
  tm_log_moment(text, strlen(text), &wall_ns);
  return wall_ns;
}

static int64_t pid_of(const char *text)
{
  int64_t pid = 0;
  return tm_text_int(text, &pid) && pid > 0 ? pid : 0;
}

static int read_table(const char *logs_dir, const char *node_id, const char *file,
                      struct tm_table_rows *t, int64_t *at, struct tm_err *err)
{
  tm_require(tm_sample_rows_is_node(node_id));
  char *path = tm_xprintf("%s/perf/%s/%s", logs_dir, node_id, file);
  t->path = path;
  int rc = tm_table_rows_read(t, at, err);
  free(path);
  return rc;
}

/* ---- machines ---- */

enum node_column { N_TIME, N_CPU, N_TOTAL, N_USED, N_READ, N_WRITTEN, N_SENT, N_RECEIVED, N_LEN };
static const char *const node_names[N_LEN] = {
  [N_TIME] = "Utc Time",           [N_CPU] = "Cpu Percent",
  [N_TOTAL] = "Memory Total (MB)", [N_USED] = "Memory Used (MB)",
  [N_READ] = "Disk Io Read (MB)",  [N_WRITTEN] = "Disk Io Write (MB)",
  [N_SENT] = "Network Sent (MB)",  [N_RECEIVED] = "Network Recv (MB)",
};

struct of_node {
  int (*on_row)(void *data, const struct tm_node_sample *row);
  void *data;
};

static int on_node(void *data, char *const *at)
{
  const struct of_node *r = data;
  return r->on_row(r->data, &(struct tm_node_sample) { .wall_ns = moment(at[N_TIME]),
                                                       .cpu_percent = percent(at[N_CPU]),
                                                       .memory_total = bytes(at[N_TOTAL]),
                                                       .memory_used = bytes(at[N_USED]),
                                                       .disk_read = bytes(at[N_READ]),
                                                       .disk_written = bytes(at[N_WRITTEN]),
                                                       .network_sent = bytes(at[N_SENT]),
                                                       .network_received = bytes(at[N_RECEIVED]) });
}

int tm_sample_rows_node(const char *logs_dir, const char *node_id, int64_t *at,
                        int (*on_row)(void *data, const struct tm_node_sample *row), void *data,
                        struct tm_table_faults *faults, struct tm_err *err)
{
  struct tm_table_rows t = { .names = node_names,
                             .names_len = N_LEN,
                             .faults = faults,
                             .on_row = on_node,
                             .data = &(struct of_node) { on_row, data } };
  return read_table(logs_dir, node_id, "node_resource_usage.csv", &t, at, err);
}

/* ---- processes ---- */

enum process_column {
  P_TIME,
  P_PROCESS,
  P_PID,
  P_PARENT,
  P_NAME,
  P_CPU,
  P_RSS,
  P_READ,
  P_WRITTEN,
  P_LEN
};
static const char *const process_names[P_LEN] = {
  [P_TIME] = "Utc Time",
  [P_PROCESS] = "Process",
  [P_PID] = "Pid",
  [P_PARENT] = "Parent Pid",
  [P_NAME] = "Name",
  [P_CPU] = "Cpu Percent",
  [P_RSS] = "Memory Rss (MB)",
  [P_READ] = "Disk Io Read (MB)",
  [P_WRITTEN] = "Disk Io Write (MB)",
};

struct of_processes {
  int (*on_row)(void *data, const struct tm_process_sample *row);
  void *data;
};

static int on_process(void *data, char *const *at)
{
  const struct of_processes *r = data;
  return r->on_row(r->data, &(struct tm_process_sample) { .wall_ns = moment(at[P_TIME]),
                                                          .process = tm_table_name(at[P_PROCESS]),
                                                          .pid = pid_of(at[P_PID]),
                                                          .parent = pid_of(at[P_PARENT]),
                                                          .name = at[P_NAME],
                                                          .cpu_percent = percent(at[P_CPU]),
                                                          .rss = bytes(at[P_RSS]),
                                                          .disk_read = bytes(at[P_READ]),
                                                          .disk_written = bytes(at[P_WRITTEN]) });
}

int tm_sample_rows_processes(const char *logs_dir, const char *node_id, int64_t *at,
                             int (*on_row)(void *data, const struct tm_process_sample *row),
                             void *data, struct tm_table_faults *faults, struct tm_err *err)
{
  struct tm_table_rows t = { .names = process_names,
                             .names_len = P_LEN,
                             .faults = faults,
                             .on_row = on_process,
                             .data = &(struct of_processes) { on_row, data } };
  return read_table(logs_dir, node_id, "processes_resource_usage.csv", &t, at, err);
}

/* ---- disks ---- */

enum disk_column { D_TIME, D_DEVICE, D_POINT, D_TOTAL, D_USED, D_FREE, D_PERCENT, D_LEN };
static const char *const disk_names[D_LEN] = {
  [D_TIME] = "Utc Time",        [D_DEVICE] = "Device",  [D_POINT] = "Mount Point",
  [D_TOTAL] = "Total (MB)",     [D_USED] = "Used (MB)", [D_FREE] = "Free (MB)",
  [D_PERCENT] = "Used Percent",
};

struct of_disks {
  int (*on_row)(void *data, const struct tm_disk_sample *row);
  void *data;
};

static int on_disk(void *data, char *const *at)
{
  const struct of_disks *r = data;
  return r->on_row(r->data, &(struct tm_disk_sample) { .wall_ns = moment(at[D_TIME]),
                                                       .device = at[D_DEVICE],
                                                       .mount_point = at[D_POINT],
                                                       .total = bytes(at[D_TOTAL]),
                                                       .used = bytes(at[D_USED]),
                                                       .free = bytes(at[D_FREE]),
                                                       .used_percent = percent(at[D_PERCENT]) });
}

int tm_sample_rows_disks(const char *logs_dir, const char *node_id, int64_t *at,
                         int (*on_row)(void *data, const struct tm_disk_sample *row), void *data,
                         struct tm_table_faults *faults, struct tm_err *err)
{
  struct tm_table_rows t = { .names = disk_names,
                             .names_len = D_LEN,
                             .faults = faults,
                             .on_row = on_disk,
                             .data = &(struct of_disks) { on_row, data } };
  return read_table(logs_dir, node_id, "node_disk_usage.csv", &t, at, err);
}
