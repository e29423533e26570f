/* Which nodes are launched, when, and on which host. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "fleet/launch_plan.h"

#define NONE SIZE_MAX

/* Fills every place that may be filled, with ids from `id` on. Returns how many. */
static uint32_t launch_all(struct tm_launch_plan *p, int64_t now_ns, uint32_t id)
{
  uint32_t n = 0;
  for (size_t at; (at = tm_launch_plan_next(p, now_ns)) != NONE; n++)
    tm_launch_plan_launch(p, at, id + n);
  return n;
}

static void every_place_is_filled_once(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 3, 0, 60 * TM_S);
  assert_int_equal(launch_all(&p, 0, 1), 3);
  assert_int_equal(tm_launch_plan_next(&p, INT64_MAX), NONE);
  assert_int_equal(tm_launch_plan_due(&p), INT64_MAX); /* no command runs yet */
  for (uint32_t id = 1; id <= 3; id++) {
    tm_launch_plan_running(&p, id, 5);
    assert_true(tm_launch_plan_find(&p, id)->host == NONE);
    tm_launch_plan_ready(&p, id);
  }
  assert_null(tm_launch_plan_find(&p, 4));
  assert_int_equal(tm_launch_plan_due(&p), INT64_MAX);
  tm_launch_plan_release(&p);
}

static void a_start_is_late_after_its_time(void **state)
{
  struct tm_launch_plan p;
  uint32_t id = 0;
  tm_launch_plan_init(&p, 1, 0, 2 * TM_S);
  launch_all(&p, 0, 7);
  assert_false(tm_launch_plan_late(&p, INT64_MAX - 1, &id)); /* its command does not run yet */
  tm_launch_plan_running(&p, 7, 10);
  assert_int_equal(tm_launch_plan_due(&p), 2 * TM_S + 10);
  assert_false(tm_launch_plan_late(&p, 2 * TM_S + 9, &id));
  assert_true(tm_launch_plan_late(&p, 2 * TM_S + 10, &id));
  assert_int_equal(id, 7);
  tm_launch_plan_ready(&p, 7);
  assert_false(tm_launch_plan_late(&p, INT64_MAX, &id));
  tm_launch_plan_release(&p);
}

static void spare_hosts_come_first_then_the_one_that_failed(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 2, 3, TM_S);
  launch_all(&p, 0, 1);
  assert_int_equal(tm_launch_plan_find(&p, 1)->host, 0);
  assert_int_equal(tm_launch_plan_find(&p, 2)->host, 1);
  tm_launch_plan_failed(&p, 1, 0);
  assert_int_equal(tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 3), 2);
  tm_launch_plan_failed(&p, 2, 0);
  assert_int_equal(tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 4), 0);
  assert_int_equal(tm_launch_plan_find(&p, 3)->host, 2);
  tm_launch_plan_failed(&p, 4, 0);
  assert_int_equal(tm_launch_plan_launch(&p, tm_launch_plan_next(&p, TM_S), 5), 1);
  tm_launch_plan_release(&p);
}

static void a_place_waits_longer_after_each_failure(void **state)
{
  static const int64_t waits[] = { 0, 1, 2, 4, 8, 16, 32, 60, 60 }; /* s */
  struct tm_launch_plan p;
  int64_t now_ns = 0;
  uint32_t id = 1;
  tm_launch_plan_init(&p, 1, 1, TM_S);
  for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
    assert_int_equal(launch_all(&p, now_ns, id), 1);
    tm_launch_plan_failed(&p, id++, now_ns);
    assert_int_equal(tm_launch_plan_due(&p), now_ns + waits[i] * TM_S);
    if (waits[i] > 0)
      assert_int_equal(tm_launch_plan_next(&p, now_ns + waits[i] * TM_S - 1), NONE);
    now_ns += waits[i] * TM_S;
  }
  assert_int_equal(launch_all(&p, now_ns, id), 1);
  tm_launch_plan_committed(&p, id); /* a node that has done something is not a failed start */
  tm_launch_plan_failed(&p, id, now_ns);
  assert_int_equal(tm_launch_plan_due(&p), now_ns);
  tm_launch_plan_release(&p);
}

static void a_group_without_a_commit_is_exhausted(void **state)
{
  struct tm_launch_plan p;
  uint32_t launches = 0;
  tm_launch_plan_init(&p, 2, 0, TM_S);
  for (int64_t s = 0; s < 1000; s++) {
    uint32_t n = launch_all(&p, s * TM_S, launches + 1);
    for (uint32_t i = 1; i <= n; i++)
      tm_launch_plan_failed(&p, launches + i, s * TM_S);
    launches += n;
  }
  assert_int_equal(launches, 3 * 2 + 10);
  assert_true(tm_launch_plan_is_exhausted(&p));
  assert_int_equal(tm_launch_plan_due(&p), INT64_MAX);
  tm_launch_plan_committed(&p, launches); /* its result was copied late */
  assert_false(tm_launch_plan_is_exhausted(&p));
  assert_int_equal(launch_all(&p, 1000 * TM_S, launches + 1), 2);
  tm_launch_plan_release(&p);
}

