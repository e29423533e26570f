/* history.c - see history.h. */
#include "store/history.h"

#include "base/check.h"
#include "store/db.h"

static int put(struct tm_db *db, const struct tm_history_job *j, struct tm_err *err)
{
  return tm_db_do(
      db, err,
      "INSERT INTO job(dir, pipeline, file, status, begin_ns, end_ns, steps, reused, total, "
      "succeeded, failed, items_total, items_failed, items_succeeded) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT(dir) DO UPDATE SET status = excluded.status, end_ns = excluded.end_ns, "
      "steps = excluded.steps, reused = excluded.reused, total = excluded.total, "
      "succeeded = excluded.succeeded, failed = excluded.failed, "
      "items_total = excluded.items_total, items_failed = excluded.items_failed, "
      "items_succeeded = excluded.items_succeeded",
      "ssssiiiiiiiiii", j->dir, j->pipeline, j->file, j->status, j->begin_ns, j->end_ns, j->steps,
      j->reused, j->total, j->succeeded, j->failed, j->items_total, j->items_failed,
      j->items_succeeded);
}

static int drop_old(struct tm_db *db, struct tm_err *err)
{
  return tm_db_do(db, err,
                  "DELETE FROM job WHERE begin_ns < (SELECT min(begin_ns) FROM (SELECT begin_ns "
                  "FROM job ORDER BY begin_ns DESC LIMIT ?))",
                  "i", (int64_t)TM_HISTORY_MAX);
}

int tm_history_put(const char *workspace, const struct tm_history_job *job, struct tm_err *err)
{
  tm_require(job->dir && job->dir[0] == '/');
  tm_require(job->pipeline && job->status && job->end_ns >= 0);
  struct tm_db *db;
  int rc = tm_db_open(&db, workspace, TM_DB_WRITE, err);
  if (rc >= 0 && (rc = tm_db_begin(db, err)) >= 0 && (rc = put(db, job, err)) >= 0 &&
      (rc = drop_old(db, err)) >= 0)
    rc = tm_db_commit(db, err);
  tm_db_close(db);
  return rc < 0 ? rc : 0;
}

static int read_all(struct tm_history *out, struct tm_db *db, struct tm_err *err)
{
  struct tm_query *q = tm_db_ask(
      db, err,
      "SELECT dir, pipeline, file, status, begin_ns, end_ns, steps, reused, total, succeeded, "
      "failed, items_total, items_failed, items_succeeded FROM job ORDER BY begin_ns DESC, dir",
      "");
  int rc = q ? 0 : err->code;
  while (q && (rc = tm_query_next(q, err)) > 0)
    *TM_ARRAY_ADD(out) = (struct tm_history_job) { .dir = tm_xstrdup(tm_query_str(q, 0)),
                                                   .pipeline = tm_xstrdup(tm_query_str(q, 1)),
                                                   .file = tm_xstrdup(tm_query_str(q, 2)),
                                                   .status = tm_xstrdup(tm_query_str(q, 3)),
                                                   .begin_ns = tm_query_int(q, 4),
                                                   .end_ns = tm_query_int(q, 5),
                                                   .steps = tm_query_int(q, 6),
                                                   .reused = tm_query_int(q, 7),
                                                   .total = tm_query_int(q, 8),
                                                   .succeeded = tm_query_int(q, 9),
                                                   .failed = tm_query_int(q, 10),
                                                   .items_total = tm_query_int(q, 11),
                                                   .items_failed = tm_query_int(q, 12),
                                                   .items_succeeded = tm_query_int(q, 13) };
  tm_query_close(q);
  return rc;
}

int tm_history_list(struct tm_history *out, const char *workspace, struct tm_err *err)
{
  struct tm_db *db;
  int rc = tm_db_open(&db, workspace, TM_DB_READ, err);
  if (rc > 0)
    rc = read_all(out, db, err);
  tm_db_close(db);
  return rc < 0 ? rc : 0;
}

struct tm_json *tm_history_to_json(const struct tm_history_job *j)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *counts = tm_json_new(TM_JSON_OBJECT), *items = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "status", tm_json_new_string(j->status));
  tm_json_set(v, "job_dir", tm_json_new_string(j->dir));
  tm_json_set(v, "name", tm_json_new_string(j->pipeline));
  tm_json_set(v, "pipeline", tm_json_new_string(j->file));
  tm_json_set(v, "started", tm_json_new_time(j->begin_ns));
  tm_json_set(v, "ended", tm_json_new_time(j->end_ns));
  tm_json_set(v, "removed", tm_json_new_bool(true));
  tm_json_set(counts, "total", tm_json_new_int(j->total));
  tm_json_set(counts, "succeeded", tm_json_new_int(j->succeeded));
  tm_json_set(counts, "failed", tm_json_new_int(j->failed));
  tm_json_set(v, "mini_batches", counts);
  tm_json_set(items, "total", tm_json_new_int(j->items_total));
  if (j->items_succeeded >= 0)
    tm_json_set(items, "succeeded", tm_json_new_int(j->items_succeeded));
  tm_json_set(items, "failed", tm_json_new_int(j->items_failed));
  tm_json_set(v, "items", items);
  tm_json_set(v, "reused_steps", tm_json_new_int(j->reused));
  return v;
}

void tm_history_release(struct tm_history *h)
{
  for (size_t i = 0; i < h->len; i++) {
    free(h->at[i].dir);
    free(h->at[i].pipeline);
    free(h->at[i].file);
    free(h->at[i].status);
  }
  TM_ARRAY_RELEASE(h);
}
