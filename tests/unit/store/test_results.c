/* test_results.c - rows about the results of steps. */
#include "unit.h"

#include "store_fixture.h"

#include "store/results.h"

static struct tm_json *text_json(const char *text)
{
  return tm_json_parse(text, strlen(text), NULL);
}

static int add(const char *dir, const char *key, const char *job, const char *step, int64_t bytes)
{
  struct tm_result_row row = { .key = (char *)key,
                               .pipeline = (char *)"daily",
                               .step = (char *)step,
                               .job = (char *)job,
                               .definition = text_json("{\"name\":\"a\"}"),
                               .summary = text_json("{\"status\":\"Completed\"}"),
                               .completed_ns = 5,
                               .inputs = { .files = 2, .bytes = bytes, .hash = UINT64_MAX },
                               .side = { .files = 1 },
                               .output = { .files = 3, .hash = 7 } };
  int rc = tm_results_add(dir, &row, NULL);
  tm_json_free(row.definition);
  tm_json_free(row.summary);
  return rc;
}

static struct tm_result_rows find(const char *dir, const char *key)
{
  struct tm_result_rows rows = { 0 };
  struct tm_db *db;
  assert_int_equal(tm_db_open(&db, dir, TM_DB_READ, NULL), 1);
  assert_int_equal(tm_results_find(&rows, db, key, NULL), 0);
  tm_db_close(db);
  return rows;
}

static void a_row_comes_back(void **state)
{
  struct tm_result_rows rows;
  assert_int_equal(add(*state, "k", "/jobs/1", "score", 10), 0);
  rows = find(*state, "k");
  assert_int_equal(rows.len, 1);
  assert_string_equal(rows.at[0].job, "/jobs/1");
  assert_string_equal(tm_json_str(rows.at[0].definition, "name", ""), "a");
  assert_string_equal(tm_json_str(rows.at[0].summary, "status", ""), "Completed");
  assert_int_equal(rows.at[0].inputs.bytes, 10);
  assert_true(rows.at[0].inputs.hash == UINT64_MAX);
  assert_int_equal(rows.at[0].side.files, 1);
  assert_int_equal(rows.at[0].output.hash, 7);
  assert_int_equal(rows.at[0].completed_ns, 5);
  tm_result_rows_release(&rows);
}

static void the_newest_comes_first_and_a_step_of_a_job_has_one(void **state)
{
  struct tm_result_rows rows;
  struct tm_result_row newest;
  struct tm_db *db;
  add(*state, "k", "/jobs/1", "score", 1);
  add(*state, "k", "/jobs/2", "score", 2);
  add(*state, "other", "/jobs/3", "score", 3);
  add(*state, "k", "/jobs/1", "score", 4); /* again */
  rows = find(*state, "k");
  assert_int_equal(rows.len, 2);
  assert_int_equal(rows.at[0].inputs.bytes, 4);
  assert_int_equal(rows.at[1].inputs.bytes, 2);
  assert_int_equal(tm_results_remove(*state, rows.at[0].id, NULL), 0);
  tm_result_rows_release(&rows);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_READ, NULL), 1);
  assert_int_equal(tm_results_newest(&newest, db, "daily", "score", NULL), 1);
  assert_string_equal(newest.job, "/jobs/3");
  tm_result_row_release(&newest);
  assert_int_equal(tm_results_newest(&newest, db, "daily", "join", NULL), 0);
  tm_result_row_release(&newest);
  tm_db_close(db);
}

static void old_rows_of_a_step_go(void **state)
{
  struct tm_db *db;
  struct tm_query *q;
  for (int i = 0; i < 110; i++) {
    char *job = tm_xprintf("/jobs/%d", i);
    add(*state, "k", job, i % 11 == 0 ? "other" : "score", i);
    free(job);
  }
  assert_int_equal(tm_db_open(&db, *state, TM_DB_READ, NULL), 1);
  q = tm_db_ask(db, NULL, "SELECT count(*) FROM result WHERE step = ?", "s", "score");
  assert_int_equal(tm_query_next(q, NULL), 1);
  assert_int_equal(tm_query_int(q, 0), 100);
  tm_query_close(q);
  tm_db_close(db);
}

/* A database of an earlier version: it gets the missing tables and columns, and keeps its rows. */
static void an_earlier_database_is_added_to(void **state)
{
  struct tm_db *db;
  struct tm_query *q;
  assert_int_equal(tm_db_open(&db, *state, TM_DB_WRITE, NULL), 1);
  assert_int_equal(tm_db_do(db, NULL, "INSERT INTO setting VALUES('a', 'kept')", ""), 0);
  assert_int_equal(tm_db_do(db, NULL, "DROP TABLE result", ""), 0);
  assert_int_equal(tm_db_do(db, NULL, "DROP TABLE job", ""), 0);
  assert_int_equal(tm_db_do(db, NULL, "PRAGMA user_version = 1", ""), 0);
  tm_db_close(db);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_READ, NULL), 1);
  q = tm_db_ask(db, NULL, "SELECT value FROM setting", "");
  assert_int_equal(tm_query_next(q, NULL), 1);
  assert_string_equal(tm_query_str(q, 0), "kept");
  tm_query_close(q);
  tm_db_close(db);
  assert_int_equal(add(*state, "k", "/jobs/1", "score", 1), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(a_row_comes_back),
    TEST(the_newest_comes_first_and_a_step_of_a_job_has_one),
    TEST(old_rows_of_a_step_go),
    TEST(an_earlier_database_is_added_to),
});
