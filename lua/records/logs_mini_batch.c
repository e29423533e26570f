/* logs_mini_batch.c - the report on one mini-batch: its tries, and what their workers logged
 * meanwhile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "records/disk.h"
#include "records/logs.h"
#include "base/map.h"
#include "base/text.h"
#include "base/time.h"
#include "data/item.h"
#include "inspect/inspection.h"
#include "report/errors.h"
#include "report/log_set.h"
#include "report/try_rows.h"
#include "report/worker_lives.h"

#define ITEMS_MAX 100

struct shown {
  const struct tidemill_workspace *ws; /* or NULL */
  const char *dir;                     /* of the job */
  int64_t mini_batch;
  bool shows_names; /* names steps in the hint for the next command */
  struct tm_buf out;
};

static void add_line(struct tm_buf *out, const struct tm_log_piece *line)
{
  tm_buf_add_str(out, "  ");
  if (line->source)
    tm_buf_printf(out, "%s| ", line->source);
  tm_buf_add(out, line->text, line->len);
  tm_buf_add_char(out, '\n');
}

struct one {
  struct shown *l;
  const struct tidemill_record_step *step;
  int64_t tries;
  /* errors of the tries before, because several tries may be in the same millisecond */
  struct tm_map told;
};

/* Whether a line and its continuation belong to another try: an error of another try of the
 * mini-batch. */
static bool is_of_another(struct one *o, const struct tm_log_piece *piece, bool is_bad,
                          bool *has_error)
{
  struct tm_log_line line;
  bool is_new;
  if (!tm_log_line_read(piece->text, piece->len, &line))
    return false;
  if (!is_bad && line.level >= TM_WARNING && tm_log_try_of(line.message, line.message_len) >= 0)
    return true; /* the end of a later try on this worker */
  if (tm_log_mini_batch(line.message, line.message_len) < 0)
    return false;
  if (!is_bad || *has_error)
    return true;
  tm_map_add(&o->told, piece->text, piece->len, &is_new);
  *has_error = is_new;
  return !is_new;
}

/* Adds what a worker logged from one moment to another, by the clock of the supervisor; its files
 * have that of its node. `is_bad`: the try
 * has failed. */
static void add_logged(struct one *o, const char *worker, int64_t from_ns, int64_t until_ns,
                       bool is_bad)
{
  int64_t ahead_ns = tm_worker_lives_clock_offset(o->step->logs_dir, worker);
  struct tm_log_choice c = { .worker = worker,
                             .mini_batch = o->l->mini_batch,
                             .from_ns = (from_ns + ahead_ns) / TM_MS * TM_MS, /* logs have ms */
                             .until_ns = until_ns + ahead_ns };
  struct tm_log_set *set = tm_log_set_new(o->step->logs_dir, &c, NULL, NULL);
  struct tm_log_piece line;
  struct tm_log_line head;
  bool is_left_out = false, has_error = false;
  tm_log_set_finish(set);
  while (tm_log_set_next(set, &line)) {
    if (tm_log_line_read(line.text, line.len, &head))
      is_left_out = is_of_another(o, &line, is_bad, &has_error);
    if (!is_left_out)
      add_line(&o->l->out, &line);
  }
  tm_log_set_free(set);
}

/* Adds which items it had, from the detail in the summary: "2 items of dataset 'in', the first is
 * '/data/a.csv'" (report/tries.h). */
static void add_items(struct tm_buf *out, const char *detail)
{
  static const char dataset[] = "dataset=", count[] = " count=", first[] = " first=";
  static const char grouped[] = " keys=";
  const char *n = strstr(detail, count), *path = n ? strstr(n, first) : NULL;
  const char *keys = n ? strstr(n, grouped) : NULL;
  int64_t items;
  if ((!path && !keys) || strncmp(detail, dataset, sizeof(dataset) - 1) != 0) {
    tm_buf_add_str(out, detail);
    return;
  }
  const char *name = detail + sizeof(dataset) - 1;
  char *digits = tm_xstrndup(n + sizeof(count) - 1, strcspn(n + sizeof(count) - 1, " "));
  if (tm_text_int(digits, &items))
    tm_buf_printf(out, "%" PRId64 " %s", items, tm_text_counted(items, "item", "items"));
  else
    tm_buf_add_str(out, "rows that could not be counted");
  if (n > name)
    tm_buf_printf(out, " of dataset '%.*s'", (int)(n - name), name);
  if (keys && (!path || keys < path))
    tm_buf_printf(out, ", %s", keys + sizeof(grouped) - 1);
  else
    tm_buf_printf(out, ", the first is '%s'", path + sizeof(first) - 1);
  free(digits);
}

