/* test_window.c - the in-flight window of a worker. */

#include "unit.h"

#include "base/time.h"
#include "sched/window.h"

#define SPAN 512

static uint64_t add(struct tm_window *w, int64_t now_ns)
{
  return tm_window_add(w, &(struct tm_assignment) { .index = 7, .try = 1 }, now_ns)->seq;
}

static void test_one_until_the_first_has_ended_then_as_measured(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  assert_int_equal(tm_window_size(&w), 1);
  tm_window_measure(&w, 5 * TM_S);
  assert_int_equal(tm_window_size(&w), 1);
  for (int i = 0; i < 200; i++)
    tm_window_measure(&w, TM_MS / 10);
  assert_in_range(tm_window_size(&w), 15, 22);
  for (int i = 0; i < 200; i++)
    tm_window_measure(&w, 0);
  assert_int_equal(tm_window_size(&w), SPAN / 2);
  tm_window_release(&w);
}

static void test_holds_finds_and_removes_in_any_order(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  for (uint64_t seq = 1; seq <= 3; seq++)
    assert_int_equal(add(&w, 0), seq);
  tm_window_remove(&w, 2);
  assert_null(tm_window_find(&w, 2));
  assert_int_equal(tm_window_find(&w, 3)->what.index, 7);
  assert_int_equal(w.ring.first, 1);
  tm_window_remove(&w, 1);
  assert_int_equal(w.ring.first, 3);
  assert_null(tm_window_find(&w, 3 + SPAN));
  assert_null(tm_window_find(&w, 0));
  tm_window_release(&w);
}

static void test_its_first_is_late_after_a_while(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  assert_false(tm_window_is_late(&w, TM_WINDOW_LATE_NS));
  add(&w, 5);
  add(&w, 9);
  assert_false(tm_window_is_late(&w, 4 + TM_WINDOW_LATE_NS));
  assert_true(tm_window_is_late(&w, 5 + TM_WINDOW_LATE_NS));
  tm_window_remove(&w, 1);
  assert_false(tm_window_is_late(&w, 8 + TM_WINDOW_LATE_NS));
  assert_true(tm_window_is_late(&w, 9 + TM_WINDOW_LATE_NS));
  tm_window_release(&w);
}

static void test_the_span_never_exceeds_the_page(void **state)
{
  struct tm_window w;
  uint64_t last = 0;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  add(&w, 0); /* stays, because it takes long */
  while (tm_window_has_room(&w)) {
    last = add(&w, 0);
    tm_window_remove(&w, last); /* taken back */
  }
  assert_int_equal(last, SPAN);
  tm_window_remove(&w, 1);
  assert_true(tm_window_has_room(&w));
  tm_window_release(&w);
}

static void test_recalls_all_but_the_first_that_wait_long_enough(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  for (int i = 0; i < 4; i++)
    add(&w, 10 * i);
  assert_int_equal(tm_window_recall(&w, 30), 2);
  assert_false(tm_window_find(&w, 1)->is_recalled);
  assert_true(tm_window_find(&w, 2)->is_recalled);
  assert_true(tm_window_find(&w, 3)->is_recalled);
  assert_false(tm_window_find(&w, 4)->is_recalled);
  tm_window_release(&w);
}

static void test_memory_grows_with_the_window(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  add(&w, 0);
  assert_true(w.ring.cap <= 4);
  for (int i = 0; i < 20; i++) /* one at a time moves on without growing */
    tm_window_remove(&w, add(&w, 0) - 1);
  assert_true(w.ring.cap <= 4);
  for (int i = 0; i < 100; i++)
    add(&w, 0);
  assert_int_equal(tm_window_len(&w), 101);
  for (uint64_t seq = w.ring.first; seq < w.ring.next; seq++)
    assert_int_equal(tm_window_find(&w, seq)->seq, seq);
  tm_window_release(&w);
}

UNIT_TESTS({
    cmocka_unit_test(test_one_until_the_first_has_ended_then_as_measured),
    cmocka_unit_test(test_holds_finds_and_removes_in_any_order),
    cmocka_unit_test(test_its_first_is_late_after_a_while),
    cmocka_unit_test(test_the_span_never_exceeds_the_page),
    cmocka_unit_test(test_recalls_all_but_the_first_that_wait_long_enough),
    cmocka_unit_test(test_memory_grows_with_the_window),
});
