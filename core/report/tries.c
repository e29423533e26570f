/* tries.c - see tries.h.
 *
 * This log is on the hot path: a job of small mini-batches ends a hundred thousand tries a second.
 * So rows are collected in memory and formatted with a pen, and a path that needs no quoting
 * (nearly every one) is copied as it is.
 */
#include "report/tries.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"

#define MESSAGE_MAX 1000 /* bytes of Error Message */

static const char header[] =
    "Mini-batch Id,Picked Count,Process,Process Start Time,Total,Succeeded,Failed,Elapsed Seconds,"
    "Process Seconds,Run Method Seconds,Status,Error Category,Error Message,Mini-batch Detail";
/* Columns that older files lack, in the order in which they came. */
static const char *const newer[] = { ",Node,Result Bytes", ",Signal,Script Line,Error Item" };
enum { WITH_NODE = 1, WITH_SIGNAL };

static size_t newer_of(const struct tm_log_file *f)
{
  switch (tm_log_file_columns(f)) {
  case 14: return 0;
  case 16: return WITH_NODE;
  default: return TM_COUNT_OF(newer);
  }
}

static void add_header(struct tm_buf *out)
{
  tm_buf_add_str(out, header);
  for (size_t i = 0; i < TM_COUNT_OF(newer); i++)
    tm_buf_add_str(out, newer[i]);
  tm_buf_add_char(out, '\n');
}

int tm_tries_open(struct tm_tries *t, const struct tm_fs *fs, const char *logs_dir,
                  struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, "sys/job_report/processed_mini-batches.csv");
  int rc;
  memset(t, 0, sizeof(*t));
  tm_stamp_init(&t->stamp);
  rc = tm_log_file_open(&t->file, fs, path, err);
  t->newer = TM_COUNT_OF(newer);
  if (rc == 0 && tm_log_file_is_empty(&t->file))
    add_header(&t->file.text);
  else if (rc == 0)
    t->newer = newer_of(&t->file);
  free(path);
  return rc;
}

const char *tm_tries_category(enum tm_status status)
{
  switch (status) {
  case TM_RUN_DONE: return "";
  case TM_RUN_EXCEPTION:
  case TM_RUN_WRONG_RETURN:
  case TM_LOAD_EXCEPTION:
  case TM_INIT_EXCEPTION: return "error";
  case TM_RUN_TIMEOUT:
  case TM_LOAD_TIMEOUT:
  case TM_INIT_TIMEOUT: return "timeout";
  case TM_PROCESS_DIED: return "lost";
  case TM_CANCELED: return "canceled";
  }
  return "error";
}

/* False if a CSV field must encode it. */
static bool is_plain(const char *s, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c < 0x20 || c > 0x7e || c == ',' || c == '"')
      return false;
  }
  return n == 0 || s[n - 1] != ' ';
}

static void add_text(struct tm_tries *t, const char *s, size_t n, size_t max)
{
  tm_buf_clear(&t->scratch);
  tm_text_one_line(&t->scratch, s, n, max);
  tm_text_csv(&t->file.text, tm_buf_str(&t->scratch), t->scratch.len, ',');
}

static void add_detail(struct tm_buf *b, const struct tm_attempt *a)
{
  size_t name = strlen(a->dataset);
  struct tm_pen p;
  tm_pen_start(&p, b, 64 + 4 * TM_PEN_INT + name + a->first_item_len);
  TM_PEN_ADD(&p, "dataset=");
  tm_pen_add(&p, a->dataset, name);
  TM_PEN_ADD(&p, " count=");
  if (a->is_uncounted)
    TM_PEN_ADD(&p, "unknown");
  else
    tm_pen_add_int(&p, a->items);
  if (a->part_first > 0) {
    TM_PEN_ADD(&p, " part=");
    tm_pen_add_int(&p, a->part_first);
    tm_pen_add_char(&p, '-');
    tm_pen_add_int(&p, a->part_first + a->items - 1);
  }
  TM_PEN_ADD(&p, " manifest=");
  tm_pen_add_int(&p, a->manifest_at);
  if (a->has_keys)
    TM_PEN_ADD(&p, " keys=");
  else
    TM_PEN_ADD(&p, " first=");
  tm_pen_add(&p, a->first_item, a->first_item_len);
  tm_pen_stop(&p);
}

static void add_quoted_detail(struct tm_tries *t, const struct tm_attempt *a)
{
  struct tm_buf detail = TM_BUF_NONE;
  add_detail(&detail, a);
  add_text(t, detail.data, detail.len, 0);
  tm_buf_release(&detail);
}

