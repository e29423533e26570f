/* test_rounds.c - work that asks for more of itself is done afterwards, and by one caller. */
#include "unit.h"

#include "job/rounds.h"

static void one_request_is_one_round(void **state)
{
  struct tm_rounds r = { 0 };

  for (int i = 0; i < 2; i++) {
    assert_true(tm_rounds_ask(&r));
    assert_true(tm_rounds_next(&r));
    assert_false(tm_rounds_next(&r));
  }
}

static void a_request_within_a_round_is_one_more_round(void **state)
{
  struct tm_rounds r = { 0 };

  assert_true(tm_rounds_ask(&r));
  assert_true(tm_rounds_next(&r));
  assert_false(tm_rounds_ask(&r));
  assert_false(tm_rounds_ask(&r));
  assert_true(tm_rounds_next(&r));
  assert_false(tm_rounds_next(&r));
}

static void what_is_asked_while_held_back_is_done_in_the_first_round(void **state)
{
  struct tm_rounds r = { 0 };

  assert_true(tm_rounds_ask(&r));
  assert_false(tm_rounds_ask(&r));
  assert_true(tm_rounds_next(&r));
  assert_false(tm_rounds_next(&r));
}

UNIT_TESTS({
    cmocka_unit_test(one_request_is_one_round),
    cmocka_unit_test(a_request_within_a_round_is_one_more_round),
    cmocka_unit_test(what_is_asked_while_held_back_is_done_in_the_first_round),
});
