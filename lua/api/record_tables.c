/* record_tables.c - reads the tables of a step for hosts: its tries and the lives of its workers,
 * from any place on. */
#include "api/disk.h"

#include <inttypes.h>
#include <string.h>

#include "api/own.h"
#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "report/life_rows.h"
#include "report/try_rows.h"

struct question {
  const char *call, *callback; /* names */
  size_t step;
  const int64_t *position;
  bool has_callback;
};

static int check(const struct tidemill_record *r, const struct question *q, struct tm_err *err)
{
  const void *given = q->has_callback ? q : NULL;
  if (tm_need(err, q->call, "r", r, "position", q->position, q->callback, given, NULL) < 0)
    return TM_EUSAGE;
  if (*q->position < 0)
    return tm_err_set(err, TM_EUSAGE, "%s: position %" PRId64 " is negative; 0 is the beginning",
                      q->call, *q->position);
  if (q->step >= r->steps.len)
    return tm_err_set(err, TM_EUSAGE, "%s: there is no step %zu; there are %zu", q->call, q->step,
                      r->steps.len);
  return 0;
}

/* ---- tries ---- */

struct tries {
  int (*on_try)(const struct tidemill_try *t, void *data);
  void *data;
};

static int64_t number_of(const char *text)
{
  int64_t n = 0;
  return tm_text_int(text, &n) ? n : 0;
}

/* "dataset=NAME count=N ... first=PATH": the path, to the end. */
static const char *first_item(const char *detail)
{
  const char *at = strstr(detail, " first=");
  return at ? at + strlen(" first=") : "";
}

static int on_try_row(void *data, const struct tm_try_row *row)
{
  const struct tries *all = data;
  struct tidemill_try t = { .size = sizeof t,
                            .mini_batch = row->mini_batch,
                            .try_number = row->picked,
                            .worker = row->process,
                            .node_id = row->node,
                            .begun_ns = row->begin_wall_ns,
                            .elapsed_ns = row->elapsed_ns,
                            .run_ns = row->run_ns,
                            .items = number_of(row->total),
                            .items_succeeded = number_of(row->succeeded),
                            .items_failed = number_of(row->failed),
                            .status = row->status,
                            .category = row->category,
                            .error = row->message,
                            .first_item = first_item(row->detail),
                            .result_bytes = row->bytes };
  return all->on_try(&t, all->data);
}

int tidemill_record_tries(struct tidemill_record *r, size_t step, int64_t *position,
                          int (*on_try)(const struct tidemill_try *t, void *data), void *data,
                          struct tm_err *err)
{
  struct tries all = { on_try, data };
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_tries()", "on_try", step, position, on_try != NULL };
  int rc = check(r, &q, err);
  return rc < 0 ? rc
                : tm_try_rows_next(r->steps.at[step].logs_dir, position, on_try_row, &all, err);
}

/* ---- workers ---- */

struct lives {
  int (*on_event)(const struct tidemill_life_event *e, void *data);
  void *data;
};

static int on_life_row(void *data, const struct tm_life_row *row)
{
  const struct lives *all = data;
  struct tidemill_life_event e = { .size = sizeof e,
                                   .time_ns = row->wall_ns,
                                   .worker = row->process,
                                   .node_id = row->node,
                                   .node_address = row->address,
                                   .pid = row->pid,
                                   .event = row->event,
                                   .lived_ns = row->lived_ns,
                                   .max_rss_bytes = row->max_rss_bytes,
                                   .detail = row->detail };
  return all->on_event(&e, all->data);
}

int tidemill_record_workers(struct tidemill_record *r, size_t step, int64_t *position,
                            int (*on_event)(const struct tidemill_life_event *e, void *data),
                            void *data, struct tm_err *err)
{
  struct lives all = { on_event, data };
  err = TM_ERR_OWN(err);
  struct question q = { "tidemill_record_workers()", "on_event", step, position, on_event != NULL };
  int rc = check(r, &q, err);
  return rc < 0 ? rc
                : tm_life_rows_next(r->steps.at[step].logs_dir, position, on_life_row, &all, err);
}
