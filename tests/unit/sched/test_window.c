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
  assert_int_equal(tm_window_size(&w, 0), 1);
  assert_int_equal(tm_window_size(&w, TM_S), 1);
  tm_window_measure(&w, 5 * TM_S);
  assert_int_equal(tm_window_size(&w, 0), 1);
  for (int i = 0; i < 200; i++)
    tm_window_measure(&w, TM_MS / 10);
  assert_in_range(tm_window_size(&w, 0), 15, 22);
  for (int i = 0; i < 200; i++)
    tm_window_measure(&w, 0);
  assert_int_equal(tm_window_size(&w, 0), SPAN / 2);
  tm_window_release(&w);
}

static void test_holds_work_for_two_round_trips_if_they_take_longer_than_2_ms(void **state)
{
  static const struct {
    int64_t mean_ns, distance_ns;
    size_t size;
  } rows[] = {
    { TM_MS, 0, 3 },
    { TM_MS, TM_MS / 10, 3 },
    { TM_MS, TM_MS, 3 },
    { TM_MS, 20 * TM_MS, 41 },
    { TM_MS, 90 * TM_MS, 181 },
    { 50 * TM_MS, 90 * TM_MS, 5 },
    /* a second one waits, unless a round trip takes less than a twentieth of the first */
    { 3 * TM_MS, 0, 1 },
    { 3 * TM_MS, TM_MS / 10, 1 },
    { 3 * TM_MS, TM_MS, 2 },
    { 20 * 90 * TM_MS - 1, 90 * TM_MS, 2 },
    { 20 * 90 * TM_MS, 90 * TM_MS, 1 },
    { 3600 * TM_S, TM_WINDOW_DISTANCE_MAX_NS, 1 },
    /* the page is the limit: half of it for a short way */
    { TM_MS / 1000, TM_MS, SPAN / 2 },
    { TM_MS / 1000, TM_MS + 1, SPAN },
    { TM_MS / 4, 90 * TM_MS, SPAN },
    { 1, TM_WINDOW_DISTANCE_MAX_NS, SPAN },
  };

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct tm_window w;
    tm_window_init(&w, SPAN);
    tm_window_measure(&w, rows[i].mean_ns);
    if (tm_window_size(&w, rows[i].distance_ns) != rows[i].size)
      fail_msg("row %d: %d", (int)i, (int)tm_window_size(&w, rows[i].distance_ns));
    while (tm_window_has_room(&w, rows[i].distance_ns))
      add(&w, 0);
    assert_int_equal(tm_window_len(&w), rows[i].size);
    tm_window_release(&w);
  }
}

/* Also before anything is measured, and if its first is late. */
static void test_never_less_than_the_least(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  w.least = TM_WINDOW_PREFETCH;
  assert_int_equal(tm_window_size(&w, 0), 3);
  for (int i = 0; i < 3; i++) {
    assert_true(tm_window_has_room(&w, 0));
    assert_false(tm_window_is_late(&w, 0, TM_S));
    add(&w, 0);
  }
  assert_false(tm_window_has_room(&w, 0));
  assert_true(tm_window_is_late(&w, 0, TM_S));
  tm_window_remove(&w, 1, TM_S);
  assert_true(tm_window_has_room(&w, 0));
  assert_false(tm_window_is_late(&w, 0, 2 * TM_S));
  tm_window_measure(&w, 5 * TM_S);
  assert_int_equal(tm_window_size(&w, 0), 3);
  tm_window_measure(&w, 1);
  for (int i = 0; i < 200; i++)
    tm_window_measure(&w, TM_MS / 10);
  assert_in_range(tm_window_size(&w, 0), 15, 22);
  tm_window_release(&w);
}

static void test_one_that_holds_more_than_it_may_now_has_no_room_and_loses_nothing(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, TM_MS);
  while (tm_window_has_room(&w, 90 * TM_MS))
    add(&w, 0);
  for (uint64_t seq = 1; seq <= 181 - 3; seq++) {
    assert_false(tm_window_has_room(&w, 0));
    tm_window_remove(&w, seq, 0);
  }
  assert_int_equal(tm_window_len(&w), 3);
  assert_false(tm_window_has_room(&w, 0));
  tm_window_remove(&w, 181, 0);
  assert_true(tm_window_has_room(&w, 0));
  tm_window_release(&w);
}

static void test_holds_finds_and_removes_in_any_order(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  for (uint64_t seq = 1; seq <= 3; seq++)
    assert_int_equal(add(&w, 0), seq);
  tm_window_remove(&w, 2, 0);
  assert_null(tm_window_find(&w, 2));
  assert_int_equal(tm_window_find(&w, 3)->what.index, 7);
  assert_int_equal(w.ring.first, 1);
  tm_window_remove(&w, 1, 0);
  assert_int_equal(w.ring.first, 3);
  assert_null(tm_window_find(&w, 3 + SPAN));
  assert_null(tm_window_find(&w, 0));
  tm_window_release(&w);
}

