/* record_errors.c - all errors of a step in groups (report/error_groups.h), for hosts: reads its
 * tries and failed items, at the next call only what is new. */
#include "records/disk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/path.h"
#include "base/text.h"

/* Whether the file is the same, and not shorter than what was read of it. */
static bool is_same_file(const char *path, uint64_t *number, int64_t at)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st = { .size = 0 };
  uint64_t before = *number;
  if (fs->stat(fs->self, path, true, &st) < 0)
    st = (struct tm_stat) { .size = 0 };
  *number = st.ino;
  return st.ino == before && st.size >= at;
}

static int on_try(void *data, const struct tm_try_row *row)
{
  tm_error_groups_add_try(data, row);
  return 0;
}

static int on_item(void *data, const struct tm_json *line)
{
  struct tm_error_item item = { .status = tm_json_str(line, "status", NULL),
                                .where = tm_json_str(line, "where", NULL),
                                .message = tm_json_str(line, "error", NULL),
                                .item = tm_json_str(line, "item", NULL),
                                .names = tm_json_str(line, "names", NULL),
                                .log = tm_json_str(line, "log", NULL),
                                .mini_batch = tm_json_int(line, "mini_batch", -1),
                                .try_number = tm_json_int(line, "try", 0),
                                .items = tm_inspection_items_of(line),
                                .are_rows = tm_json_get(line, "begin") != NULL };
  if (item.message)
    tm_error_groups_add_item(data, &item);
  return 0;
}

struct tm_record_errors *tm_record_errors_of(struct tidemill_record *r, size_t step)
{
  while (r->errors.len <= step)
    *TM_ARRAY_ADD(&r->errors) = (struct tm_record_errors) { .tries_at = 0 };
  struct tm_record_errors *e = &r->errors.at[step];
  char *path =
      tm_path_join(r->steps.at[step].logs_dir, "sys/job_report/processed_mini-batches.csv");
  if (!is_same_file(path, &e->tries_file, e->tries_at)) {
    tm_error_groups_forget(&e->groups.tries);
    e->tries_at = 0;
  }
  free(path);
  return e;
}

/* A step that has ended has a list of the items that still count. */
static int read_items(struct tm_record_errors *e, const char *dir, bool is_over, struct tm_err *err)
{
  char *path = tm_path_join(dir, is_over ? "failed_items.jsonl" : "state/failures");
  bool is_same = is_same_file(path, &e->items_file, e->items_at) && is_over == e->is_over;
  if (!is_same) {
    tm_error_groups_forget(&e->groups.items);
    e->items_at = 0;
    e->is_over = is_over;
  }
  int rc = tm_record_read_lines(path, &e->items_at, on_item, &e->groups, err);
  free(path);
  return rc;
}

static int read_new(struct tidemill_record *r, size_t step, struct tm_err *err)
{
  struct tm_record_errors *e = tm_record_errors_of(r, step);
  char *dir = tm_path_join(r->info.dir, r->steps.at[step].step.name);
  int rc =
      tm_try_rows_next(r->steps.at[step].logs_dir, &e->tries_at, on_try, &e->groups, NULL, err);
  if (rc == 0)
    rc = read_items(e, dir, r->inspection.steps[step].status != NULL, err);
  free(dir);
  if (rc == 0)
    tm_error_groups_list(&e->groups);
  return rc;
}

static int pass_on(struct tidemill_record *r, size_t step, const struct tm_error_group *g,
                   int (*on_group)(const struct tidemill_error_group *g, void *data), void *data)
{
  struct tm_buf again = TM_BUF_NONE;
  char *log = tm_error_group_log(g, r->steps.at[step].logs_dir);
  if (g->mini_batch >= 0) {
    tm_error_add_replay(&again, r->info.dir, r->steps.len > 1 ? r->steps.at[step].step.name : NULL);
    tm_buf_printf(&again, " --mini-batch %" PRId64, g->mini_batch);
  }
  struct tidemill_error_group to = { .size = sizeof to,
                                     .status = g->status,
                                     .where = g->where,
                                     .pattern = g->pattern,
                                     .is_mixed = g->is_mixed,
                                     .message = g->message,
                                     .tries = g->tries,
                                     .items = g->items,
                                     .first_ns = g->first_ns,
                                     .last_ns = g->last_ns,
                                     .workers = (const char *const *)g->workers,
                                     .workers_len = g->workers_len,
                                     .has_more_workers = g->has_more_workers,
                                     .mini_batch = g->mini_batch,
                                     .try_number = g->try_number,
                                     .item = g->item,
                                     .worker = g->worker,
                                     .node_id = g->node,
                                     .log = log,
                                     .again = tm_buf_str(&again) };
  int rc = on_group(&to, data);
  tm_buf_release(&again);
  free(log);
  return rc;
}

static int pass_on_rest(const struct tm_error_groups *g,
                        int (*on_group)(const struct tidemill_error_group *g, void *data),
                        void *data)
{
  struct tidemill_error_group rest = { .size = sizeof rest,
                                       .is_rest = true,
                                       .status = "",
                                       .where = "",
                                       .pattern = "",
                                       .message = "",
                                       .tries = g->other_tries,
                                       .items = g->other_items,
                                       .item = "",
                                       .worker = "",
                                       .node_id = "",
                                       .log = "",
                                       .again = "" };
  return rest.tries > 0 || rest.items > 0 ? on_group(&rest, data) : 0;
}

int tidemill_record_error_groups(struct tidemill_record *r, size_t step,
                                 int (*on_group)(const struct tidemill_error_group *g, void *data),
                                 void *data, struct tm_err *err)
{
  const char *call = "tidemill_record_error_groups()";
  err = TM_ERR_OWN(err);
  if (tm_need(err, call, "r", r, "on_group", on_group ? (const void *)r : NULL, NULL) < 0)
    return TM_EUSAGE;
  if (step >= r->steps.len)
    return tm_err_set(err, TM_EUSAGE, "%s: there is no step %zu; there are %zu", call, step,
                      r->steps.len);
  int rc = read_new(r, step, err);
  const struct tm_error_groups *g = rc == 0 ? &r->errors.at[step].groups : NULL;
  for (size_t i = 0; rc == 0 && i < g->list.len; i++)
    rc = pass_on(r, step, &g->list.at[i], on_group, data);
  return rc == 0 ? pass_on_rest(g, on_group, data) : rc;
}

void tm_record_release_errors(struct tidemill_record *r)
{
  for (size_t i = 0; i < r->errors.len; i++)
    tm_error_groups_release(&r->errors.at[i].groups);
  TM_ARRAY_RELEASE(&r->errors);
}
