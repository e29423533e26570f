/* Which nodes are launched, when, and on which host. */
#include "unit.h"

#include <string.h>

#include "plan_rig.h"

static void every_place_is_filled_once(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 3, 0, 60 * TM_S);
  assert_int_equal(launch_all(&p, 0, 1), 3);
  assert_int_equal(tm_launch_plan_next(&p, INT64_MAX), NONE);
  for (uint32_t id = 1; id <= 3; id++) {
    tm_launch_plan_running(&p, id, 5);
    assert_true(tm_launch_plan_find(&p, id)->host == NONE);
    tm_launch_plan_ready(&p, id);
  }
  assert_null(tm_launch_plan_find(&p, 4));
  assert_null(tm_launch_plan_find(&p, UINT32_MAX));
  assert_int_equal(tm_launch_plan_next(&p, INT64_MAX), NONE);
  tm_launch_plan_release(&p);
}

static void a_start_is_late_after_its_time(void **state)
{
  struct tm_launch_plan p;
  uint32_t id = 0;
  plan_init(&p, 1, 0, 2 * TM_S);
  launch_all(&p, 0, 7);
  assert_false(tm_launch_plan_late(&p, INT64_MAX - 1, &id)); /* its command does not run yet */
  tm_launch_plan_running(&p, 7, 10);
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
  plan_init(&p, 2, 3, TM_S);
  launch_all(&p, 0, 1);
  assert_int_equal(tm_launch_plan_find(&p, 1)->host, 0);
  assert_int_equal(tm_launch_plan_find(&p, 2)->host, 1);
  lose(&p, 1, 0);
  assert_int_equal(tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 3, 0), 2);
  lose(&p, 2, 0);
  assert_int_equal(tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 4, 0), 0);
  assert_int_equal(tm_launch_plan_find(&p, 3)->host, 2);
  lose(&p, 4, 0);
  assert_int_equal(tm_launch_plan_launch(&p, tm_launch_plan_next(&p, TM_S), 5, TM_S), 1);
  tm_launch_plan_release(&p);
}

/* When a place is filled again whose node has failed at `now_ns`, to the ms; by `limit_ns`. */
static int64_t filled_at(const struct tm_launch_plan *p, int64_t now_ns, int64_t limit_ns)
{
  int64_t at_ns = now_ns;
  while (at_ns <= limit_ns && tm_launch_plan_next(p, at_ns) == NONE)
    at_ns += TM_MS;
  return at_ns;
}

/* Jitter takes a quarter at most. */
static void a_place_waits_longer_after_each_failure(void **state)
{
  static const int64_t waits[] = { 0, 1, 2, 4, 8, 16, 32, 60, 60 }; /* s */
  struct tm_launch_plan p;
  int64_t now_ns = 0, most_ns, at_ns;
  uint32_t id = 1;
  plan_init(&p, 1, 1, TM_S);
  for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
    assert_int_equal(launch_all(&p, now_ns, id), 1);
    lose(&p, id++, now_ns);
    most_ns = waits[i] * TM_S;
    at_ns = filled_at(&p, now_ns, now_ns + most_ns) - now_ns;
    assert_in_range(at_ns, most_ns / 4 * 3, most_ns);
    now_ns += at_ns;
  }
  assert_int_equal(launch_all(&p, now_ns, id), 1);
  tm_launch_plan_committed(&p, id); /* a node that has done something is not a failed start */
  lose(&p, id, now_ns);
  assert_int_equal(filled_at(&p, now_ns, now_ns + TM_S), now_ns);
  tm_launch_plan_release(&p);
}

static void places_that_failed_together_do_not_wait_equally_long(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 8, 0, TM_S);
  for (uint32_t round = 0; round < 4; round++) {
    launch_all(&p, round * 60 * TM_S, round * 8 + 1);
    for (uint32_t i = 1; i <= 8; i++)
      lose(&p, round * 8 + i, round * 60 * TM_S);
  }
  for (size_t i = 1; i < 8; i++)
    assert_int_not_equal(p.places.at[i].due_ns, p.places.at[0].due_ns);
  tm_launch_plan_release(&p);
}

