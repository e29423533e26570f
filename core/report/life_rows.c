/* life_rows.c - see life_rows.h. */
#include "report/life_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "report/log_line.h"
#include "report/table_rows.h"
#include "report/worker_lives.h"

#define MB (1024.0 * 1024)

enum column { TIME, PROCESS, NODE, ADDRESS, PID, EVENT, SECONDS, RSS, DETAIL, CAUSE, OWN, COLUMNS };
static const char *const names[COLUMNS] = {
  [TIME] = "Utc Time", [PROCESS] = "Process", [NODE] = "Node",        [ADDRESS] = "Node Address",
  [PID] = "Pid",       [EVENT] = "Event",     [SECONDS] = "Seconds",  [RSS] = "Max Rss (MB)",
  [DETAIL] = "Detail", [CAUSE] = "Cause",     [OWN] = "Max Own (MB)",
};

struct reading {
  int (*on_row)(void *data, const struct tm_life_row *row);
  void *data;
};

/* 0 if it is not a number of a sensible size. */
static int64_t scaled(const char *text, double by)
{
  double n = 0;
  bool is_number = tm_text_number(text, &n) && n >= 0 && n < 1e9;
  return is_number ? (int64_t)(n * by) : 0;
}

static int64_t nanoseconds(const char *text)
{
  int64_t ns;
  return tm_text_ns(text, &ns) ? ns : scaled(text, (double)TM_S);
}

static int on_fields(void *data, char *const *at)
{
  const struct reading *r = data;
  struct tm_life_row row = { .process = tm_table_name(at[PROCESS]),
                             .node = tm_table_name(at[NODE]),
                             .address = tm_table_name(at[ADDRESS]),
                             .event = tm_table_name(at[EVENT]),
                             .lived_ns = nanoseconds(at[SECONDS]),
                             .max_rss_bytes = scaled(at[RSS], MB),
                             .own_bytes = scaled(at[OWN], MB),
                             .init_ns = tm_worker_lives_init_ns(at[EVENT], at[DETAIL]),
                             .died = tm_worker_lives_died(at[CAUSE]),
                             .was_killed = tm_worker_lives_was_killed(at[CAUSE]),
                             .detail = at[DETAIL] };
  tm_log_moment(at[TIME], strlen(at[TIME]), &row.wall_ns);
  if (!tm_text_int(at[PID], &row.pid))
    row.pid = 0;
  return r->on_row(r->data, &row);
}

int tm_life_rows_next(const char *logs_dir, int64_t *at,
                      int (*on_row)(void *data, const struct tm_life_row *row), void *data,
                      struct tm_table_faults *faults, struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, "sys/job_report/workers.csv");
  struct tm_table_rows t = { .path = path,
                             .names = names,
                             .names_len = COLUMNS,
                             .faults = faults,
                             .on_row = on_fields,
                             .data = &(struct reading) { on_row, data } };
  int rc = tm_table_rows_read(&t, at, err);
  free(path);
  return rc;
}
