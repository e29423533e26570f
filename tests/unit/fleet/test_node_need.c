/* How many nodes a group needs. */
#include "unit.h"

#include "fleet/node_need.h"

static size_t of_one(int64_t node_count, int64_t open, int64_t per_node, int64_t max_workers)
{
  return tm_node_need(&(struct tm_node_need) { node_count, open }, 1, per_node, max_workers);
}

static void one_is_needed_before_anything_is_listed(void **state)
{
  assert_int_equal(of_one(8, 0, 4, 0), 1);
  assert_int_equal(tm_node_need(NULL, 0, 4, 0), 0);
}

static void more_are_needed_as_mini_batches_appear(void **state)
{
  assert_int_equal(of_one(8, 1, 4, 0), 1);
  assert_int_equal(of_one(8, 4, 4, 0), 1);
  assert_int_equal(of_one(8, 5, 4, 0), 2);
  assert_int_equal(of_one(8, 32, 4, 0), 8);
  assert_int_equal(of_one(8, 33, 4, 0), 8);
  assert_int_equal(of_one(INT32_MAX, INT64_MAX, 1, 0), INT32_MAX);
  assert_int_equal(of_one(INT32_MAX, INT64_MAX, INT32_MAX, 0), INT32_MAX);
}

static void none_is_needed_for_workers_that_the_job_may_not_have(void **state)
{
  assert_int_equal(of_one(8, 100, 4, 4), 1);
  assert_int_equal(of_one(8, 100, 4, 9), 3);
  assert_int_equal(of_one(8, 100, 4, 1000), 8);
  assert_int_equal(of_one(8, 0, 4, 1), 1);
}

/* The nodes serve both steps; but the first one alone would use one. */
static void each_step_counts_with_its_own_node_count(void **state)
{
  struct tm_node_need steps[] = { { 1, 100 }, { 4, 2 } };
  assert_int_equal(tm_node_need(steps, 2, 2, 0), 2);
  steps[1].open = 100;
  assert_int_equal(tm_node_need(steps, 2, 2, 0), 4);
  assert_int_equal(tm_node_need(steps, 1, 2, 0), 1);
}

UNIT_TESTS({
    cmocka_unit_test(one_is_needed_before_anything_is_listed),
    cmocka_unit_test(more_are_needed_as_mini_batches_appear),
    cmocka_unit_test(none_is_needed_for_workers_that_the_job_may_not_have),
    cmocka_unit_test(each_step_counts_with_its_own_node_count),
});