static void add_item(struct tm_buf *out, const struct tm_item *item)
{
  struct tm_buf name = TM_BUF_NONE;
  tm_buf_add_str(out, "  ");
  if (item->is_rows && !item->is_group && item->first_row >= 0 && item->rows > 0)
    tm_buf_printf(out, "rows %" PRId64 " to %" PRId64 " of ", tm_item_row(item, 0),
                  tm_item_row(item, item->rows - 1));
  else if (item->is_rows && !item->is_group && item->end > item->begin)
    tm_buf_printf(out, "the rows in bytes %" PRId64 " to %" PRId64 " of ", item->begin,
                  item->end - 1);
  (void)tm_item_describe(&name, item);
  tm_text_one_line(out, tm_buf_str(&name), name.len, 0);
  tm_buf_add_char(out, '\n');
  tm_buf_release(&name);
}

/* Adds the items of the list, a line each; nothing if it is the one file that was named, or if the
 * list cannot be read. */
static void add_all_items(struct one *o)
{
  struct tm_manifest_found found;
  struct tm_reader r;
  struct tm_item item;
  char *path = tm_xprintf("%s/%s/state/manifest", o->l->dir, o->step->name);
  int rc = tm_manifest_pick(&found, path, (uint64_t)o->l->mini_batch, NULL);
  int64_t n = 0;
  tm_reader_init(&r, found.bytes.data, found.bytes.len);
  while (rc == 0 && tm_item_next(&r, &item)) {
    if ((n > 0 || found.items > 1 || item.is_rows) && n < ITEMS_MAX)
      add_item(&o->l->out, &item);
    n++;
  }
  if (n > ITEMS_MAX)
    tm_buf_printf(&o->l->out, "  and %" PRId64 " more\n", n - ITEMS_MAX);
  tm_manifest_found_release(&found);
  free(path);
}

/* Adds which items it had, if it was a part. */
static void add_part(struct tm_buf *out, const char *detail)
{
  static const char word[] = " part=";
  const char *part = strstr(detail, word), *path = strstr(detail, " first=");
  if (!part || (path && path < part))
    return;
  part += sizeof(word) - 1;
  tm_buf_add_str(out, " (of its items ");
  tm_buf_add(out, part, strcspn(part, " "));
  tm_buf_add_char(out, ')');
}

/* Items of a failed try that is repeated count neither as succeeded nor as failed. */
static void add_again(struct tm_buf *out, const struct tm_try_row *row)
{
  int64_t total, succeeded, failed;
  if (tm_text_int(row->total, &total) && tm_text_int(row->succeeded, &succeeded) &&
      tm_text_int(row->failed, &failed) && total > succeeded + failed)
    tm_buf_printf(out, ", %" PRId64 " to be tried again", total - succeeded - failed);
}

static void on_row(void *data, const struct tm_try_row *row)
{
  struct one *o = data;
  struct tm_buf *out = &o->l->out;
  if (o->tries++ == 0) {
    tm_buf_printf(out, "mini-batch %" PRId64 " of step '%s': ", o->l->mini_batch, o->step->name);
    add_items(out, row->detail);
    tm_buf_add_char(out, '\n');
    add_all_items(o);
  }
  tm_buf_printf(out, "try %" PRId64 ": %s", row->picked, row->status);
  if (*row->process)
    tm_buf_printf(out, " at %s", row->process);
  tm_buf_printf(out, "; %s %s, %s succeeded, %s failed", row->total,
                strcmp(row->total, "1") == 0 ? "item" : "items", row->succeeded, row->failed);
  add_again(out, row);
  add_part(out, row->detail);
  if (row->begin_wall_ns > 0)
    tm_buf_printf(out, "; began %s, %s s, run() %s s", row->began, row->elapsed, row->run);
  tm_buf_add_char(out, '\n');
  if (*row->message)
    tm_buf_printf(out, "  %s\n", row->message);
  if (row->begin_wall_ns > 0 && *row->process)
    add_logged(o, row->process, row->begin_wall_ns, row->begin_wall_ns + row->elapsed_ns,
               strcmp(row->status, "RUN_DONE") != 0);
}

/* The logs have no line about it: it does not exist, or has not been tried. */
static int say_none(const struct shown *l, const struct tidemill_record_step *step,
                    struct tm_err *err)
{
  struct tm_manifest_extent extent;
  char *path = tm_xprintf("%s/%s/state/manifest", l->dir, step->name);
  int rc = tm_manifest_look(&extent, path, err);
  free(path);
  if (rc < 0)
    return rc;
  if (l->mini_batch >= extent.mini_batches && extent.has_end)
    return tm_err_set(err, TM_EUSAGE,
                      "step '%s' has no mini-batch %" PRId64 "; it has %" PRId64
                      ", numbered from 0",
                      step->name, l->mini_batch, extent.mini_batches);
  if (l->ws && *step->reused_from)
    tm_workspace_log(l->ws, TIDEMILL_LEVEL_INFO,
                     "step '%s' was reused from job '%s': the tries of mini-batch %" PRId64
                     " are in the logs there",
                     step->name, step->reused_from, l->mini_batch);
  else if (l->ws && step->state == TIDEMILL_STATE_RUNNING)
    tm_workspace_log(l->ws, TIDEMILL_LEVEL_INFO,
                     "mini-batch %" PRId64 " of step '%s' has not been tried, or its first try "
                     "began a moment ago: ask again",
                     l->mini_batch, step->name);
  else if (l->ws)
    tm_workspace_log(l->ws, TIDEMILL_LEVEL_INFO,
                     "mini-batch %" PRId64 " of step '%s' has not been tried", l->mini_batch,
                     step->name);
  return 0;
}

