/* test_share.c - how the steps of a job share its workers: each rule alone, and random jobs to
 * their end. */
#include "unit.h"

#include <stdlib.h>

#include "sched/share.h"

static bool may(const struct tm_share *of, size_t n, size_t at, int64_t max)
{
  return tm_share_may_start(of, n, at, max);
}

static void the_limit_of_each_node_counts_unless_the_user_says_one(void **state)
{
  assert_int_equal(tm_share_limit(0, 0, 4), 4); /* before the first node */
  assert_int_equal(tm_share_limit(0, 3, 4), 3);
  assert_int_equal(tm_share_limit(0, 12, 4), 12);
  assert_int_equal(tm_share_limit(5, 0, 4), 5);
  assert_int_equal(tm_share_limit(5, 12, 4), 5);
}

static void one_step_has_all_that_it_wants(void **state)
{
  struct tm_share s = { .wants = 3 };
  for (s.lives = 0; s.lives < 3; s.lives++)
    assert_true(may(&s, 1, 0, 4));
  assert_false(may(&s, 1, 0, 4));
}

static void there_are_never_more_than_max(void **state)
{
  struct tm_share of[] = { { .wants = 9, .lives = 3 }, { .wants = 9 } };
  assert_false(may(of, 2, 0, 3));
  assert_false(may(of, 2, 1, 3));
  assert_true(may(of, 2, 1, 4));
}

static void the_first_worker_of_a_step_goes_before_further_ones(void **state)
{
  struct tm_share of[] = { { .wants = 9, .lives = 2 }, { .wants = 9 } };
  assert_false(may(of, 2, 0, 3));
  assert_true(may(of, 2, 1, 3));
}

static void a_share_that_one_does_not_need_goes_to_others(void **state)
{
  struct tm_share of[] = { { .wants = 9, .lives = 2 }, { .wants = 1, .lives = 1 } };
  assert_true(may(of, 2, 0, 4)); /* its share is 3, not 2 */
  of[1].wants = 9;
  assert_false(may(of, 2, 0, 4));
}

/* At this size a loop over levels would take minutes. */
static void the_parts_of_very_many_workers_are_even(void **state)
{
  const int64_t most = INT32_MAX;
  struct tm_share of[] = { { .wants = most }, { .wants = 1000, .lives = 1 }, { .wants = most } };
  for (of[0].lives = of[2].lives = 1; of[0].lives < most / 2; of[0].lives *= 2)
    assert_true(may(of, 3, 0, most));
  of[2].lives = (most - 1000) / 2;
  of[0].lives = of[2].lives;
  assert_true(may(of, 3, 0, most)); /* the one that is left over */
  assert_false(may(of, 3, 2, most));
  assert_true(may(of, 3, 1, most));
}

static void a_step_that_ends_leaves_its_part(void **state)
{
  struct tm_share of[] = { { .wants = 4, .lives = 2 }, { .wants = 0, .lives = 2 } };
  assert_false(may(of, 2, 0, 4)); /* they are still alive */
  of[1].lives = 1;
  assert_true(may(of, 2, 0, 4));
}

static void the_largest_share_gives_a_worker_to_a_step_without_one(void **state)
{
  struct tm_share of[] = { { .wants = 9, .lives = 2 }, { .wants = 9, .lives = 3 }, { .wants = 1 } };
  assert_int_equal(tm_share_giver(of, 3, 5), 1);
  of[1].leaves = 1; /* it is starting */
  assert_int_equal(tm_share_giver(of, 3, 5), 3);
  of[1].leaves = 0;
  assert_int_equal(tm_share_giver(of, 3, 6), 3); /* one is free */
}

static void the_last_worker_of_a_step_is_not_given_back(void **state)
{
  struct tm_share of[] = { { .wants = 9, .lives = 1 }, { .wants = 9, .lives = 1 }, { .wants = 1 } };
  assert_int_equal(tm_share_giver(of, 3, 2), 3);
}

/* Each round starts the workers that may start and stops those that must give way. From any start,
 * after some rounds every step has one, all available workers are in use, and no step has two more
 * than another that wants more. */
static void all_settle_with_fair_parts(void **state)
{
  for (unsigned seed = 1; seed <= 2000; seed++) {
    struct tm_share of[6] = { { 0 } };
    size_t n = 1 + (size_t)rand_r(&seed) % 6;
    int64_t max = (int64_t)n + rand_r(&seed) % 8, lives = 0, wants = 0;
    of[0].lives = max; /* the first step had all */
    for (size_t i = 0; i < n; i++)
      of[i].wants = 1 + rand_r(&seed) % 8;
    for (int round = 0; round < 40; round++) {
      size_t giver = tm_share_giver(of, n, max);
      if (giver < n)
        of[giver].lives--;
      if (of[0].lives > of[0].wants) /* workers without work end */
        of[0].lives--;
      for (size_t i = 0; i < n; i++)
        of[i].lives += tm_share_may_start(of, n, i, max);
    }
    for (size_t i = 0; i < n; i++) {
      assert_true(of[i].lives >= 1 && of[i].lives <= of[i].wants);
      lives += of[i].lives;
      wants += of[i].wants;
    }
    assert_int_equal(lives, wants < max ? wants : max);
    assert_int_equal(tm_share_giver(of, n, max), n);
    for (size_t i = 1; i < n; i++)
      for (size_t k = 1; k < n; k++)
        assert_true(of[i].lives == of[i].wants || of[k].lives <= of[i].lives + 1);
  }
}

UNIT_TESTS({
    cmocka_unit_test(the_limit_of_each_node_counts_unless_the_user_says_one),
    cmocka_unit_test(one_step_has_all_that_it_wants),
    cmocka_unit_test(there_are_never_more_than_max),
    cmocka_unit_test(the_first_worker_of_a_step_goes_before_further_ones),
    cmocka_unit_test(a_share_that_one_does_not_need_goes_to_others),
    cmocka_unit_test(the_parts_of_very_many_workers_are_even),
    cmocka_unit_test(a_step_that_ends_leaves_its_part),
    cmocka_unit_test(the_largest_share_gives_a_worker_to_a_step_without_one),
    cmocka_unit_test(the_last_worker_of_a_step_is_not_given_back),
    cmocka_unit_test(all_settle_with_fair_parts),
});