static void add_int(struct tm_pen *p, int64_t n)
{
  tm_pen_add_int(p, n);
  tm_pen_add_char(p, ',');
}

static void add_seconds(struct tm_pen *p, int64_t ns)
{
  tm_pen_add_seconds(p, ns);
  tm_pen_add_char(p, ',');
}

static void add_word(struct tm_pen *p, const char *s, size_t len)
{
  tm_pen_add(p, s, len);
  tm_pen_add_char(p, ',');
}

/* The columns before Error Message. */
static void add_columns(struct tm_tries *t, const struct tm_attempt *a, const char *worker)
{
  const char *status = tm_status_name(a->status), *category = tm_tries_category(a->status);
  size_t worker_len = worker ? strlen(worker) : 0;
  struct tm_pen p;
  /* five numbers, a moment, three times, two words */
  tm_pen_start(&p, &t->file.text, 400 + worker_len);
  if (a->items > 0) /* otherwise it is an init() */
    tm_pen_add_int(&p, (int64_t)a->index);
  tm_pen_add_char(&p, ',');
  add_int(&p, a->picked);
  add_word(&p, worker ? worker : "", worker_len);
  if (a->begin_wall_ns > 0)
    tm_pen_add_iso(&p, &t->stamp, a->begin_wall_ns);
  tm_pen_add_char(&p, ',');
  if (a->is_uncounted)
    tm_pen_add_char(&p, ',');
  else
    add_int(&p, a->items);
  add_int(&p, a->succeeded);
  add_int(&p, a->failed);
  add_seconds(&p, a->total_ns);
  add_seconds(&p, a->cpu_ns);
  add_seconds(&p, a->run_ns);
  add_word(&p, status, strlen(status));
  add_word(&p, category, strlen(category));
  tm_pen_stop(&p);
}

static void add_newer(struct tm_tries *t, const struct tm_event *e)
{
  size_t node_len = e->node_id ? strlen(e->node_id) : 0;
  struct tm_pen p;
  tm_pen_start(&p, &t->file.text, 3 + node_len + 2 * TM_PEN_INT);
  tm_pen_add_char(&p, ',');
  tm_pen_add(&p, e->node_id ? e->node_id : "", node_len);
  tm_pen_add_char(&p, ',');
  tm_pen_add_int(&p, e->attempt->bytes);
  if (t->newer >= WITH_SIGNAL)
    tm_pen_add_char(&p, ',');
  if (t->newer >= WITH_SIGNAL && e->attempt->signal > 0)
    tm_pen_add_int(&p, e->attempt->signal);
  tm_pen_stop(&p);
}

static void add_error_place(struct tm_tries *t, const struct tm_attempt *a)
{
  bool has_failed = a->status != TM_RUN_DONE && a->status != TM_CANCELED;
  size_t len = 0;
  const char *item = has_failed ? tm_attempt_error_item(a, &len) : NULL;
  tm_buf_add_char(&t->file.text, ',');
  if (has_failed && a->script_where)
    add_text(t, a->script_where, strlen(a->script_where), 0);
  tm_buf_add_char(&t->file.text, ',');
  if (item)
    add_text(t, item, len, 0);
}

int tm_tries_add(struct tm_tries *t, const struct tm_event *e, struct tm_err *err)
{
  const struct tm_attempt *a = e->attempt;
  struct tm_buf *b = &t->file.text;
  add_columns(t, a, e->worker);
  if (*a->message)
    add_text(t, a->message, strlen(a->message), MESSAGE_MAX);
  tm_buf_add_char(b, ',');
  if (a->items > 0 && is_plain(a->first_item, a->first_item_len) &&
      is_plain(a->dataset, strlen(a->dataset)))
    add_detail(b, a);
  else if (a->items > 0)
    add_quoted_detail(t, a);
  if (t->newer >= WITH_NODE)
    add_newer(t, e);
  if (t->newer >= WITH_SIGNAL)
    add_error_place(t, a);
  tm_buf_add_char(b, '\n');
  return tm_log_file_flush_large(&t->file, err);
}

int tm_tries_flush(struct tm_tries *t, struct tm_err *err)
{
  return tm_log_file_flush(&t->file, err);
}

int tm_tries_close(struct tm_tries *t, struct tm_err *err)
{
  int rc = tm_log_file_close(&t->file, err);
  tm_buf_release(&t->scratch);
  return rc;
}
