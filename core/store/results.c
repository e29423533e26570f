/* results.c - see results.h. A change is one transaction: if two jobs end at once, each adds its
 * row. */
#include "store/results.h"

#include <string.h>

#include "base/check.h"

#define FOUND_MAX 20
#define KEPT      100 /* rows of one step of a pipeline; older ones are removed */

#define COLUMNS                                                                                    \
  "id, key, pipeline, step, job, definition, summary, completed_ns, in_files, in_bytes, in_hash, " \
  "side_files, side_bytes, side_hash, out_files, out_bytes, out_hash"

enum column {
  C_ID,
  C_KEY,
  C_PIPELINE,
  C_STEP,
  C_JOB,
  C_DEFINITION,
  C_SUMMARY,
  C_COMPLETED,
  C_INPUTS,
  C_SIDE = C_INPUTS + 3,
  C_OUTPUT = C_SIDE + 3,
};

static struct tm_identity identity_at(const struct tm_query *q, int column)
{
  return (struct tm_identity) { .files = tm_query_int(q, column),
                                .bytes = tm_query_int(q, column + 1),
                                .hash = (uint64_t)tm_query_int(q, column + 2) };
}

static void read_row(struct tm_result_row *out, const struct tm_query *q)
{
  *out = (struct tm_result_row) { .id = tm_query_int(q, C_ID),
                                  .key = tm_xstrdup(tm_query_str(q, C_KEY)),
                                  .pipeline = tm_xstrdup(tm_query_str(q, C_PIPELINE)),
                                  .step = tm_xstrdup(tm_query_str(q, C_STEP)),
                                  .job = tm_xstrdup(tm_query_str(q, C_JOB)),
                                  .definition = tm_json_of(tm_query_str(q, C_DEFINITION)),
                                  .summary = tm_json_of(tm_query_str(q, C_SUMMARY)),
                                  .completed_ns = tm_query_int(q, C_COMPLETED),
                                  .inputs = identity_at(q, C_INPUTS),
                                  .side = identity_at(q, C_SIDE),
                                  .output = identity_at(q, C_OUTPUT) };
}

int tm_results_find(struct tm_result_rows *out, struct tm_db *db, const char *key,
                    struct tm_err *err)
{
  tm_require(key);
  struct tm_query *q =
      tm_db_ask(db, err, "SELECT " COLUMNS " FROM result WHERE key = ? ORDER BY id DESC LIMIT ?",
                "si", key, (int64_t)FOUND_MAX);
  int rc = q ? 0 : err->code;
  while (q && (rc = tm_query_next(q, err)) > 0)
    read_row(TM_ARRAY_ADD(out), q);
  tm_query_close(q);
  return rc;
}

int tm_results_newest(struct tm_result_row *out, struct tm_db *db, const char *pipeline,
                      const char *step, struct tm_err *err)
{
  struct tm_query *q = tm_db_ask(db, err,
                                 "SELECT " COLUMNS " FROM result WHERE pipeline = ? AND step = ? "
                                 "ORDER BY id DESC LIMIT 1",
                                 "ss", pipeline, step);
  int rc = q ? tm_query_next(q, err) : err->code;
  *out = (struct tm_result_row) { .id = 0 };
  if (rc > 0)
    read_row(out, q);
  tm_query_close(q);
  return rc;
}

static int insert(struct tm_db *db, const struct tm_result_row *r, struct tm_err *err)
{
  char *definition = tm_json_text(r->definition), *summary = tm_json_text(r->summary);
  int rc = tm_db_do(
      db, err,
      "INSERT OR REPLACE INTO result(key, pipeline, step, job, definition, summary, completed_ns, "
      "in_files, in_bytes, in_hash, side_files, side_bytes, side_hash, out_files, out_bytes, "
      "out_hash) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      "ssssssiiiiiiiiii", r->key, r->pipeline, r->step, r->job, definition, summary,
      r->completed_ns, r->inputs.files, r->inputs.bytes, (int64_t)r->inputs.hash, r->side.files,
      r->side.bytes, (int64_t)r->side.hash, r->output.files, r->output.bytes,
      (int64_t)r->output.hash);
  free(definition);
  free(summary);
  return rc;
}

static int drop_old(struct tm_db *db, const struct tm_result_row *r, struct tm_err *err)
{
  return tm_db_do(db, err,
                  "DELETE FROM result WHERE pipeline = ?1 AND step = ?2 AND id NOT IN (SELECT id "
                  "FROM result WHERE pipeline = ?1 AND step = ?2 ORDER BY id DESC LIMIT ?3)",
                  "ssi", r->pipeline, r->step, (int64_t)KEPT);
}

int tm_results_add(const char *workspace, const struct tm_result_row *row, struct tm_err *err)
{
  tm_require(row->key && row->pipeline && row->step && row->job);
  tm_require(row->definition && row->summary); /* its readers compare them */
  struct tm_db *db;
  int rc = tm_db_open(&db, workspace, TM_DB_WRITE, err);
  if (rc >= 0 && (rc = tm_db_begin(db, err)) >= 0 && (rc = insert(db, row, err)) >= 0 &&
      (rc = drop_old(db, row, err)) >= 0)
    rc = tm_db_commit(db, err);
  tm_db_close(db);
  return rc < 0 ? rc : 0;
}

int tm_results_remove(const char *workspace, int64_t id, struct tm_err *err)
{
  struct tm_db *db;
  int rc = tm_db_open(&db, workspace, TM_DB_WRITE, err);
  if (rc >= 0)
    rc = tm_db_do(db, err, "DELETE FROM result WHERE id = ?", "i", id);
  tm_db_close(db);
  return rc < 0 ? rc : 0;
}

void tm_result_row_release(struct tm_result_row *r)
{
  free(r->key);
  free(r->pipeline);
  free(r->step);
  free(r->job);
  tm_json_free(r->definition);
  tm_json_free(r->summary);
  tm_identity_release(&r->inputs);
  tm_identity_release(&r->side);
  tm_identity_release(&r->output);
  *r = (struct tm_result_row) { .id = 0 };
}

void tm_result_rows_release(struct tm_result_rows *rows)
{
  for (size_t i = 0; i < rows->len; i++)
    tm_result_row_release(&rows->at[i]);
  TM_ARRAY_RELEASE(rows);
}