static void test_its_first_is_late_after_a_while(void **state)
{
  static const int64_t distances[] = { 0, TM_MS / 10, 90 * TM_MS, TM_WINDOW_DISTANCE_MAX_NS };

  for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
    int64_t d = distances[i], late = 10 * TM_MS + d;
    struct tm_window w;
    assert_int_equal(tm_window_late_ns(d), late);
    tm_window_init(&w, SPAN);
    tm_window_measure(&w, 1);
    assert_false(tm_window_is_late(&w, d, late));
    add(&w, 5);
    add(&w, 9);
    assert_false(tm_window_is_late(&w, d, 4 + late));
    assert_true(tm_window_is_late(&w, d, 5 + late));
    /* the second is not late because it has waited for the first */
    tm_window_remove(&w, 1, 3 * late);
    assert_false(tm_window_is_late(&w, d, 4 * late - 1));
    assert_true(tm_window_is_late(&w, d, 4 * late));
    tm_window_remove(&w, 2, 4 * late);
    assert_false(tm_window_is_late(&w, d, 9 * late));
    add(&w, 9 * late);
    assert_false(tm_window_is_late(&w, d, 10 * late - 1));
    tm_window_release(&w);
  }
}

static void test_its_first_is_as_old_as_before_when_another_one_ends(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  for (int i = 0; i < 3; i++)
    add(&w, 0);
  tm_window_remove(&w, 2, 9 * TM_MS); /* taken back */
  assert_true(tm_window_is_late(&w, 0, 10 * TM_MS));
  tm_window_remove(&w, 1, 10 * TM_MS);
  assert_false(tm_window_is_late(&w, 0, 10 * TM_MS));
  tm_window_release(&w);
}

static void test_the_span_never_exceeds_the_page(void **state)
{
  struct tm_window w;
  uint64_t last = 0;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  add(&w, 0); /* stays, because it takes long */
  while (tm_window_has_room(&w, 0)) {
    last = add(&w, 0);
    tm_window_remove(&w, last, 0); /* taken back */
  }
  assert_int_equal(last, SPAN);
  tm_window_remove(&w, 1, 0);
  assert_true(tm_window_has_room(&w, 0));
  tm_window_release(&w);
}

static void test_recalls_all_but_the_first_that_wait_long_enough(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  tm_window_measure(&w, 1);
  assert_true(tm_window_waits_since(&w) == INT64_MAX);
  add(&w, 0);
  assert_true(tm_window_waits_since(&w) == INT64_MAX);
  for (int i = 1; i < 5; i++)
    add(&w, 10 * i);
  tm_window_remove(&w, 2, 50); /* taken back */
  assert_int_equal(tm_window_waits_since(&w), 20);
  assert_int_equal(tm_window_recall(&w, 19), 0);
  assert_int_equal(tm_window_recall(&w, 30), 2);
  assert_false(tm_window_find(&w, 1)->is_recalled);
  assert_true(tm_window_find(&w, 3)->is_recalled);
  assert_true(tm_window_find(&w, 4)->is_recalled);
  assert_false(tm_window_find(&w, 5)->is_recalled);
  assert_int_equal(tm_window_recall(&w, INT64_MAX), 3);
  tm_window_release(&w);
}

/* What waits at the end of the window has begun last. */
static void test_recalls_as_many_as_fit_into_a_short_message(void **state)
{
  static const size_t most = TM_WINDOW_RECALL_MAX;
  struct tm_window w;

  assert_in_range(32 + 8 * most + 4, 0, 1024); /* header, numbers, check sum */
  tm_window_init(&w, SPAN);
  for (int i = 0; i < 200; i++)
    add(&w, i);
  tm_window_remove(&w, 150, 0);
  assert_int_equal(tm_window_recall(&w, 170), most);
  for (uint64_t seq = 1; seq <= 200; seq++)
    if (seq != 150)
      assert_int_equal(tm_window_find(&w, seq)->is_recalled, seq > 50 && seq <= 171);
  tm_window_release(&w);
}

static void test_memory_grows_with_the_window(void **state)
{
  struct tm_window w;

  tm_window_init(&w, SPAN);
  add(&w, 0);
  assert_true(1 << w.ring.cap_log2 <= 4);
  for (int i = 0; i < 20; i++) /* one at a time moves on without growing */
    tm_window_remove(&w, add(&w, 0) - 1, 0);
  assert_true(1 << w.ring.cap_log2 <= 4);
  for (int i = 0; i < 100; i++)
    add(&w, 0);
  assert_int_equal(tm_window_len(&w), 101);
  for (uint64_t seq = w.ring.first; seq < w.ring.next; seq++)
    assert_int_equal(tm_window_find(&w, seq)->seq, seq);
  tm_window_release(&w);
}

UNIT_TESTS({
    cmocka_unit_test(test_one_until_the_first_has_ended_then_as_measured),
    cmocka_unit_test(test_holds_work_for_two_round_trips_if_they_take_longer_than_2_ms),
    cmocka_unit_test(test_never_less_than_the_least),
    cmocka_unit_test(test_one_that_holds_more_than_it_may_now_has_no_room_and_loses_nothing),
    cmocka_unit_test(test_holds_finds_and_removes_in_any_order),
    cmocka_unit_test(test_its_first_is_late_after_a_while),
    cmocka_unit_test(test_its_first_is_as_old_as_before_when_another_one_ends),
    cmocka_unit_test(test_the_span_never_exceeds_the_page),
    cmocka_unit_test(test_recalls_all_but_the_first_that_wait_long_enough),
    cmocka_unit_test(test_recalls_as_many_as_fit_into_a_short_message),
    cmocka_unit_test(test_memory_grows_with_the_window),
});