static void a_group_without_a_commit_is_exhausted(void **state)
{
  struct tm_launch_plan p;
  uint32_t launches = 0;
  plan_init(&p, 2, 0, TM_S);
  for (int64_t s = 0; s < 1000; s++) {
    uint32_t n = launch_all(&p, s * TM_S, launches + 1);
    for (uint32_t i = 1; i <= n; i++)
      lose(&p, launches + i, s * TM_S);
    launches += n;
  }
  assert_int_equal(launches, 3 * 2 + 10);
  assert_true(tm_launch_plan_is_exhausted(&p));
  assert_int_equal(tm_launch_plan_next(&p, INT64_MAX), NONE);
  tm_launch_plan_committed(&p, launches); /* its result was copied late */
  assert_false(tm_launch_plan_is_exhausted(&p));
  assert_int_equal(launch_all(&p, 1000 * TM_S, launches + 1), 2);
  tm_launch_plan_release(&p);
}

static void a_withdrawn_launch_blames_neither_command_nor_host(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 6, 6, 60 * TM_S);
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
  lose(&p, 7, 1); /* the first failure of its place: no wait */
  assert_int_equal(launch_all(&p, 1, 13), 1);
  tm_launch_plan_release(&p);
}

static void withdrawn_launches_come_to_an_end(void **state)
{
  struct tm_launch_plan p;
  uint32_t id = 1;
  plan_init(&p, 1, 0, TM_S);
  for (; tm_launch_plan_next(&p, 0) != NONE; id++) {
    tm_launch_plan_launch(&p, 0, id, 0);
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
  plan_init(&p, 1000000000, 0, TM_S);
  assert_int_equal(launch_all(&p, 0, 1), 64);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  assert_int_equal(launch_all(&p, 0, 1001), 1);
  lose(&p, 2, 0);
  assert_int_equal(tm_launch_plan_next(&p, 0), 1); /* its place is filled before new ones */
  assert_int_equal(p.places.len, 64 + 1);
  tm_launch_plan_release(&p);
}

static void time_in_a_queue_is_not_time_to_start(void **state)
{
  struct tm_launch_plan p;
  uint32_t id;
  plan_init(&p, 1, 0, TM_S);
  tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 1, 0);
  tm_launch_plan_running(&p, 1, 0);
  assert_true(tm_launch_plan_late(&p, TM_S, &id));
  tm_launch_plan_waited(&p, 1, TM_S);
  assert_false(tm_launch_plan_late(&p, 2 * TM_S - 1, &id));
  assert_true(tm_launch_plan_late(&p, 2 * TM_S, &id));
  tm_launch_plan_release(&p);
}

static void a_start_that_is_being_ended_is_not_late_again(void **state)
{
  struct tm_launch_plan p;
  uint32_t id;
  plan_init(&p, 2, 0, TM_S);
  launch_all(&p, 0, 1);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_running(&p, 2, 0);
  assert_true(tm_launch_plan_late(&p, TM_S, &id));
  tm_launch_plan_ends(&p, 1);
  assert_true(tm_launch_plan_late(&p, TM_S, &id));
  assert_int_equal(id, 2);
  tm_launch_plan_ends(&p, 2);
  assert_false(tm_launch_plan_late(&p, INT64_MAX - 1, &id));
  lose(&p, 1, TM_S);
  assert_true(tm_launch_plan_next(&p, TM_S) != NONE);
  tm_launch_plan_release(&p);
}

