/* test_watched_jobs.c - what streams say about a job; which names can be jobs. */
#include "unit.h"

#include <stdlib.h>

#include "portal/watched_jobs.h"

static void expect_title_of(enum tidemill_state state, int64_t done, int64_t created,
                            int64_t items_failed, size_t reused, const char *want)
{
  struct tidemill_counts counts = { .created = created,
                                    .succeeded = done,
                                    .items_failed = items_failed };
  struct tidemill_record_info job = {
    .pipeline = "scans", .state = state, .steps_len = 2, .steps_reused = reused, .counts = &counts
  };
  struct tm_buf title = TM_BUF_NONE;
  tm_watch_title(&title, &job);
  assert_string_equal(title.data, want);
  tm_buf_release(&title);
}

static void expect_title(enum tidemill_state state, int64_t done, int64_t created, const char *want)
{
  expect_title_of(state, done, created, 0, 0, want);
}

static void the_title_has_the_progress_and_then_the_outcome(void **state)
{
  expect_title(TIDEMILL_STATE_RUNNING, 0, 0, "scans");
  expect_title(TIDEMILL_STATE_RUNNING, 41, 100, "41% scans");
  expect_title(TIDEMILL_STATE_RUNNING, 999, 1000, "99% scans");
  expect_title(TIDEMILL_STATE_COMPLETED, 100, 100, "✓ scans");
  expect_title(TIDEMILL_STATE_FAILED, 10, 100, "✗ scans");
  expect_title(TIDEMILL_STATE_CANCELED, 10, 100, "■ scans");
}

/* As its page and the list of jobs show it. */
static void the_title_has_the_symbol_of_the_page(void **state)
{
  expect_title(TIDEMILL_STATE_INTERRUPTED, 10, 100, "‖ scans");
  expect_title_of(TIDEMILL_STATE_COMPLETED, 100, 100, 2, 0, "! scans");
  expect_title_of(TIDEMILL_STATE_COMPLETED, 100, 100, 0, 1, "✓ scans");
  expect_title_of(TIDEMILL_STATE_COMPLETED, 100, 100, 0, 2, "↺ scans");
}

static void expect_state(bool is_removed, const char *fault, const char *want)
{
  struct tidemill_record_info job = { .dir = "/ws/jobs/scans-1",
                                      .state = TIDEMILL_STATE_INTERRUPTED,
                                      .is_removed = is_removed,
                                      .fault = fault };
  struct tm_buf text = TM_BUF_NONE;
  tm_watch_state(&text, &job, 7);
  assert_string_equal(text.data, want);
  tm_buf_release(&text);
}

static void a_job_that_cannot_be_read_is_not_interrupted(void **state)
{
  expect_state(true, "it is gone", "{\"version\":7,\"state\":\"Removed\",\"title\":\"– scans-1\"}");
  expect_state(false, "job.json has a bad byte",
               "{\"version\":7,\"state\":\"Unreadable\",\"title\":\"? scans-1\"}");
}

static void the_state_of_a_hostile_job_is_json(void **state)
{
  struct tidemill_counts counts = { .created = 3, .succeeded = 1, .failed = 1 };
  struct tidemill_record_info job = { .pipeline = "a\"\n</script>\xff",
                                      .state = TIDEMILL_STATE_RUNNING,
                                      .counts = &counts };
  struct tm_buf text = TM_BUF_NONE;
  tm_watch_state(&text, &job, 7);
  assert_string_equal(text.data,
                      "{\"version\":7,\"state\":\"Running\",\"title\":\"66% a\\\"\\n</script>"
                      "\xef\xbf\xbd\",\"done\":2,\"failed\":1,\"created\":3}");
  tm_buf_release(&text);
}

static void a_job_lies_in_the_folder_of_jobs(void **state)
{
  static const char *const others[] = { "", ".", "..", ".hidden", "a/b", "/etc", "../x" };
  struct tm_watch w;
  struct tm_err err = TM_ERR_NONE;
  tm_watch_open(&w, "/nothing");
  char *dir = tm_watch_dir(&w, "a-1");
  assert_string_equal(dir, "/nothing/jobs/a-1");
  free(dir);
  for (size_t i = 0; i < TM_COUNT_OF(others); i++) {
    assert_null(tm_watch_dir(&w, others[i]));
    assert_null(tm_watch_record(&w, others[i], 0, &err));
    assert_false(tm_watch_hold(&w, others[i]));
  }
  assert_null(tm_watch_record(&w, "a-1", 0, &err)); /* there is no such job */
  assert_int_equal(w.jobs.len, 0);
  assert_int_equal(tm_watch_timeout_ms(&w, 0), -1);
  tm_watch_close(&w);
}

UNIT_TESTS({
    cmocka_unit_test(the_title_has_the_progress_and_then_the_outcome),
    cmocka_unit_test(the_title_has_the_symbol_of_the_page),
    cmocka_unit_test(a_job_that_cannot_be_read_is_not_interrupted),
    cmocka_unit_test(the_state_of_a_hostile_job_is_json),
    cmocka_unit_test(a_job_lies_in_the_folder_of_jobs),
});