static void add_way_on(struct shown *l, const struct tidemill_record_step *step)
{
  tm_buf_add_str(&l->out, "again: ");
  tm_error_add_replay(&l->out, l->dir, l->shows_names ? step->name : NULL);
  tm_buf_printf(&l->out, " --mini-batch %" PRId64 "\n", l->mini_batch);
}

static int refuse_step(const struct tidemill_record *r, const char *given, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  const struct tidemill_record_step *step;
  for (size_t i = 0; (step = tidemill_record_step(r, i)) != NULL; i++)
    tm_buf_printf(&names, "%s%s", i > 0 ? ", " : "", step->name);
  tm_err_set(err, TM_EUSAGE, "there is no step '%s'; known: %s", given, tm_buf_str(&names));
  tm_buf_release(&names);
  return TM_EUSAGE;
}

/* Adds a running try, and what its worker has logged since it began. */
static void add_running(struct one *o, const struct tidemill_activity *a)
{
  struct tm_buf *out = &o->l->out;
  if (o->tries++ == 0) {
    tm_buf_printf(out, "mini-batch %" PRId64 " of step '%s'\n", o->l->mini_batch, o->step->name);
    add_all_items(o);
  }
  tm_buf_add_str(out, "running: ");
  tm_text_one_line(out, a->text, strlen(a->text), 0);
  tm_buf_add_char(out, '\n');
  if (a->begun_ns > 0)
    add_logged(o, a->worker, a->begun_ns, INT64_MAX / 2, false);
  else
    tm_buf_add_str(out,
                   "  its log lines are shown once its worker has reported when the try began: "
                   "ask again\n");
}

static void add_all_running(struct one *o, const struct tidemill_record *r, size_t i)
{
  const struct tidemill_activity *a;
  for (size_t k = 0; (a = tidemill_record_running(r, i, k)) != NULL; k++)
    if (a->mini_batch == o->l->mini_batch)
      add_running(o, a);
}

/* Whether a step has this mini-batch, or a negative code; `why` says why it has not. */
static int show_step(struct shown *l, const struct tidemill_record *r, size_t i, struct tm_err *why,
                     struct tm_err *err)
{
  struct one o = { .l = l, .step = tidemill_record_step(r, i) };
  int64_t n = tm_try_rows_read(o.step->logs_dir, l->mini_batch, on_row, &o, err);
  tm_map_release(&o.told);
  if (n < 0)
    return (int)n;
  add_all_running(&o, r, i);
  if (n > 0)
    add_way_on(l, o.step);
  return o.tries > 0 || say_none(l, o.step, why) >= 0;
}

static int show_steps(struct shown *l, const struct tidemill_record *r, const char *wanted,
                      struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  const struct tidemill_record_step *step;
  size_t meant = 0, found = 0;
  int rc = 0;
  l->shows_names = tidemill_record_info(r)->steps_len > 1;
  for (size_t i = 0; rc >= 0 && (step = tidemill_record_step(r, i)) != NULL; i++) {
    if (wanted && strcmp(step->name, wanted) != 0)
      continue;
    meant++;
    rc = show_step(l, r, i, &why, err);
    found += rc > 0;
  }
  if (rc < 0)
    return rc;
  if (meant == 0)
    return refuse_step(r, wanted, err);
  if (found == 0)
    *err = why;
  return found > 0 ? 0 : why.code;
}

static int tell(const struct shown *l, int (*on_line)(const struct tidemill_log_line *, void *),
                void *data)
{
  struct tidemill_log_line line = {
    .size = sizeof(line), .step = "", .source = "", .steps_len = 1
  };
  const char *at = l->out.data, *end = at + l->out.len;
  int rc = 0;
  while (rc == 0 && at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    line.text = at;
    line.text_bytes = (size_t)((stop ? stop : end) - at);
    rc = on_line(&line, data);
    at += line.text_bytes + 1;
  }
  return rc == 0 ? on_line(NULL, data) : rc;
}

int tm_logs_mini_batch(struct tidemill_workspace *ws, const char *job, const char *step,
                       int64_t mini_batch,
                       int (*on_line)(const struct tidemill_log_line *line, void *data), void *data,
                       struct tm_err *err)
{
  struct tidemill_record *r = NULL;
  struct shown l = { .ws = ws, .mini_batch = mini_batch };
  int rc = tidemill_record_open(&r, ws, job, err);
  if (rc == 0) {
    l.dir = tidemill_record_info(r)->dir;
    rc = show_steps(&l, r, step, err);
  }
  if (rc == 0)
    rc = tell(&l, on_line, data);
  tm_buf_release(&l.out);
  tidemill_record_close(r);
  return rc;
}
