/* test_tally.c - thresholds and verdicts. */
#include "unit.h"

#include <string.h>

#include "sched/tally.h"

static const struct tm_limits no_limits = { -1, -1, -1 };

static struct tm_tally with(int64_t threshold, bool append_row, int64_t created)
{
  struct tm_tally t;

  struct tm_limits limits = no_limits;

  limits.failed_items = threshold;
  tm_tally_init(&t, &limits, append_row);
  tm_tally_set_created(&t, created, created * 10, true);
  return t;
}

static void test_completes_when_all_have_ended(void **state)
{
  struct tm_tally t = with(-1, true, 2);

  tm_tally_add_done(&t, 10, 10, 10);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_RUNNING);
  tm_tally_add_done(&t, 10, 10, 12);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_COMPLETED);
  assert_int_equal(t.counts.items_succeeded, 20);
  assert_int_equal(t.counts.items_failed, 0);
  assert_int_equal(t.counts.returned, 22);
}

static void test_continues_while_more_may_be_created(void **state)
{
  struct tm_tally t = with(-1, true, 1);

  tm_tally_set_created(&t, 1, 10, false);
  tm_tally_add_done(&t, 10, 10, 10);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_RUNNING);
}

static void test_the_threshold_counts_items_and_is_exceeded_by_one_more(void **state)
{
  struct tm_tally t = with(12, true, 9);
  struct tm_err err = TM_ERR_NONE;

  tm_tally_add_failed(&t, 10);
  tm_tally_add_done(&t, 10, 8, 8);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_RUNNING);
  tm_tally_add_done(&t, 10, 9, 9);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_FAILED);
  assert_non_null(strstr(err.text, "13 items have failed, and error_threshold tolerates 12"));
}

static void test_zero_tolerates_none_and_minus_one_all(void **state)
{
  struct tm_tally none = with(0, false, 2), all = with(-1, false, 2);

  tm_tally_add_done(&none, 10, 9, 9);
  assert_int_equal(tm_tally_verdict(&none, NULL), TM_FAILED);
  tm_tally_add_failed(&all, 10);
  tm_tally_add_done(&all, 10, 10, 10);
  assert_int_equal(tm_tally_verdict(&all, NULL), TM_COMPLETED);
}

static void test_without_rows_one_mini_batch_must_have_succeeded(void **state)
{
  struct tm_tally none = with(-1, false, 2), one = with(-1, false, 2), empty = with(-1, false, 0);
  struct tm_err err = TM_ERR_NONE;

  tm_tally_add_failed(&none, 10);
  tm_tally_add_failed(&none, 10);
  assert_int_equal(tm_tally_verdict(&none, &err), TM_FAILED);
  assert_string_equal(err.text, "not one of 2 mini-batches succeeded");
  tm_tally_add_failed(&one, 10);
  tm_tally_add_done(&one, 10, 0, 0); /* run() has returned {} */
  assert_int_equal(tm_tally_verdict(&one, NULL), TM_COMPLETED);
  assert_int_equal(tm_tally_verdict(&empty, NULL), TM_COMPLETED);
}

static void test_append_row_without_one_good_item_has_failed(void **state)
{
  struct tm_tally t = with(-1, true, 1);
  struct tm_err err = TM_ERR_NONE;

  tm_tally_add_done(&t, 10, 0, 0);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_FAILED);
  assert_string_equal(err.text, "not one of 10 items succeeded");
  struct tm_tally none = with(-1, true, 1), single = with(-1, true, 1);
  tm_tally_add_done(&single, 1, 0, 0);
  assert_int_equal(tm_tally_verdict(&single, &err), TM_FAILED);
  assert_string_equal(err.text, "the only item failed");
  tm_tally_add_done(&none, 0, 0, 0);
  assert_int_equal(tm_tally_verdict(&none, &err), TM_FAILED);
  assert_non_null(strstr(err.text, "there is no row in 1 mini-batch;"));
}

static void test_a_verdict_never_changes(void **state)
{
  struct tm_tally t = with(0, true, 2);

  tm_tally_add_failed(&t, 1);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_FAILED);
  t.limits.failed_items = -1;
  tm_tally_add_done(&t, 10, 10, 10);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_FAILED);
}

static void test_earlier_sessions_count(void **state)
{
  struct tm_tally t = with(5, true, 3);

  tm_tally_add_earlier(&t, 1, 1, 20, 14, 14);
  assert_int_equal(t.counts.items_failed, 6);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_FAILED);
}

static void test_failed_tries_are_counted_apart(void **state)
{
  struct tm_tally t = with(-1, true, 1);

  tm_tally_add_failed_try(&t, TM_FAILED_BY_ERROR);
  tm_tally_add_failed_try(&t, TM_FAILED_BY_ERROR);
  tm_tally_add_failed_try(&t, TM_FAILED_BY_TIMEOUT);
  tm_tally_add_failed_try(&t, TM_FAILED_WITH_WORKER);
  assert_int_equal(t.counts.errors, 2);
  assert_int_equal(t.counts.timeouts, 1);
  assert_int_equal(t.counts.lost, 1);
}

static struct tm_tally with_limits(int64_t count, double percent, bool all_created)
{
  struct tm_tally t;