/* Its command runs, and ends after `lived_ns` without being ready. */
static void fail_start(struct tm_launch_plan *p, uint32_t id, int64_t lived_ns)
{
  int64_t now_ns = (int64_t)id * 100 * TM_S;
  tm_launch_plan_launch(p, tm_launch_plan_next(p, now_ns), id);
  tm_launch_plan_running(p, id, now_ns);
  tm_launch_plan_failed(p, id, now_ns + lived_ns);
}

static void five_quick_failures_in_a_row_exhaust_a_group(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 2, 0, 60 * TM_S);
  for (uint32_t id = 1; id <= 4; id++)
    fail_start(&p, id, TM_LAUNCH_QUICK_NS);
  fail_start(&p, 5, TM_LAUNCH_QUICK_NS + 1); /* not quick: the row is broken */
  for (uint32_t id = 6; id <= 9; id++)
    fail_start(&p, id, 0);
  assert_false(tm_launch_plan_is_exhausted(&p));
  fail_start(&p, 10, 0);
  assert_true(tm_launch_plan_is_exhausted(&p));
  assert_true(tm_launch_plan_is_over(&p));
  assert_int_equal(tm_launch_plan_next(&p, INT64_MAX), NONE);
  tm_launch_plan_release(&p);
}

static void each_host_is_tried_before_quick_failures_count(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 1, 8, 60 * TM_S);
  for (uint32_t id = 1; id <= 7; id++)
    fail_start(&p, id, 1);
  assert_false(tm_launch_plan_is_exhausted(&p));
  fail_start(&p, 8, 1);
  assert_true(tm_launch_plan_is_exhausted(&p));
  tm_launch_plan_release(&p);
}

static void quick_failures_beside_a_ready_node_are_no_reason_to_stop(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 2, 0, 60 * TM_S);
  tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 1);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  for (uint32_t id = 2; id <= 7; id++)
    fail_start(&p, id, 0);
  assert_false(tm_launch_plan_is_exhausted(&p));
  tm_launch_plan_failed(&p, 1, 800 * TM_S); /* it was ready: the row begins again */
  assert_false(tm_launch_plan_is_exhausted(&p));
  tm_launch_plan_release(&p);
}

static void what_still_starts_may_save_a_group(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 6, 0, 60 * TM_S);
  assert_int_equal(launch_all(&p, 0, 1), 6);
  for (uint32_t id = 1; id <= 6; id++)
    tm_launch_plan_running(&p, id, 0);
  for (uint32_t id = 1; id <= 5; id++)
    tm_launch_plan_failed(&p, id, 0);
  assert_true(tm_launch_plan_is_exhausted(&p));
  assert_false(tm_launch_plan_is_over(&p));
  assert_int_equal(tm_launch_plan_next(&p, TM_S), NONE);
  assert_int_equal(tm_launch_plan_due(&p), 60 * TM_S); /* the last one may be late */
  tm_launch_plan_ready(&p, 6);
  assert_false(tm_launch_plan_is_exhausted(&p));
  assert_int_equal(launch_all(&p, TM_S, 7), 5);
  tm_launch_plan_release(&p);
}

static void an_exhausted_group_is_not_over_while_a_node_is_ready(void **state)
{
  struct tm_launch_plan p;
  uint32_t id = 2;
  tm_launch_plan_init(&p, 2, 0, TM_S);
  tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 1);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  for (; !tm_launch_plan_is_exhausted(&p); id++)
    fail_start(&p, id, 0);
  assert_int_equal(id, 2 + 3 * 2 + 10 - 1);
  assert_false(tm_launch_plan_is_over(&p));
  tm_launch_plan_failed(&p, 1, (int64_t)id * 100 * TM_S);
  assert_true(tm_launch_plan_is_over(&p));
  tm_launch_plan_release(&p);
}

