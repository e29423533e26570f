/* test_history.c - the jobs in the history of a workspace. */
#include "unit.h"

#include "store_fixture.h"

#include "store/db.h"
#include "store/history.h"

static struct tm_history_job job(const char *dir, const char *status, int64_t begin_ns)
{
  return (struct tm_history_job) { .dir = (char *)dir,
                                   .pipeline = (char *)"daily",
                                   .status = (char *)status,
                                   .begin_ns = begin_ns,
                                   .steps = 2,
                                   .reused = 1,
                                   .total = 5,
                                   .succeeded = 4,
                                   .failed = 1,
                                   .items_total = 9,
                                   .items_failed = 2,
                                   .items_succeeded = 6 };
}

static struct tm_history list(const char *dir)
{
  struct tm_history h = { 0 };
  assert_int_equal(tm_history_list(&h, dir, NULL), 0);
  return h;
}

static void without_a_database_there_is_none(void **state)
{
  struct tm_history h = list(*state);
  assert_int_equal(h.len, 0);
  tm_history_release(&h);
}

static void a_job_that_ends_has_began_when_it_first_did(void **state)
{
  struct tm_history_job j = job("/jobs/1", "Running", 100);
  struct tm_history h;
  assert_int_equal(tm_history_put(*state, &j, NULL), 0);
  j = job("/jobs/1", "Completed", 300);
  j.end_ns = 400;
  j.file = (char *)"/p.lua";
  assert_int_equal(tm_history_put(*state, &j, NULL), 0);
  h = list(*state);
  assert_int_equal(h.len, 1);
  assert_string_equal(h.at[0].status, "Completed");
  assert_int_equal(h.at[0].begin_ns, 100);
  assert_int_equal(h.at[0].end_ns, 400);
  assert_int_equal(h.at[0].reused, 1);
  assert_int_equal(h.at[0].items_failed, 2);
  assert_int_equal(h.at[0].items_succeeded, 6);
  tm_history_release(&h);
}

/* As the version before this one left it. */
static void a_row_of_an_earlier_version_does_not_know_what_was_done(void **state)
{
  struct tm_history_job j = job("/jobs/1", "Failed", 100);
  struct tm_history h;
  struct tm_db *db;
  assert_int_equal(tm_history_put(*state, &j, NULL), 0);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_WRITE, NULL), 1);
  assert_int_equal(tm_db_do(db, NULL, "ALTER TABLE job DROP COLUMN items_succeeded", ""), 0);
  assert_int_equal(tm_db_do(db, NULL, "PRAGMA user_version = 2", ""), 0);
  tm_db_close(db);
  h = list(*state);
  assert_int_equal(h.at[0].items_succeeded, -1);
  assert_int_equal(h.at[0].items_failed, 2);
  tm_history_release(&h);
}

static void the_newest_comes_first(void **state)
{
  static const char *const dirs[] = { "/a", "/b", "/c" };
  const int64_t begun[] = { 200, 300, 100 };
  struct tm_history h;
  for (size_t i = 0; i < 3; i++) {
    struct tm_history_job j = job(dirs[i], "Failed", begun[i]);
    assert_int_equal(tm_history_put(*state, &j, NULL), 0);
  }
  h = list(*state);
  assert_int_equal(h.len, 3);
  assert_string_equal(h.at[0].dir, "/b");
  assert_string_equal(h.at[2].dir, "/c");
  tm_history_release(&h);
}

static void the_oldest_are_removed_if_there_are_too_many(void **state)
{
  struct tm_history_job j = job("/last", "Completed", 1000000);
  struct tm_history h;
  struct tm_db *db;
  assert_int_equal(tm_db_open(&db, *state, TM_DB_WRITE, NULL), 1);
  assert_int_equal(
      tm_db_do(db, NULL,
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
               "INSERT INTO job SELECT '/' || i, 'p', NULL, 'Failed', i, 0, 1, 0, 0, 0, 0, 0, 0, 0 "
               "FROM n",
               "i", (int64_t)TM_HISTORY_MAX),
      0);
  tm_db_close(db);
  assert_int_equal(tm_history_put(*state, &j, NULL), 0);
  h = list(*state);
  assert_int_equal(h.len, TM_HISTORY_MAX);
  assert_string_equal(h.at[0].dir, "/last");
  assert_string_equal(h.at[h.len - 1].dir, "/2");
  tm_history_release(&h);
}

static void it_can_be_printed_as_json(void **state)
{
  struct tm_history_job j = job("/jobs/1", "Failed", 0);
  struct tm_json *v = tm_history_to_json(&j);
  assert_string_equal(tm_json_str(v, "status", ""), "Failed");
  assert_true(tm_json_bool(v, "removed", false));
  assert_int_equal(tm_json_int(tm_json_get(v, "mini_batches"), "failed", 0), 1);
  assert_int_equal(tm_json_get(v, "started")->type, TM_JSON_NULL);
  tm_json_free(v);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(without_a_database_there_is_none),
    TEST(a_job_that_ends_has_began_when_it_first_did),
    TEST(a_row_of_an_earlier_version_does_not_know_what_was_done),
    TEST(the_newest_comes_first),
    TEST(the_oldest_are_removed_if_there_are_too_many),
    TEST(it_can_be_printed_as_json),
});
