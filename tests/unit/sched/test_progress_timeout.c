/* test_progress_timeout.c - a step without progress, on a clock that the test sets. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "sched/progress_timeout.h"

/* Looks ten times a second for `seconds` from `from` on; returns the time at which it lost
 * patience, or 0. */
static int64_t wait(struct tm_progress_timeout *p, const struct tm_counts *c, int64_t from_s,
                    int64_t seconds, struct tm_err *err)
{
  for (int64_t i = 1; i <= seconds * 10; i++) {
    int64_t now_ns = from_s * TM_S + i * 100 * TM_MS;
    if (tm_progress_timeout_look(p, c, now_ns, err) < 0)
      return now_ns;
  }
  return 0;
}

static void test_the_first_mini_batch_has_a_time_of_its_own(void **state)
{
  struct tm_progress_timeout p;
  struct tm_counts c = { 0 };
  struct tm_err err = TM_ERR_NONE;

  tm_progress_timeout_init(&p, 20 * TM_S, 5 * TM_S, 0);
  assert_int_equal(wait(&p, &c, 0, 60, &err), 20 * TM_S);
  assert_int_equal(err.code, TM_ETHRESHOLD);
  assert_non_null(strstr(err.text, "first_task_creation_timeout (20 s)"));
}

static void test_a_created_or_finished_one_restarts_it(void **state)
{
  struct tm_progress_timeout p;
  struct tm_counts c = { 0 };
  struct tm_err err = TM_ERR_NONE;

  tm_progress_timeout_init(&p, 20 * TM_S, 5 * TM_S, 0);
  assert_int_equal(wait(&p, &c, 0, 19, &err), 0);
  c.created = 3;
  assert_int_equal(wait(&p, &c, 19, 4, &err), 0);
  c.created = 4;
  assert_int_equal(wait(&p, &c, 23, 4, &err), 0);
  c.succeeded = 1;
  assert_int_equal(wait(&p, &c, 27, 4, &err), 0);
  c.failed = 1;
  c.errors = 7; /* tries do not count as progress */
  assert_int_equal(wait(&p, &c, 31, 4, &err), 0);
  c.errors = 9;
  assert_true(wait(&p, &c, 35, 4, &err) > 35 * TM_S);
  assert_non_null(strstr(err.text, "progress_update_timeout (5 s)"));
}

static void test_time_in_which_nobody_looked_does_not_count(void **state)
{
  struct tm_progress_timeout p;
  struct tm_counts c = { .created = 1 };
  struct tm_err err = TM_ERR_NONE;

  tm_progress_timeout_init(&p, 20 * TM_S, 5 * TM_S, 0);
  assert_int_equal(tm_progress_timeout_look(&p, &c, 100 * TM_MS, &err), 0);
  assert_int_equal(tm_progress_timeout_look(&p, &c, 3600 * TM_S, &err), 0);
  assert_int_equal(wait(&p, &c, 3600, 3, &err), 0);
  assert_true(wait(&p, &c, 3603, 2, &err) > 0);
}

static void test_each_part_that_is_tried_is_progress(void **state)
{
  struct tm_progress_timeout p;
  struct tm_counts c = { .created = 1 };
  struct tm_err err = TM_ERR_NONE;

  tm_progress_timeout_init(&p, 20 * TM_S, 5 * TM_S, 0);
  assert_int_equal(wait(&p, &c, 0, 4, &err), 0);
  c.parts = 1;
  assert_int_equal(wait(&p, &c, 4, 4, &err), 0);
  c.parts = 2;
  assert_int_equal(wait(&p, &c, 8, 4, &err), 0);
  assert_true(wait(&p, &c, 12, 4, &err) > 0);
}

UNIT_TESTS({
    cmocka_unit_test(test_the_first_mini_batch_has_a_time_of_its_own),
    cmocka_unit_test(test_a_created_or_finished_one_restarts_it),
    cmocka_unit_test(test_time_in_which_nobody_looked_does_not_count),
    cmocka_unit_test(test_each_part_that_is_tried_is_progress),
});
