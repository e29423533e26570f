/* test_pool.c - the life cycle of workers, and the number that the pool wants. */
#include "unit.h"

#include "sched/pool.h"

static enum tm_worker_state walk(struct tm_pool *p, const enum tm_worker_event *events, size_t n)
{
  enum tm_worker_state s = TM_WORKER_GONE;

  for (size_t i = 0; i < n; i++)
    s = tm_pool_step(p, s, events[i]);
  return s;
}
#define WALK(p, ...)                                                                               \
  walk(p, (const enum tm_worker_event[]) { __VA_ARGS__ },                                          \
       sizeof((const enum tm_worker_event[]) { __VA_ARGS__ }) / sizeof(enum tm_worker_event))

#define START   TM_WORKER_ON_START
#define STARTED TM_WORKER_ON_STARTED
#define LOADED  TM_WORKER_ON_LOADED
#define READY   TM_WORKER_ON_READY
#define STOP    TM_WORKER_ON_STOP
#define ENDED   TM_WORKER_ON_ENDED

static void test_a_whole_life(void **state)
{
  struct tm_pool p;

  tm_pool_init(&p, 2);
  assert_int_equal(WALK(&p, START, STARTED, LOADED, READY), TM_WORKER_READY);
  assert_int_equal(p.living, 1);
  assert_int_equal(p.ready, 1);
  assert_int_equal(tm_pool_step(&p, TM_WORKER_READY, STOP), TM_WORKER_STOPPING);
  assert_int_equal(p.ready, 0);
  assert_int_equal(tm_pool_step(&p, TM_WORKER_STOPPING, ENDED), TM_WORKER_GONE);
  assert_int_equal(p.living, 0);
  assert_int_equal(p.init_failures, 0);
}

static void test_one_alone_until_the_script_is_loaded(void **state)
{
  struct tm_pool p;

  tm_pool_init(&p, 4);
  assert_true(tm_pool_wants_worker(&p, 100));
  WALK(&p, START, STARTED);
  assert_false(tm_pool_wants_worker(&p, 100));
  tm_pool_step(&p, TM_WORKER_LOADING, LOADED);
  assert_true(tm_pool_wants_worker(&p, 100));
}

static void test_no_more_than_asked_and_no_more_than_there_is_work(void **state)
{
  struct tm_pool p;

  tm_pool_init(&p, 2);
  assert_false(tm_pool_wants_worker(&p, 0));
  WALK(&p, START, STARTED, LOADED, READY);
  assert_false(tm_pool_wants_worker(&p, 1));
  assert_true(tm_pool_wants_worker(&p, 2));
  WALK(&p, START);
  assert_false(tm_pool_wants_worker(&p, 100));
}

static void test_gives_up_after_three_times_the_count_in_a_row(void **state)
{
  struct tm_pool p;

  tm_pool_init(&p, 2);
  WALK(&p, START, STARTED, LOADED, ENDED);
  WALK(&p, START, STARTED, LOADED, READY); /* one success restarts the count */
  for (int i = 0; i < 5; i++)
    WALK(&p, START, STARTED, LOADED, ENDED);
  assert_true(tm_pool_wants_worker(&p, 100));
  WALK(&p, START, ENDED);
  assert_false(tm_pool_wants_worker(&p, 100));
  assert_false(tm_pool_has_given_up(&p)); /* one is still alive */
  tm_pool_step(&p, TM_WORKER_READY, ENDED);
  assert_true(tm_pool_has_given_up(&p));
}

static void test_the_end_of_one_that_was_asked_to_stop_is_not_a_failure(void **state)
{
  struct tm_pool p;

  tm_pool_init(&p, 1);
  WALK(&p, START, STARTED, STOP, LOADED, READY, ENDED);
  assert_int_equal(p.init_failures, 0);
}

static void test_workers_that_end_before_they_begin_anything_are_not_replaced_for_ever(void **state)
{
  struct tm_pool p;

  tm_pool_init(&p, 2);
  for (int i = 0; i < 5; i++)
    tm_pool_note_end(&p, false);
  tm_pool_note_end(&p, true); /* it did work: the count restarts */
  for (int i = 0; i < 5; i++) {
    assert_true(tm_pool_wants_worker(&p, 100));
    WALK(&p, START, STARTED, LOADED, READY, ENDED);
    tm_pool_note_end(&p, false);
  }
  assert_true(tm_pool_wants_worker(&p, 100));
  tm_pool_note_end(&p, false);
  assert_false(tm_pool_wants_worker(&p, 100));
  assert_true(tm_pool_has_given_up(&p));
}

static void test_closed_wants_nobody(void **state)
{
  struct tm_pool p;

  tm_pool_init(&p, 1);
  tm_pool_close(&p);
  assert_false(tm_pool_wants_worker(&p, 100));
}

UNIT_TESTS({
    cmocka_unit_test(test_a_whole_life),
    cmocka_unit_test(test_one_alone_until_the_script_is_loaded),
    cmocka_unit_test(test_no_more_than_asked_and_no_more_than_there_is_work),
    cmocka_unit_test(test_gives_up_after_three_times_the_count_in_a_row),
    cmocka_unit_test(test_the_end_of_one_that_was_asked_to_stop_is_not_a_failure),
    cmocka_unit_test(test_workers_that_end_before_they_begin_anything_are_not_replaced_for_ever),
    cmocka_unit_test(test_closed_wants_nobody),
});
