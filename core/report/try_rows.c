/* try_rows.c - see try_rows.h. */
#include "report/try_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "report/log_line.h"
#include "report/table_rows.h"

/* The columns that are read, as they are named in the file's first line. */
enum column {
  MINI_BATCH,
  PICKED,
  PROCESS,
  BEGAN,
  TOTAL,
  SUCCEEDED,
  FAILED,
  ELAPSED,
  CPU,
  RUN,
  STATUS,
  CATEGORY,
  MESSAGE,
  DETAIL,
  NODE,
  BYTES,
  SIGNAL,
  LINE,
  ITEM,
  COLUMNS
};
static const char *const names[COLUMNS] = { [MINI_BATCH] = "Mini-batch Id",
                                            [PICKED] = "Picked Count",
                                            [PROCESS] = "Process",
                                            [BEGAN] = "Process Start Time",
                                            [TOTAL] = "Total",
                                            [SUCCEEDED] = "Succeeded",
                                            [FAILED] = "Failed",
                                            [ELAPSED] = "Elapsed Seconds",
                                            [CPU] = "Process Seconds",
                                            [RUN] = "Run Method Seconds",
                                            [STATUS] = "Status",
                                            [CATEGORY] = "Error Category",
                                            [MESSAGE] = "Error Message",
                                            [DETAIL] = "Mini-batch Detail",
                                            [NODE] = "Node",
                                            [BYTES] = "Result Bytes",
                                            [SIGNAL] = "Signal",
                                            [LINE] = "Script Line",
                                            [ITEM] = "Error Item" };

struct reading {
  int (*on_row)(void *data, const struct tm_try_row *row);
  void *data;
  struct tm_plain_tries plain;
};

static int64_t integer(const char *text, int64_t otherwise)
{
  int64_t n = 0;
  return tm_text_int(text, &n) ? n : otherwise;
}

static int64_t nanoseconds(const char *text)
{
  double seconds = 0;
  int64_t ns;
  if (tm_text_ns(text, &ns))
    return ns;
  bool is_time = tm_text_number(text, &seconds) && seconds >= 0 && seconds < 1e9;
  return is_time ? (int64_t)(seconds * (double)TM_S + 0.5) : 0;
}

static int on_fields(void *data, char *const *at)
{
  struct reading *r = data;
  struct tm_try_row row = { .mini_batch = integer(at[MINI_BATCH], -1),
                            .picked = integer(at[PICKED], 0),
                            .process = tm_table_name(at[PROCESS]),
                            .began = at[BEGAN],
                            .total = at[TOTAL],
                            .succeeded = at[SUCCEEDED],
                            .failed = at[FAILED],
                            .elapsed = at[ELAPSED],
                            .run = at[RUN],
                            .status = tm_table_name(at[STATUS]),
                            .category = tm_table_name(at[CATEGORY]),
                            .message = at[MESSAGE],
                            .detail = at[DETAIL],
                            .node = tm_table_name(at[NODE]),
                            .bytes = integer(at[BYTES], 0),
                            .signal = integer(at[SIGNAL], 0),
                            .where = at[LINE],
                            .item = at[ITEM],
                            /* without that column, a try took as long as run() at least */
                            .elapsed_ns = nanoseconds(*at[ELAPSED] ? at[ELAPSED] : at[RUN]),
                            .run_ns = nanoseconds(at[RUN]),
                            .cpu_ns = nanoseconds(at[CPU]) };
  tm_log_moment(row.began, strlen(row.began), &row.begin_wall_ns);
  return r->on_row(r->data, &row);
}

static bool on_line(void *data, char *line, size_t len, int *answer)
{
  struct reading *r = data;
  struct tm_try_row row;
  if (!tm_plain_try_read(&r->plain, line, len, &row))
    return false;
  *answer = r->on_row(r->data, &row);
  return true;
}

#define FILE_NAME "sys/job_report/processed_mini-batches.csv"

static int read_rows(const char *logs_dir, const char *front, int64_t *at, struct reading *r,
                     struct tm_table_faults *faults, struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, FILE_NAME);
  struct tm_table_rows t = { .path = path,
                             .names = names,
                             .names_len = COLUMNS,
                             .front = front,
                             .faults = faults,
                             .on_row = on_fields,
                             .on_line = on_line,
                             .data = r };
  int rc = tm_table_rows_read(&t, at, err);
  free(path);
  return rc;
}

int tm_try_rows_next(const char *logs_dir, int64_t *at,
                     int (*on_row)(void *data, const struct tm_try_row *row), void *data,
                     struct tm_table_faults *faults, struct tm_err *err)
{
  return read_rows(logs_dir, NULL, at, &(struct reading) { .on_row = on_row, .data = data }, faults,
                   err);
}

int64_t tm_try_rows_count(const char *logs_dir, struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, FILE_NAME);
  int64_t rows = tm_table_rows_count(path, err);
  free(path);
  return rows;
}

/* A row is written when its try has ended. */
static int compare(void *data, const struct tm_try_row *row)
{
  const int64_t *wall_ns = data;
  if (row->begin_wall_ns <= 0)
    return 0;
  return row->begin_wall_ns + row->elapsed_ns < *wall_ns ? -1 : 1;
}

int tm_try_rows_find(const char *logs_dir, int64_t wall_ns, int64_t *at, struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, FILE_NAME);
  struct tm_table_rows t = { .path = path,
                             .names = names,
                             .names_len = COLUMNS,
                             .on_row = on_fields,
                             .data = &(struct reading) { .on_row = compare, .data = &wall_ns } };
  int rc = tm_table_rows_find(&t, at, err);
  free(path);
  return rc;
}

struct of_one {
  void (*on_row)(void *data, const struct tm_try_row *row);
  void *data;
  int64_t found;
};

static int on_row_of_one(void *data, const struct tm_try_row *row)
{
  struct of_one *o = data;
  o->found++;
  o->on_row(o->data, row);
  return 0;
}

int64_t tm_try_rows_read(const char *logs_dir, int64_t mini_batch,
                         void (*on_row)(void *data, const struct tm_try_row *row), void *data,
                         struct tm_err *err)
{
  struct of_one o = { .on_row = on_row, .data = data };
  char front[32];
  int64_t at = 0;
  snprintf(front, sizeof(front), "%" PRId64 ",", mini_batch);
  int rc = read_rows(logs_dir, front, &at,
                     &(struct reading) { .on_row = on_row_of_one, .data = &o }, NULL, err);
  return rc < 0 ? rc : o.found;
}