static void at_most_some_are_launched_within_a_second(void **state)
{
  struct tm_launch_plan p;
  tm_launch_plan_init(
      &p, &(struct tm_launch_options) {
              .nodes_max = 20, .start_timeout_ns = TM_S, .starts_max = 8, .rate_max = 4 });
  tm_launch_plan_want(&p, 20);
  assert_int_equal(launch_all(&p, 0, 1), 4);
  assert_int_equal(tm_launch_plan_next(&p, TM_S - 1), NONE);
  assert_int_equal(launch_all(&p, TM_S, 5), 4);
  assert_int_equal(launch_all(&p, 2 * TM_S, 9), 0); /* eight start */
  for (uint32_t id = 1; id <= 3; id++) {
    tm_launch_plan_running(&p, id, 2 * TM_S);
    tm_launch_plan_ready(&p, id);
  }
  assert_int_equal(launch_all(&p, 2 * TM_S, 9), 3);
  tm_launch_plan_running(&p, 4, 2 * TM_S);
  tm_launch_plan_ready(&p, 4);
  assert_int_equal(launch_all(&p, 3 * TM_S - 1, 12), 1);
  tm_launch_plan_running(&p, 5, 3 * TM_S - 1);
  tm_launch_plan_ready(&p, 5);
  assert_int_equal(tm_launch_plan_next(&p, 3 * TM_S - 1), NONE);
  assert_int_equal(launch_all(&p, 3 * TM_S, 13), 1); /* three of the four are a second ago */
  tm_launch_plan_release(&p);
}

static void no_more_are_launched_than_are_wanted(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 8, 0, TM_S);
  tm_launch_plan_want(&p, 0);
  assert_int_equal(launch_all(&p, 0, 1), 0);
  tm_launch_plan_want(&p, 1);
  assert_int_equal(launch_all(&p, 0, 1), 1);
  tm_launch_plan_want(&p, 3);
  assert_int_equal(launch_all(&p, 0, 2), 2);
  tm_launch_plan_want(&p, 100);
  assert_int_equal(launch_all(&p, 0, 4), 8 - 3);
  tm_launch_plan_release(&p);
}

/* A place that waits is one of those that are wanted: no other is launched instead. */
static void a_place_that_waits_goes_when_it_is_not_wanted(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 4, 0, TM_S);
  tm_launch_plan_want(&p, 2);
  launch_all(&p, 0, 1);
  lose(&p, 1, 0);
  assert_int_equal(launch_all(&p, 0, 3), 1);
  lose(&p, 3, 0);
  assert_int_equal(tm_launch_plan_next(&p, TM_MS), NONE);
  tm_launch_plan_want(&p, 1);
  assert_int_equal(tm_launch_plan_next(&p, 100 * TM_S), NONE);
  assert_int_equal(tm_launch_plan_surplus(&p), 0);
  assert_non_null(tm_launch_plan_find(&p, 2));
  tm_launch_plan_release(&p);
}

static void a_node_that_leaves_does_not_count_but_has_its_host(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 2, 2, TM_S);
  launch_all(&p, 0, 1);
  for (uint32_t id = 1; id <= 2; id++) {
    tm_launch_plan_running(&p, id, 0);
    tm_launch_plan_ready(&p, id);
  }
  tm_launch_plan_want(&p, 1);
  assert_int_equal(tm_launch_plan_surplus(&p), 1);
  tm_launch_plan_leaves(&p, 1);
  assert_int_equal(tm_launch_plan_surplus(&p), 0);
  assert_int_equal(tm_launch_plan_find(&p, 1)->host, 0);
  tm_launch_plan_left(&p, 1);
  assert_null(tm_launch_plan_find(&p, 1));
  assert_int_equal(tm_launch_plan_find(&p, 2)->host, 1);
  tm_launch_plan_want(&p, 2);
  assert_int_equal(launch_all(&p, 0, 3), 1);
  assert_int_equal(tm_launch_plan_find(&p, 3)->host, 0);
  tm_launch_plan_release(&p);
}

static void no_node_is_launched_while_all_hosts_have_one(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 1, 1, TM_S);
  launch_all(&p, 0, 1);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  tm_launch_plan_leaves(&p, 1);
  assert_int_equal(tm_launch_plan_next(&p, 0), NONE);
  tm_launch_plan_left(&p, 1);
  assert_int_equal(launch_all(&p, 0, 2), 1);
  tm_launch_plan_release(&p);
}

static void nodes_that_were_given_back_are_no_failed_starts(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 1, 0, TM_S);
  for (uint32_t id = 1; id <= 100; id++) {
    assert_int_equal(launch_all(&p, 0, id), 1);
    tm_launch_plan_leaves(&p, id);
    tm_launch_plan_left(&p, id);
  }
  assert_false(tm_launch_plan_is_exhausted(&p));
  tm_launch_plan_release(&p);
}

