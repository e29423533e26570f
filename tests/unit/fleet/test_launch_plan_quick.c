/* Nodes that end before they are ready, in the plan of launches. */
#include "unit.h"

#include "plan_rig.h"

/* Its command runs, and ends after `lived_ns` without being ready. */
static void fail_start(struct tm_launch_plan *p, uint32_t id, int64_t lived_ns)
{
  int64_t now_ns = (int64_t)id * 100 * TM_S;
  tm_launch_plan_launch(p, tm_launch_plan_next(p, now_ns), id, now_ns);
  tm_launch_plan_running(p, id, now_ns);
  lose(p, id, now_ns + lived_ns);
}

static void five_quick_failures_in_a_row_exhaust_a_group(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 2, 0, 60 * TM_S);
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

/* The command is right: the network may be away for a while. */
static void quick_failures_after_a_commit_are_no_reason_to_stop(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 1, 0, 60 * TM_S);
  for (uint32_t id = 1; id <= 4; id++)
    fail_start(&p, id, 0);
  launch_all(&p, 500 * TM_S, 5);
  tm_launch_plan_running(&p, 5, 500 * TM_S);
  tm_launch_plan_ready(&p, 5);
  tm_launch_plan_committed(&p, 5);
  lose(&p, 5, 500 * TM_S);
  for (uint32_t id = 6; id <= 5 + 3 + 10; id++) {
    assert_false(tm_launch_plan_is_exhausted(&p));
    fail_start(&p, id, 0);
  }
  assert_true(tm_launch_plan_is_over(&p)); /* but it does not try for ever */
  tm_launch_plan_release(&p);
}

/* A node that was ready and has committed nothing: the command may still be wrong. */
static void a_node_that_was_ready_does_not_show_that_the_command_is_right(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 1, 0, 60 * TM_S);
  launch_all(&p, 0, 1);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  lose(&p, 1, 0);
  for (uint32_t id = 2; id <= 6; id++)
    fail_start(&p, id, 0);
  assert_true(tm_launch_plan_is_over(&p));
  assert_int_equal(p.launches, 6); /* (3) allows more */
  tm_launch_plan_release(&p);
}

/* 13 starts: after the first ones, they are up to 60 s apart. */
static void a_group_that_has_worked_outlasts_some_minutes(void **state)
{
  struct tm_launch_plan p;
  int64_t now_ns = 0;
  uint32_t id = 2;
  plan_init(&p, 1, 0, 60 * TM_S);
  launch_all(&p, 0, 1);
  tm_launch_plan_committed(&p, 1);
  for (lose(&p, 1, 0); !tm_launch_plan_is_over(&p); now_ns += 100 * TM_MS)
    if (launch_all(&p, now_ns, id) == 1) {
      tm_launch_plan_running(&p, id, now_ns);
      lose(&p, id++, now_ns);
    }
  assert_in_range(now_ns, 5 * 60 * TM_S, 8 * 60 * TM_S);
  tm_launch_plan_release(&p);
}

static void each_host_is_tried_before_quick_failures_count(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 1, 8, 60 * TM_S);
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
  plan_init(&p, 2, 0, 60 * TM_S);
  tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 1, 0);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  for (uint32_t id = 2; id <= 7; id++)
    fail_start(&p, id, 0);
  assert_false(tm_launch_plan_is_exhausted(&p));
  lose(&p, 1, 800 * TM_S); /* it was ready: the row begins again */
  assert_false(tm_launch_plan_is_exhausted(&p));
  tm_launch_plan_release(&p);
}

static void what_still_starts_may_save_a_group(void **state)
{
  struct tm_launch_plan p;
  plan_init(&p, 6, 0, 60 * TM_S);
  assert_int_equal(launch_all(&p, 0, 1), 6);
  for (uint32_t id = 1; id <= 6; id++)
    tm_launch_plan_running(&p, id, 0);
  for (uint32_t id = 1; id <= 5; id++)
    lose(&p, id, 0);
  assert_true(tm_launch_plan_is_exhausted(&p));
  assert_false(tm_launch_plan_is_over(&p));
  assert_int_equal(tm_launch_plan_next(&p, TM_S), NONE);
  tm_launch_plan_ready(&p, 6);
  assert_false(tm_launch_plan_is_exhausted(&p));
  assert_int_equal(launch_all(&p, TM_S, 7), 5);
  tm_launch_plan_release(&p);
}

static void an_exhausted_group_is_not_over_while_a_node_is_ready(void **state)
{
  struct tm_launch_plan p;
  uint32_t id = 2;
  plan_init(&p, 2, 0, TM_S);
  tm_launch_plan_launch(&p, tm_launch_plan_next(&p, 0), 1, 0);
  tm_launch_plan_running(&p, 1, 0);
  tm_launch_plan_ready(&p, 1);
  for (; !tm_launch_plan_is_exhausted(&p); id++)
    fail_start(&p, id, 0);
  assert_int_equal(id, 2 + 3 * 2 + 10 - 1);
  assert_false(tm_launch_plan_is_over(&p));
  lose(&p, 1, (int64_t)id * 100 * TM_S);
  assert_true(tm_launch_plan_is_over(&p));
  tm_launch_plan_release(&p);
}

UNIT_TESTS({
    cmocka_unit_test(five_quick_failures_in_a_row_exhaust_a_group),
    cmocka_unit_test(quick_failures_after_a_commit_are_no_reason_to_stop),
    cmocka_unit_test(a_node_that_was_ready_does_not_show_that_the_command_is_right),
    cmocka_unit_test(a_group_that_has_worked_outlasts_some_minutes),
    cmocka_unit_test(each_host_is_tried_before_quick_failures_count),
    cmocka_unit_test(quick_failures_beside_a_ready_node_are_no_reason_to_stop),
    cmocka_unit_test(what_still_starts_may_save_a_group),
    cmocka_unit_test(an_exhausted_group_is_not_over_while_a_node_is_ready),
});
