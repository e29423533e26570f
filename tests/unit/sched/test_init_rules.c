/* test_init_rules.c - when a step gives up because its workers do not get through init(), on a
 * clock that the test sets. For the first rule, of the pool, see test_pool.c. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "sched/init_rules.h"

static const struct tm_init_look nobody = { .age_ns = 121 * TM_S };

static void note_failures(struct tm_init_rules *r, int n)
{
  while (n-- > 0)
    tm_init_rules_note(r, false);
}

static void test_two_minutes_of_failures_without_a_success(void **state)
{
  struct tm_init_rules r;
  struct tm_init_look now = nobody;
  struct tm_err err = TM_ERR_NONE;

  tm_init_rules_init(&r, 3, 60 * TM_S);
  note_failures(&r, 5);
  assert_int_equal(tm_init_rules_look(&r, &now, &err), 0);
  note_failures(&r, 1);
  now.age_ns = 120 * TM_S;
  assert_int_equal(tm_init_rules_look(&r, &now, &err), 0);
  now.age_ns++;
  assert_int_equal(tm_init_rules_look(&r, &now, &err), TM_ESCRIPT);
  assert_non_null(strstr(err.text, "init() has failed 6 times in 120 s"));
}

static void test_one_success_anywhere_is_enough(void **state)
{
  struct tm_init_rules r;
  struct tm_err err = TM_ERR_NONE;

  tm_init_rules_init(&r, 1, 60 * TM_S);
  note_failures(&r, 1);
  tm_init_rules_note(&r, true);
  note_failures(&r, 100);
  assert_int_equal(tm_init_rules_look(&r, &nobody, &err), 0);
}

static void test_every_living_worker_in_init_for_too_long(void **state)
{
  struct tm_init_rules r;
  struct tm_init_look now = { .living = 2, .in_init = 2, .shortest_ns = 60 * TM_S };
  struct tm_err err = TM_ERR_NONE;

  tm_init_rules_init(&r, 2, 10 * TM_S);
  assert_int_equal(tm_init_rules_look(&r, &now, &err), 0);
  now.shortest_ns++;
  assert_int_equal(tm_init_rules_look(&r, &now, &err), TM_ESCRIPT);
  assert_non_null(strstr(err.text, "(there are 2)"));
  assert_non_null(strstr(err.text, "more than 60 s"));
}

static void test_a_working_one_or_none_is_not_a_reason(void **state)
{
  struct tm_init_rules r;
  struct tm_init_look now = { .living = 2, .in_init = 1, .shortest_ns = 3600 * TM_S };
  struct tm_err err = TM_ERR_NONE;

  tm_init_rules_init(&r, 2, 10 * TM_S);
  assert_int_equal(tm_init_rules_look(&r, &now, &err), 0);
  now.living = now.in_init = 0;
  now.shortest_ns = INT64_MAX;
  assert_int_equal(tm_init_rules_look(&r, &now, &err), 0);
}

UNIT_TESTS({
    cmocka_unit_test(test_two_minutes_of_failures_without_a_success),
    cmocka_unit_test(test_one_success_anywhere_is_enough),
    cmocka_unit_test(test_every_living_worker_in_init_for_too_long),
    cmocka_unit_test(test_a_working_one_or_none_is_not_a_reason),
});