static void a_host_is_excluded_for_ten_minutes(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 2, 4, TM_S);
  launch_all(&p, 0, 1); /* hosts 0 and 1 */
  lose(&p, 1, 0);
  lose(&p, 2, TM_S);
  assert_int_equal(launch_all(&p, TM_S, 3), 2); /* hosts 2 and 3 */
  tm_launch_plan_leaves(&p, 3);
  tm_launch_plan_left(&p, 3);
  launch_all(&p, 2 * TM_S, 5);
  assert_int_equal(tm_launch_plan_find(&p, 5)->host, 2); /* although 0 has waited for longer */
  lose(&p, 5, 2 * TM_S);
  launch_all(&p, 3 * TM_S, 6); /* all are excluded: 0 first */
  assert_int_equal(tm_launch_plan_find(&p, 6)->host, 0);
  lose(&p, 6, 3 * TM_S);
  launch_all(&p, TM_S + TM_LAUNCH_EXCLUDE_NS, 7); /* the exclusion of 1 is over, that of 2 is not */
  assert_int_equal(tm_launch_plan_find(&p, 7)->host, 1);
  tm_launch_plan_release(&p);
}

static void a_host_is_not_to_blame_for_what_the_scheduler_decides(void **state)
{
  static const enum tm_slurm_end ends[] = { TM_SLURM_END_PREEMPTED, TM_SLURM_END_TIMEOUT,
                                            TM_SLURM_END_OUT_OF_MEMORY };
  struct tm_launch_plan p;
  for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
    plan_init(&p, 1, 1, TM_S);
    launch_all(&p, 0, 1);
    tm_launch_plan_running(&p, 1, 0);
    tm_launch_plan_failed(&p, 1, ends[i], 0);
    assert_int_equal(p.spares.at[0].excluded_ns, 0);
    assert_int_equal(p.quick, 0);
    assert_int_equal(launch_all(&p, 0, 2), 1); /* it is replaced */
    tm_launch_plan_failed(&p, 2, TM_SLURM_END_NODE_FAIL, 0);
    assert_int_equal(p.spares.at[0].excluded_ns, TM_LAUNCH_EXCLUDE_NS);
    tm_launch_plan_release(&p);
  }
}

static void a_canceled_node_is_not_replaced(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 3, 0, TM_S);
  launch_all(&p, 0, 1);
  tm_launch_plan_failed(&p, 1, TM_SLURM_END_CANCELED, 0);
  assert_int_equal(tm_launch_plan_next(&p, INT64_MAX), NONE);
  tm_launch_plan_want(&p, 3);
  assert_int_equal(tm_launch_plan_next(&p, INT64_MAX), NONE);
  lose(&p, 2, 0); /* that one is */
  assert_int_equal(launch_all(&p, 0, 4), 1);
  tm_launch_plan_failed(&p, 3, TM_SLURM_END_CANCELED, 0);
  assert_false(tm_launch_plan_are_all_canceled(&p));
  assert_false(tm_launch_plan_is_over(&p));
  tm_launch_plan_failed(&p, 4, TM_SLURM_END_CANCELED, 0);
  assert_true(tm_launch_plan_are_all_canceled(&p));
  assert_true(tm_launch_plan_is_over(&p));
  assert_false(tm_launch_plan_is_exhausted(&p));
  tm_launch_plan_release(&p);
}

/* The last place of the list moves into the gap: it must still be found. */
static void nodes_are_found_after_others_have_left(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 5, 0, TM_S);
  launch_all(&p, 0, 1);
  tm_launch_plan_want(&p, 3);
  for (uint32_t id = 1; id <= 2; id++) {
    tm_launch_plan_leaves(&p, id);
    tm_launch_plan_left(&p, id);
    assert_null(tm_launch_plan_find(&p, id));
  }
  for (uint32_t id = 3; id <= 5; id++)
    assert_int_equal(tm_launch_plan_find(&p, id)->id, id);
  tm_launch_plan_want(&p, 4);
  assert_int_equal(launch_all(&p, 0, 6), 1);
  assert_int_equal(tm_launch_plan_find(&p, 6)->id, 6);
  tm_launch_plan_release(&p);
}

