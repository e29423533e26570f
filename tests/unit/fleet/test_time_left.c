/* Whether a node may get another mini-batch before its time limit. */
#include "unit.h"

#include "base/mem.h"
#include "base/time.h"
#include "fleet/time_left.h"

#define MINUTE (60 * TM_S)

/* The node has `left_s` when it is asked, at second 10. */
static struct tm_time_left node_with(int64_t left_s)
{
  struct tm_time_left t = { 0 };

  tm_time_left_set(&t, left_s, 10 * TM_S);
  return t;
}

/* Until second `until_s` it may get a mini-batch, and not after; 0: never. Of one step. */
static void expect(int64_t left_s, struct tm_run_times step, int64_t until_s)
{
  struct tm_time_left t = node_with(left_s);
  bool was_measured;
  int64_t run_ns = tm_time_left_run_ns(&t, &step, 1, &was_measured);

  if (was_measured != (step.longest_ns > 0))
    fail_msg("%d s: measured", (int)left_s);
  if (until_s > 0 && !tm_time_left_is_enough(&t, run_ns, until_s * TM_S))
    fail_msg("%d s: not enough at %d s", (int)left_s, (int)until_s);
  if (tm_time_left_is_enough(&t, run_ns, (until_s > 0 ? until_s : 10) * TM_S + 1))
    fail_msg("%d s: enough after %d s", (int)left_s, (int)until_s);
}

static void the_longest_run_and_30_s_must_be_left(void **state)
{
  expect(600, (struct tm_run_times) { .longest_ns = MINUTE, .timeout_ns = 9 * MINUTE }, 520);
  expect(600, (struct tm_run_times) { .longest_ns = TM_S, .timeout_ns = TM_S }, 579);
  expect(100, (struct tm_run_times) { .longest_ns = 70 * TM_S, .timeout_ns = MINUTE }, 10);
  expect(100, (struct tm_run_times) { .longest_ns = 71 * TM_S, .timeout_ns = MINUTE }, 0);
  expect(29, (struct tm_run_times) { .longest_ns = 1, .timeout_ns = 1 }, 0);
  expect(0, (struct tm_run_times) { .longest_ns = 1, .timeout_ns = 1 }, 0);
}

static void until_a_run_has_ended_its_timeout_counts_or_half_of_the_time(void **state)
{
  expect(600, (struct tm_run_times) { .timeout_ns = MINUTE }, 520);
  expect(600, (struct tm_run_times) { .timeout_ns = 9 * MINUTE }, 280);
  expect(60, (struct tm_run_times) { .timeout_ns = MINUTE }, 10); /* none a moment later */
  expect(58, (struct tm_run_times) { .timeout_ns = MINUTE }, 0);
  expect(60, (struct tm_run_times) { .timeout_ns = 5 * TM_S }, 35);
}

static void of_several_steps_the_longest_counts(void **state)
{
  struct tm_time_left t = node_with(600);
  const struct tm_run_times steps[] = { { 20 * TM_S, MINUTE }, { 0, 2 * MINUTE }, { MINUTE, 1 } };
  bool was_measured;

  assert_true(tm_time_left_run_ns(&t, steps, 3, &was_measured) == 2 * MINUTE);
  assert_false(was_measured);
  assert_true(tm_time_left_run_ns(&t, steps, 1, &was_measured) == 20 * TM_S);
  assert_true(was_measured);
  assert_int_equal(tm_time_left_run_ns(&t, steps, 0, &was_measured), 0);
}

static void without_a_limit_there_is_always_time(void **state)
{
  struct tm_time_left t = node_with(-1);

  assert_false(tm_time_left_is_known(&t));
  assert_true(tm_time_left_is_enough(&t, 100 * MINUTE, 1000 * MINUTE));
  assert_false(tm_time_left_is_announced(&t, 1000 * MINUTE));
}

static void the_first_answer_counts_and_a_large_one_does_no_harm(void **state)
{
  struct tm_time_left t = node_with(INT64_MAX);

  assert_true(tm_time_left_is_enough(&t, 100 * MINUTE, 1000 * MINUTE));
  tm_time_left_set(&t, 5, 20 * TM_S);
  assert_true(tm_time_left_is_enough(&t, 100 * MINUTE, 1000 * MINUTE));
}

static void the_end_is_announced_150_s_before(void **state)
{
  struct tm_time_left t = node_with(600);

  assert_false(tm_time_left_is_announced(&t, 459 * TM_S));
  assert_true(tm_time_left_is_announced(&t, 460 * TM_S));
  assert_true(tm_time_left_is_announced(&t, 6000 * TM_S));
  assert_int_equal(tm_time_left_ns(&t, 6000 * TM_S), 0);
}

UNIT_TESTS({
    cmocka_unit_test(the_longest_run_and_30_s_must_be_left),
    cmocka_unit_test(until_a_run_has_ended_its_timeout_counts_or_half_of_the_time),
    cmocka_unit_test(of_several_steps_the_longest_counts),
    cmocka_unit_test(without_a_limit_there_is_always_time),
    cmocka_unit_test(the_first_answer_counts_and_a_large_one_does_no_harm),
    cmocka_unit_test(the_end_is_announced_150_s_before),
});
