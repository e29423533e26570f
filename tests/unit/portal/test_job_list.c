/* test_job_list.c - the order of jobs, filters, pages. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "portal/job_list.h"

static void add(struct tm_job_list *l, const char *key, enum tidemill_state state, int64_t begin_ns)
{
  struct tm_job_row row = { .key = tm_xstrdup(key),
                            .pipeline = tm_xstrdup("orders"),
                            .note = tm_xstrdup(""),
                            .state = state,
                            .has_result = state != TIDEMILL_STATE_RUNNING,
                            .is_read = true,
                            .order_ns = begin_ns };
  tm_job_list_add(l, &row);
}

static void on_row(const struct tm_job_row *row, void *data)
{
  char *keys = data;
  snprintf(keys + strlen(keys), 1000 - strlen(keys), "%s ", row->key);
}

static void expect_page(struct tm_job_list *l, const char *filter, int64_t page, const char *want,
                        size_t matching)
{
  char keys[1000] = "";
  assert_int_equal(tm_job_list_page(l, filter, page, on_row, keys), matching);
  assert_string_equal(keys, want);
}

static void running_jobs_come_first_then_the_newest(void **state)
{
  struct tm_job_list l = { .dir = NULL };
  add(&l, "old", TIDEMILL_STATE_COMPLETED, 1);
  add(&l, "new", TIDEMILL_STATE_FAILED, 9);
  add(&l, "runs", TIDEMILL_STATE_RUNNING, 5);
  tm_job_list_sort(&l);
  assert_int_equal(l.running, 1);
  expect_page(&l, "", 1, "runs new old ", 3);
  expect_page(&l, "", 2, "", 3);
  tm_job_list_release(&l);
}

static void a_filter_finds_a_state_by_the_words_that_are_shown(void **state)
{
  struct tm_job_list l = { .dir = NULL };
  add(&l, "good", TIDEMILL_STATE_COMPLETED, 9);
  add(&l, "some", TIDEMILL_STATE_COMPLETED, 8);
  add(&l, "old", TIDEMILL_STATE_COMPLETED, 7);
  add(&l, "bad", TIDEMILL_STATE_RUNNING, 6);
  l.rows.at[1].items_failed = 2;
  l.rows.at[2].is_reused = true;
  l.rows.at[3].is_damaged = true;
  assert_string_equal(tm_job_row_state(&l.rows.at[1]).word, "Completed with failures");
  tm_job_list_sort(&l);
  expect_page(&l, "with failures", 1, "some ", 1);
  expect_page(&l, "completed", 1, "good some old ", 3);
  expect_page(&l, "reused", 1, "old ", 1);
  expect_page(&l, "unreadable", 1, "bad ", 1);
  tm_job_list_release(&l);
}

static void a_filter_looks_for_parts_of_name_pipeline_and_state(void **state)
{
  struct tm_job_list l = { .dir = NULL };
  add(&l, "scans-1", TIDEMILL_STATE_COMPLETED, 2);
  add(&l, "daily-1", TIDEMILL_STATE_FAILED, 1);
  tm_job_list_sort(&l);
  expect_page(&l, "SCANS", 1, "scans-1 ", 1);
  expect_page(&l, "fail", 1, "daily-1 ", 1);
  expect_page(&l, "orders", 1, "scans-1 daily-1 ", 2);
  expect_page(&l, " 1  fail ", 1, "daily-1 ", 1);
  expect_page(&l, "scans fail", 1, "", 0);
  tm_job_list_release(&l);
}

static void fifty_jobs_are_a_page(void **state)
{
  struct tm_job_list l = { .dir = NULL };
  char key[20];
  for (int i = 0; i < 120; i++) {
    snprintf(key, sizeof key, "%d", i);
    add(&l, key, TIDEMILL_STATE_COMPLETED, i + 1);
  }
  tm_job_list_sort(&l);
  expect_page(&l, "", 3, "19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0 ", 120);
  expect_page(&l, "", 0, "", 120);
  expect_page(&l, "", INT64_MAX, "", 120);
  uint64_t version = l.version;
  l.rows.at[7].changed_ns++;
  tm_job_list_sort(&l);
  assert_true(l.version != version); /* so that a stream hears of it */
  tm_job_list_release(&l);
}

static void the_name_of_a_job_says_when_it_began(void **state)
{
  assert_int_equal(tm_job_name_time("scans-20261122-021904-vbxd"),
                   INT64_C(1795313944) * 1000000000);
  assert_int_equal(tm_job_name_time("-19700101-000001-abcd"), 1000000000);
  static const char *const others[] = { "",
                                        "scans",
                                        "scans-20261122-021904",
                                        "a-20261322-021904-vbxd",
                                        "a-2026112x-021904-vbxd",
                                        "a-20261122_021904-vbxd" };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_int_equal(tm_job_name_time(others[i]), 0);
}

UNIT_TESTS({
    cmocka_unit_test(running_jobs_come_first_then_the_newest),
    cmocka_unit_test(a_filter_finds_a_state_by_the_words_that_are_shown),
    cmocka_unit_test(a_filter_looks_for_parts_of_name_pipeline_and_state),
    cmocka_unit_test(fifty_jobs_are_a_page),
    cmocka_unit_test(the_name_of_a_job_says_when_it_began),
});