/* However long the scheduler is away. */
static void a_request_without_an_answer_is_not_a_failed_start(void **state)
{
  struct tm_launch_plan p;
  int64_t now_ns = 0;
  plan_init(&p, 2, 3, 60 * TM_S);
  for (uint32_t id = 1; id < 200; id += 2) {
    now_ns += TM_LAUNCH_WAIT_MAX_NS;
    assert_int_equal(launch_all(&p, now_ns, id), 2);
    for (uint32_t i = id; i < id + 2; i++) {
      assert_true(tm_launch_plan_find(&p, i)->host < 3);
      tm_launch_plan_running(&p, i, now_ns);
      tm_launch_plan_unanswered(&p, i, now_ns);
    }
    assert_false(tm_launch_plan_is_over(&p));
    if (id > 1) /* the first one does not wait */
      assert_int_equal(tm_launch_plan_next(&p, now_ns + TM_LAUNCH_WAIT_MIN_NS / 2), NONE);
  }
  tm_launch_plan_release(&p);
}

static void a_host_is_not_used_while_its_command_still_runs(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 2, 3, 60 * TM_S);
  launch_all(&p, 0, 1); /* hosts 0 and 1 */
  for (uint32_t id = 1; id <= 2; id++) {
    tm_launch_plan_running(&p, id, 0);
    tm_launch_plan_ready(&p, id);
    tm_launch_plan_hold_host(&p, id);
    lose(&p, id, TM_S);
  }
  assert_int_equal(launch_all(&p, TM_S, 3), 1);
  assert_int_equal(tm_launch_plan_find(&p, 3)->host, 2);
  assert_int_equal(tm_launch_plan_next(&p, TM_S + 2 * TM_LAUNCH_EXCLUDE_NS), NONE);
  tm_launch_plan_free_host(&p, 2); /* which is in use */
  assert_int_equal(tm_launch_plan_next(&p, TM_S), NONE);
  tm_launch_plan_free_host(&p, 1);
  assert_int_equal(launch_all(&p, TM_S, 4), 1);
  assert_int_equal(tm_launch_plan_find(&p, 4)->host, 1);
  tm_launch_plan_release(&p);
}

UNIT_TESTS({
    cmocka_unit_test(every_place_is_filled_once),
    cmocka_unit_test(a_start_is_late_after_its_time),
    cmocka_unit_test(spare_hosts_come_first_then_the_one_that_failed),
    cmocka_unit_test(a_place_waits_longer_after_each_failure),
    cmocka_unit_test(places_that_failed_together_do_not_wait_equally_long),
    cmocka_unit_test(a_group_without_a_commit_is_exhausted),
    cmocka_unit_test(a_withdrawn_launch_blames_neither_command_nor_host),
    cmocka_unit_test(withdrawn_launches_come_to_an_end),
    cmocka_unit_test(only_some_places_start_at_a_time),
    cmocka_unit_test(time_in_a_queue_is_not_time_to_start),
    cmocka_unit_test(a_start_that_is_being_ended_is_not_late_again),
    cmocka_unit_test(at_most_some_are_launched_within_a_second),
    cmocka_unit_test(no_more_are_launched_than_are_wanted),
    cmocka_unit_test(a_place_that_waits_goes_when_it_is_not_wanted),
    cmocka_unit_test(a_node_that_leaves_does_not_count_but_has_its_host),
    cmocka_unit_test(no_node_is_launched_while_all_hosts_have_one),
    cmocka_unit_test(nodes_that_were_given_back_are_no_failed_starts),
    cmocka_unit_test(a_host_is_excluded_for_ten_minutes),
    cmocka_unit_test(a_host_is_not_to_blame_for_what_the_scheduler_decides),
    cmocka_unit_test(a_canceled_node_is_not_replaced),
    cmocka_unit_test(nodes_are_found_after_others_have_left),
    cmocka_unit_test(a_request_without_an_answer_is_not_a_failed_start),
    cmocka_unit_test(a_host_is_not_used_while_its_command_still_runs),
});