static void a_withdrawn_launch_blames_neither_command_nor_host(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 6, 6, 60 * TM_S);
  launch_all(&p, 0, 1);
  assert_true(!tm_launch_plan_has_running(&p));
  for (uint32_t id = 1; id <= 6; id++)
    tm_launch_plan_running(&p, id, 0);
  assert_true(tm_launch_plan_has_running(&p));
  for (uint32_t id = 1; id <= 6; id++)
    tm_launch_plan_withdrawn(&p, id, 1);
  assert_false(tm_launch_plan_has_running(&p));
  assert_false(tm_launch_plan_is_exhausted(&p));
  assert_int_equal(launch_all(&p, 1, 7), 6);
  tm_launch_plan_failed(&p, 7, 1); /* the first failure of its place: no wait */
  assert_int_equal(launch_all(&p, 1, 13), 1);
  tm_launch_plan_release(&p);
}

static void withdrawn_launches_come_to_an_end(void **state)
{
  struct tm_launch_plan p;
  uint32_t id = 1;
  tm_launch_plan_init(&p, 1, 0, TM_S);
  for (; tm_launch_plan_next(&p, 0) != NONE; id++) {
    tm_launch_plan_launch(&p, 0, id);
    tm_launch_plan_withdrawn(&p, id, 0);
  }
  assert_int_equal(id - 1, 3 + 10);
  assert_true(tm_launch_plan_is_over(&p));
  tm_launch_plan_release(&p);
}

/* A plan of so many places takes no memory for those that were never filled. */
static void only_some_places_start_at_a_time(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(&p, 1000000000, 0, TM_S);
  assert_int_equal(tm_launch_plan_due(&p), INT64_MIN);
  assert_int_equal(launch_all(&p, 0, 1), TM_LAUNCH_STARTS_MAX);
  assert_int_equal(tm_launch_plan_due(&p), INT64_MAX);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  assert_int_equal(launch_all(&p, 0, 1001), 1);
  tm_launch_plan_failed(&p, 2, 0);
  assert_int_equal(tm_launch_plan_next(&p, 0), 1); /* its place is filled before new ones */
  assert_int_equal(p.places.len, TM_LAUNCH_STARTS_MAX + 1);
  tm_launch_plan_release(&p);
}

static void time_in_a_queue_is_not_time_to_start(void **state)
{
  struct tm_launch_plan p;
  uint32_t id;
  tm_launch_plan_init(&p, 1, 0, TM_S);
  tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 1);
  tm_launch_plan_running(&p, 1, 0);
  assert_true(tm_launch_plan_late(&p, TM_S, &id));
  tm_launch_plan_waited(&p, 1, TM_S);
  assert_false(tm_launch_plan_late(&p, 2 * TM_S - 1, &id));
  assert_int_equal(tm_launch_plan_due(&p), 2 * TM_S);
  assert_true(tm_launch_plan_late(&p, 2 * TM_S, &id));
  tm_launch_plan_release(&p);
}

static void a_start_that_is_being_ended_is_not_late_again(void **state)
{
  struct tm_launch_plan p;
  uint32_t id;
  tm_launch_plan_init(&p, 2, 0, TM_S);
  launch_all(&p, 0, 1);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_running(&p, 2, 0);
  assert_true(tm_launch_plan_late(&p, TM_S, &id));
  tm_launch_plan_ends(&p, 1);
  assert_true(tm_launch_plan_late(&p, TM_S, &id));
  assert_int_equal(id, 2);
  tm_launch_plan_ends(&p, 2);
  assert_false(tm_launch_plan_late(&p, INT64_MAX - 1, &id));
  tm_launch_plan_failed(&p, 1, TM_S);
  assert_true(tm_launch_plan_next(&p, TM_S) != NONE);
  tm_launch_plan_release(&p);
}

UNIT_TESTS({
    cmocka_unit_test(every_place_is_filled_once),
    cmocka_unit_test(a_start_is_late_after_its_time),
    cmocka_unit_test(spare_hosts_come_first_then_the_one_that_failed),
    cmocka_unit_test(a_place_waits_longer_after_each_failure),
    cmocka_unit_test(a_group_without_a_commit_is_exhausted),
    cmocka_unit_test(five_quick_failures_in_a_row_exhaust_a_group),
    cmocka_unit_test(each_host_is_tried_before_quick_failures_count),
    cmocka_unit_test(quick_failures_beside_a_ready_node_are_no_reason_to_stop),
    cmocka_unit_test(what_still_starts_may_save_a_group),
    cmocka_unit_test(an_exhausted_group_is_not_over_while_a_node_is_ready),
    cmocka_unit_test(a_withdrawn_launch_blames_neither_command_nor_host),
    cmocka_unit_test(withdrawn_launches_come_to_an_end),
    cmocka_unit_test(only_some_places_start_at_a_time),
    cmocka_unit_test(time_in_a_queue_is_not_time_to_start),
    cmocka_unit_test(a_start_that_is_being_ended_is_not_late_again),
});