  tm_tally_init(&t, &(struct tm_limits) { -1, count, percent }, true);
  tm_tally_set_created(&t, 10, 100, all_created);
  return t;
}

static void test_failed_mini_batches_are_counted(void **state)
{
  struct tm_tally t = with_limits(1, -1, false);
  struct tm_err err = TM_ERR_NONE;

  tm_tally_add_done(&t, 10, 0, 0); /* short, but not a failed mini-batch */
  tm_tally_add_failed(&t, 10);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_RUNNING);
  tm_tally_add_failed(&t, 10);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_FAILED);
  assert_int_equal(err.code, TM_ETHRESHOLD);
  assert_string_equal(err.text, "2 mini-batches have failed, and allowed_failed_count tolerates 1");
}

static void test_percent_is_judged_once_all_are_created(void **state)
{
  struct tm_tally t = with_limits(-1, 20, false);
  struct tm_err err = TM_ERR_NONE;

  for (int i = 0; i < 3; i++)
    tm_tally_add_failed(&t, 10);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_RUNNING);
  tm_tally_set_created(&t, 15, 150, true); /* 3 of 15 are not more than 20 % */
  assert_int_equal(tm_tally_verdict(&t, &err), TM_RUNNING);
  tm_tally_add_failed(&t, 10);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_FAILED);
  assert_string_equal(
      err.text, "4 of 15 mini-batches have failed, and allowed_failed_percent tolerates 20 %");
}

static void test_the_last_mini_batch_may_exceed_a_limit(void **state)
{
  struct tm_tally t = with_limits(0, -1, true);

  for (int i = 0; i < 9; i++)
    tm_tally_add_done(&t, 10, 10, 10);
  tm_tally_add_failed(&t, 10);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_FAILED);
  t = with_limits(-1, 0, true);
  for (int i = 0; i < 10; i++)
    tm_tally_add_done(&t, 10, 10, 10);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_COMPLETED);
}

static void test_a_cause_is_said_again_with_the_last_numbers(void **state)
{
  struct tm_tally t = with_limits(-1, -1, true);
  struct tm_err cause = TM_ERR_NONE, other = TM_ERR_NONE;

  t.limits.failed_items = 2;
  tm_tally_add_failed(&t, 3);
  assert_int_equal(tm_tally_verdict(&t, &cause), TM_FAILED);
  assert_string_equal(cause.text, "3 items have failed, and error_threshold tolerates 2");
  tm_tally_add_failed(&t, 4);
  tm_tally_count_again(&t, &cause);
  assert_string_equal(cause.text, "7 items have failed, and error_threshold tolerates 2");
  tm_err_set(&other, TM_ESCRIPT, "init() failed");
  tm_tally_count_again(&t, &other);
  assert_string_equal(other.text, "init() failed");
}

static void test_marked_items_never_succeed(void **state)
{
  struct tm_tally t = with(-1, true, 1);

  assert_int_equal(tm_tally_succeeded(10, 0, 12), 10);
  assert_int_equal(tm_tally_succeeded(10, 3, 7), 7);
  assert_int_equal(tm_tally_succeeded(10, 3, 10), 7);
  assert_int_equal(tm_tally_succeeded(10, 3, 2), 2);
  assert_int_equal(tm_tally_succeeded(10, 10, 1), 0);
  tm_tally_add_done(&t, 10, 0, 10);
  assert_int_equal(t.counts.items_failed, 10);
  assert_int_equal(tm_tally_verdict(&t, NULL), TM_FAILED);
}

static void test_uncounted_rows_are_reported_as_one_item(void **state)
{
  struct tm_tally t = with(0, true, 2);
  struct tm_err err = TM_ERR_NONE;

  tm_tally_add_failed(&t, 1);
  tm_tally_add_uncounted(&t, 1);
  assert_int_equal(t.counts.items_failed, 1);
  assert_int_equal(t.counts.uncounted, 1);
  assert_int_equal(tm_tally_verdict(&t, &err), TM_FAILED);
  assert_non_null(strstr(err.text, "at least 1 item has failed, and error_threshold"));
}

UNIT_TESTS({
    cmocka_unit_test(test_completes_when_all_have_ended),
    cmocka_unit_test(test_continues_while_more_may_be_created),
    cmocka_unit_test(test_the_threshold_counts_items_and_is_exceeded_by_one_more),
    cmocka_unit_test(test_zero_tolerates_none_and_minus_one_all),
    cmocka_unit_test(test_append_row_without_one_good_item_has_failed),
    cmocka_unit_test(test_without_rows_one_mini_batch_must_have_succeeded),
    cmocka_unit_test(test_a_verdict_never_changes),
    cmocka_unit_test(test_earlier_sessions_count),
    cmocka_unit_test(test_failed_tries_are_counted_apart),
    cmocka_unit_test(test_failed_mini_batches_are_counted),
    cmocka_unit_test(test_percent_is_judged_once_all_are_created),
    cmocka_unit_test(test_the_last_mini_batch_may_exceed_a_limit),
    cmocka_unit_test(test_a_cause_is_said_again_with_the_last_numbers),
    cmocka_unit_test(test_marked_items_never_succeed),
    cmocka_unit_test(test_uncounted_rows_are_reported_as_one_item),
});
