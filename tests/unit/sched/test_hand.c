/* test_hand.c - the window of a worker. */
#include "unit.h"

#include "base/time.h"
#include "sched/hand.h"

static void test_one_until_the_first_has_ended_then_as_measured(void **state)
{
  struct tm_hand h;

  tm_hand_init(&h);
  assert_int_equal(tm_hand_window(&h), 1);
  tm_hand_measure(&h, 5 * TM_S);
  assert_int_equal(tm_hand_window(&h), 1);
  for (int i = 0; i < 200; i++)
    tm_hand_measure(&h, TM_MS / 10);
  assert_in_range(tm_hand_window(&h), 15, 22);
  for (int i = 0; i < 200; i++)
    tm_hand_measure(&h, 0);
  assert_int_equal(tm_hand_window(&h), TM_PAGE_WORDS / 2);
  tm_hand_release(&h);
}

static void test_holds_finds_and_removes_in_any_order(void **state)
{
  struct tm_hand h;

  tm_hand_init(&h);
  tm_hand_measure(&h, 1);
  for (uint64_t seq = 1; seq <= 3; seq++)
    assert_int_equal(tm_hand_add(&h)->seq, seq);
  tm_hand_remove(&h, 2);
  assert_null(tm_hand_find(&h, 2));
  assert_non_null(tm_hand_find(&h, 3));
  assert_int_equal(h.first, 1);
  tm_hand_remove(&h, 1);
  assert_int_equal(h.first, 3);
  assert_null(tm_hand_find(&h, 3 + TM_PAGE_WORDS));
  assert_null(tm_hand_find(&h, 0));
  tm_hand_release(&h);
}

static void test_nothing_is_queued_after_a_long_one(void **state)
{
  struct tm_hand h;

  tm_hand_init(&h);
  tm_hand_measure(&h, 1);
  assert_true(tm_hand_has_room(&h, TM_HAND_LATE_NS));
  tm_hand_add(&h)->handed_ns = 5;
  tm_hand_add(&h)->handed_ns = 9;
  assert_true(tm_hand_has_room(&h, 4 + TM_HAND_LATE_NS));
  assert_false(tm_hand_has_room(&h, 5 + TM_HAND_LATE_NS));
  tm_hand_remove(&h, 1);
  assert_true(tm_hand_has_room(&h, 8 + TM_HAND_LATE_NS));
  assert_false(tm_hand_has_room(&h, 9 + TM_HAND_LATE_NS));
  tm_hand_remove(&h, 2);
  assert_true(tm_hand_has_room(&h, TM_S));
  tm_hand_release(&h);
}

static void test_the_span_never_exceeds_the_page(void **state)
{
  struct tm_hand h;
  uint64_t last = 0;

  tm_hand_init(&h);
  tm_hand_measure(&h, 1);
  tm_hand_add(&h); /* stays, because it takes long */
  while (tm_hand_has_room(&h, 0)) {
    last = tm_hand_add(&h)->seq;
    tm_hand_remove(&h, last); /* taken back */
  }
  assert_int_equal(last, TM_PAGE_WORDS);
  tm_hand_remove(&h, 1);
  assert_true(tm_hand_has_room(&h, 0));
  tm_hand_release(&h);
}

static void test_waiting_names_all_but_the_first(void **state)
{
  struct tm_hand h;
  uint64_t seqs[TM_PAGE_WORDS];

  tm_hand_init(&h);
  tm_hand_measure(&h, 1);
  for (int i = 0; i < 4; i++)
    tm_hand_add(&h)->handed_ns = 10 * i;
  assert_int_equal(tm_hand_waiting(&h, 30, seqs), 2);
  assert_int_equal(seqs[0], 2);
  assert_int_equal(seqs[1], 3);
  tm_hand_release(&h);
}

UNIT_TESTS({
    cmocka_unit_test(test_one_until_the_first_has_ended_then_as_measured),
    cmocka_unit_test(test_holds_finds_and_removes_in_any_order),
    cmocka_unit_test(test_nothing_is_queued_after_a_long_one),
    cmocka_unit_test(test_the_span_never_exceeds_the_page),
    cmocka_unit_test(test_waiting_names_all_but_the_first),
});
