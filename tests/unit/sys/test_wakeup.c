/* test_wakeup.c - wakes a thread that polls. */
#include "unit.h"

#include "sys/wakeup.h"
#include "sys/threads.h"

static void nothing_is_heard_before_it_rings(void **state)
{
  struct tm_wakeup b;
  assert_int_equal(tm_wakeup_open(&b, NULL), 0);
  assert_false(tm_wakeup_wait(&b, 0));
  tm_wakeup_close(&b);
}

static void rings_are_heard_once(void **state)
{
  struct tm_wakeup b;
  assert_int_equal(tm_wakeup_open(&b, NULL), 0);
  tm_wakeup_send(&b);
  tm_wakeup_send(&b);
  assert_true(tm_wakeup_wait(&b, -1));
  assert_false(tm_wakeup_wait(&b, 0));
  tm_wakeup_close(&b);
}

static void ring(void *data)
{
  tm_wakeup_send(data);
}

static void another_thread_wakes_a_waiter(void **state)
{
  struct tm_wakeup b;
  struct tm_thread t;
  assert_int_equal(tm_wakeup_open(&b, NULL), 0);
  assert_int_equal(tm_thread_start(&t, ring, &b, NULL), 0);
  assert_true(tm_wakeup_wait(&b, -1));
  tm_thread_join(&t);
  tm_wakeup_close(&b);
}

UNIT_TESTS({
    cmocka_unit_test(nothing_is_heard_before_it_rings),
    cmocka_unit_test(rings_are_heard_once),
    cmocka_unit_test(another_thread_wakes_a_waiter),
});
