/* test_slots.c - how soon a slot gets a new worker, on a clock that the test sets. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "sched/slots.h"

static void test_as_many_as_there_are(void **state)
{
  struct tm_slots s;

  tm_slots_init(&s, 2);
  assert_int_equal(tm_slots_due(&s), 0);
  assert_int_equal(tm_slots_take(&s, 0), 0);
  assert_int_equal(tm_slots_take(&s, 0), 1);
  assert_int_equal(tm_slots_take(&s, 0), -1);
  assert_int_equal(tm_slots_due(&s), INT64_MAX);
  tm_slots_release(&s);
}

static void test_after_one_that_had_worked_at_once(void **state)
{
  struct tm_slots s;

  tm_slots_init(&s, 1);
  for (int64_t now_ns = 0; now_ns < 100; now_ns++) {
    assert_int_equal(tm_slots_take(&s, now_ns), 0);
    tm_slots_give_back(&s, 0, true, now_ns, 1);
    assert_true(tm_slots_due(&s) <= now_ns);
  }
  tm_slots_release(&s);
}

/* The number of workers that start in the second after now_ns, when all die at once. */
static int starts(struct tm_slots *s, int64_t now_ns)
{
  int n = 0;

  for (int64_t end_ns = now_ns + TM_S; now_ns < end_ns; now_ns += TM_MS) {
    int64_t slot = tm_slots_take(s, now_ns);
    if (slot < 0)
      continue;
    n++;
    tm_slots_give_back(s, slot, false, now_ns, (uint64_t)now_ns);
  }
  return n;
}

static void test_workers_that_die_at_once_are_some_starts_a_second(void **state)
{
  struct tm_slots s;
  int first, second;

  tm_slots_init(&s, 1);
  first = starts(&s, 0);
  second = starts(&s, TM_S);
  assert_in_range(first, 8, 14); /* the first two at once */
  assert_in_range(second, 6, 9);
  assert_int_equal(tm_slots_take(&s, 3 * TM_S), 0);
  tm_slots_give_back(&s, 0, true, 3 * TM_S, 1); /* this one had done work */
  assert_true(tm_slots_due(&s) <= 3 * TM_S);
  tm_slots_release(&s);
}

static void test_a_place_suffers_for_its_own_alone(void **state)
{
  struct tm_slots s;

  tm_slots_init(&s, 2);
  assert_int_equal(tm_slots_take(&s, 0), 0);
  assert_int_equal(tm_slots_take(&s, 0), 1);
  for (int i = 0; i < 20; i++) {
    tm_slots_give_back(&s, 0, false, i * TM_S, 5);
    if (i < 19)
      assert_int_equal(tm_slots_take(&s, (i + 1) * TM_S), 0);
  }
  tm_slots_give_back(&s, 1, true, 19 * TM_S, 5);
  assert_int_equal(tm_slots_take(&s, 19 * TM_S), 1);
  assert_int_equal(tm_slots_take(&s, 19 * TM_S), -1);
  assert_in_range(tm_slots_due(&s), 19 * TM_S + TM_SLOT_MAX_NS * 3 / 4, 19 * TM_S + TM_SLOT_MAX_NS);
  tm_slots_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(test_as_many_as_there_are),
    cmocka_unit_test(test_after_one_that_had_worked_at_once),
    cmocka_unit_test(test_workers_that_die_at_once_are_some_starts_a_second),
    cmocka_unit_test(test_a_place_suffers_for_its_own_alone),
});
