/* test_sched.c - the scheduler, by tables: events, and the actions that must follow from each. How
 * they are written: sched_fixture.h.
 */
#include "unit.h"

#include "sched_fixture.h"

/* ---- workers ---- */

static void test_a_second_worker_waits_until_the_first_has_loaded(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "turn", "" }, { "node 0 2", "" }, { "turn", "" }, { "created 3", "" },
      { "turn", "start 0 on 0" }, { "turn", "" }, { "started 0", "setup 0" }, { "turn", "" },
      { "ready 0", "refused" }, { "loaded 0", "" }, { "turn", "start 1 on 0" }, { "ready 0", "" },
      { "turn", "hand 0/1 m0" }, { "loaded 7", "refused" }, { "turn", "" });
  tm_sched_release(&f.s);
}

static void test_no_more_workers_than_work(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 4", "" }, { "created 2", "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" }, { "turn", "start 1 on 0" }, { "turn", "" },
      { "created 3", "" }, { "turn", "start 2 on 0" });
  tm_sched_release(&f.s);
}

static void test_workers_that_die_at_once_are_replaced_more_and_more_slowly(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 2", "" }, { "created 9", "" }, { "turn", "start 0 on 0" }, { "ended 0", "" },
      { "turn", "start 1 on 0" }, { "ended 1", "" }, { "turn", "start 2 on 0" }, { "ended 2", "" },
      { "turn", "start 3 on 0" }, { "ended 3", "" }, { "turn", "" });
  assert_in_range(tm_sched_due(&f.s), TM_SLOT_FIRST_NS * 3 / 4, TM_SLOT_FIRST_NS);
  RUN(&f, { "at 10 turn", "start 4 on 0" }, { "ended 4", "" }, { "at 20 turn", "start 5 on 0" });
  assert_null(tm_sched_given_up(&f.s));
  RUN(&f, { "ended 5", "" }, { "at 900 turn", "" }); /* 3 * 2 failures of init() */
  assert_int_equal(tm_sched_given_up(&f.s)->pool.init_failures, 6);
  assert_true(tm_sched_due(&f.s) == INT64_MAX);
  tm_sched_release(&f.s);
}

static void test_a_worker_that_retires_comes_back_as_another_one(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 3", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "retired 0", "kill 0" }, { "retired 0", "refused" }, { "ended 0 1=begun", "" },
      { "turn", "start 2 on 0" }, { "result 1 1 50", "" }, { "turn", "hand 1/2 m0" });
  tm_sched_release(&f.s);
}

static void test_another_step_gets_a_worker_that_holds_the_least(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 4", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1", "" }, { "give_back", "stop 0" }, { "turn", "" }, { "give_back", "" },
      { "give_back", "refused" }, { "result 1 1", "stop 1" }, { "turn", "" });
  assert_int_equal(f.s.roster.leaves, 2);
  RUN(&f, { "ended 0", "" }, { "ended 1", "" }, { "turn", "start 2 on 0, start 3 on 0" });
  tm_sched_release(&f.s);
}

/* ---- handing out and recalling ---- */

static void test_the_window_opens_with_what_is_measured(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 9", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 1", "" }, { "turn", "hand 0/2 m2, hand 0/3 m3, hand 0/4 m4" },
      { "result 1 1 50", "" }, { "turn", "hand 1/2 m5" }, { "result 0 9", "refused" },
      { "result 0 3 1", "" }, { "turn", "hand 0/5 m6" });
  tm_sched_release(&f.s);
}

static void test_what_waits_behind_a_long_one_is_recalled_for_an_idle_worker(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 5", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 1", "" }, { "turn", "hand 0/2 m2, hand 0/3 m3, hand 0/4 m4" },
      { "at 5 result 1 1 1", "" }, { "turn", "" });
  assert_int_equal(tm_sched_due(&f.s), 15 * TM_MS);
  RUN(&f, { "at 14 turn", "" }, { "at 15 turn", "recall 0: 3 4" }, { "at 30 turn", "" },
      { "taken 0 4", "" }, { "turn", "hand 1/2 m4" }, { "result 0 2 20", "" },
      { "result 0 3 1", "" }, { "result 1 2 1", "" }, { "turn", "" });
  assert_int_equal(tm_sched_open(&f.s), 0);
  tm_sched_release(&f.s);
}

static void test_a_worker_whose_first_is_late_gets_nothing_more(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 3", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 1", "" }, { "result 1 1 1", "" }, { "turn", "hand 0/2 m2" },
      { "created 4", "" }, { "at 1 turn", "hand 1/2 m3" }, { "created 6", "" },
      { "at 10 turn", "hand 1/3 m4, hand 1/4 m5" }, { "created 7", "" }, { "turn", "" },
      { "result 0 2 1", "" }, { "turn", "hand 0/3 m6" });
  tm_sched_release(&f.s);
}

/* Two more, however long mini-batches take; the idle worker comes first, and what is late goes back
 * to one. */
static void test_a_worker_whose_script_has_prefetch_gets_the_next_ones(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 2", "" }, { "created 9", "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" }, { "turn", "start 1 on 0" },
      { "ready 0 prefetch", "" }, { "turn", "hand 0/1 m0, hand 0/2 m1, hand 0/3 m2" },
      { "started 1", "setup 1" }, { "loaded 1", "" }, { "at 5 ready 1 prefetch", "" },
      { "turn", "hand 1/1 m3, hand 1/2 m4, hand 1/3 m5" }, { "at 50 result 0 1 50", "" },
      { "turn", "hand 0/4 m6" }, { "at 90 result 0 2 40", "" }, { "turn", "hand 0/5 m7" });
  tm_sched_release(&f.s);
}

static void test_what_waits_for_prefetch_goes_to_a_worker_that_has_nothing(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 2", "" }, { "created 3", "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" }, { "turn", "start 1 on 0" },
      { "ready 0 prefetch", "" }, { "turn", "hand 0/1 m0, hand 0/2 m1, hand 0/3 m2" },
      { "started 1", "setup 1" }, { "loaded 1", "" }, { "at 20 ready 1 prefetch", "" },
      { "turn", "" }, { "at 30 turn", "recall 0: 2 3" }, { "taken 0 2 3", "" },
      { "turn", "hand 1/1 m1, hand 0/4 m2" }, { "at 90 turn", "" });
  tm_sched_release(&f.s);
}

static void test_a_deaf_worker_gets_nothing(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 4", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "deaf 0", "" }, { "result 0 1 1", "" }, { "turn", "" }, { "ended 0 begun", "" },
      { "turn", "start 2 on 0" }, { "result 0 1", "refused" });
  tm_sched_release(&f.s);
}

static void test_finished_ones_of_earlier_sessions_are_skipped(void **state)
{
  struct fixture f = { .now_ns = 0 };
  uint64_t over = 1;
  struct tm_sched_options o = usual;

  o.data = &over;
  tm_sched_init(&f.s, &o, 1);
  RUN(&f, { "node 0 2", "" }, { "created 2", "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" }, { "ready 0", "" }, { "turn", "hand 0/1 m0" },
      { "result 0 1 1", "" }, { "turn", "" });
  assert_int_equal(tm_sched_open(&f.s), 0);
  assert_false(tm_sched_has_waiting(&f.s));
  tm_sched_release(&f.s);
}

/* ---- tries ---- */

static void test_a_failed_one_goes_to_the_other_worker_until_its_last_try(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "failed 0 1", "retry 0/1 m0" }, { "turn", "" }, { "failed 0 1", "refused" },
      { "result 1 1 50", "" }, { "turn", "hand 1/2 m0" }, { "failed 1 2", "fail 1/2 m0" },
      { "turn", "" });
  assert_int_equal(tm_sched_open(&f.s), 0);
  tm_sched_release(&f.s);
}

static void test_a_lost_try_waits_and_what_had_not_begun_does_not_count(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.retry_delay_ns = -1;
  begin_two(&f, &o, "created 4", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 1", "" }, { "turn", "hand 0/2 m2, hand 0/3 m3" },
      { "ended 0 2=begun 3=queued", "retry 0/2 m2" }, { "result 1 1 50", "" },
      { "turn", "hand 1/2 m3, start 2 on 0" });
  assert_in_range(tm_sched_due(&f.s), 375 * TM_MS, 500 * TM_MS);
  RUN(&f, { "result 1 2 50", "" }, { "at 100 turn", "" }, { "at 500 turn", "hand 1/3 m2" },
      { "ended 1 3=begun timeout", "fail 1/3 m2" });
  tm_sched_release(&f.s);
}

static void test_a_lost_answer_does_not_count_and_the_next_try_is_alone(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 5", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "ended 1 1=done", "" }, { "result 0 1 1", "" }, { "turn", "hand 0/2 m1, start 2 on 0" },
      { "result 0 2 1", "" }, { "turn", "hand 0/3 m2, hand 0/4 m3, hand 0/5 m4" });
  tm_sched_release(&f.s);
}

static void test_what_we_killed_comes_back_uncounted(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.run_max_try = 1;
  begin_two(&f, &o, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "retired 0", "kill 0" }, { "ended 0 1=begun", "" }, { "result 1 1 50", "" },
      { "turn", "hand 1/2 m0" }, { "retired 1", "kill 1" },
      { "ended 1 2=begun timeout", "fail 1/2 m0" });
  tm_sched_release(&f.s);
}

static void test_bad_items_are_searched_in_parts(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.run_max_try = 1;
  o.isolates = true;
  o.isolation_max_try = 100;
  begin_two(&f, &o, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 50", "" }, { "turn", "" }, { "failed 1 1 3", "search 1/1 m1 s0 new" });
  assert_int_equal(tm_sched_open(&f.s), 2);
  RUN(&f, { "turn", "hand 0/2 m1:0+2, hand 1/2 m1:2+1" }, { "result 1 2 50", "" },
      { "failed 0 2", "search 0/2 m1:0+2 s0" }, { "turn", "hand 1/3 m1:0+1, hand 0/3 m1:1+1" },
      { "result 1 3", "" }, { "failed 0 3", "search 0/3 m1:1+1 s0 bad 1+1 over" },
      { "spoiled 0 2 1", "" }, { "turn", "hand 1/4 m1:2+1" }, { "result 1 4", "over s0" },
      { "settled 0", "" }, { "settled 0", "refused" }, { "turn", "" });
  assert_int_equal(tm_sched_open(&f.s), 0);
  tm_sched_release(&f.s);
}

static void test_a_part_whose_result_cannot_be_read_runs_again_a_few_times(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.run_max_try = 1;
  o.isolates = true;
  o.isolation_max_try = 100;
  begin_two(&f, &o, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 1 1 50", "" }, { "unusable 0 1", "refused" },
      { "failed 0 1 2", "search 0/1 m0 s0 new" }, { "turn", "hand 1/2 m0:0+1, hand 0/2 m0:1+1" },
      { "result 0 2 50", "" }, { "unusable 1 2", "" }, { "turn", "hand 0/3 m0:0+1" },
      { "unusable 0 3", "" }, { "turn", "hand 1/3 m0:0+1" }, { "unusable 1 3", "" },
      { "turn", "hand 0/4 m0:0+1" }, { "unusable 0 4", "refused" },
      { "failed 0 4 0 no_halves", "search 0/4 m0:0+1 s0 bad 0+1 over" });
  tm_sched_release(&f.s);
}

/* ---- ends ---- */

static void test_at_the_end_what_runs_may_end_and_the_rest_is_recalled(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 5", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 1", "" }, { "turn", "hand 0/2 m2, hand 0/3 m3, hand 0/4 m4" },
      { "result 1 1 1", "" }, { "end 0", "recall 0: 3 4, stop 1" }, { "turn", "" },
      { "taken 0 3 4", "" }, { "result 0 2 1", "stop 0" }, { "ended 0", "" }, { "ended 1", "" },
      { "turn", "" });
  tm_sched_release(&f.s);
}

static void test_what_was_not_recalled_at_first_is_recalled_then(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 5", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 1", "" }, { "result 1 1 1", "" },
      { "turn", "hand 0/2 m2, hand 1/2 m3, hand 0/3 m4" }, { "result 1 2 1", "" },
      { "at 1 turn", "" }, { "at 12 turn", "recall 0: 3" }, { "result 0 2 1", "" },
      { "created 8", "" }, { "turn", "hand 1/3 m5, hand 0/4 m6, hand 1/4 m7" },
      { "end 0", "recall 1: 4" }, { "taken 0", "recall 0: 4" }, { "taken 1", "recall 1: 4" },
      { "taken 1 4", "" }, { "taken 0 4", "" }, { "result 1 3", "stop 1" },
      { "result 0 3", "stop 0" });
  tm_sched_release(&f.s);
}

static void test_a_kill_ends_all_of_them(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 5", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "end 0", "" }, { "end 1", "kill 0, kill 1" }, { "ended 0 1=begun", "" },
      { "ended 1 1=done", "" }, { "node 0 2", "" }, { "turn", "" });
  assert_int_equal(f.s.running, 0);
  tm_sched_release(&f.s);
}

static void test_a_worker_that_starts_after_the_end_is_killed(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 2", "" }, { "created 3", "" }, { "turn", "start 0 on 0" },
      { "end 0", "kill 0" }, { "started 0", "kill 0" }, { "ended 0", "" });
  tm_sched_release(&f.s);
}

/* ---- time, nodes ---- */

static void test_time_that_passes_without_progress_is_an_event(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.time.first_ns = 500 * TM_MS;
  tm_sched_init(&f.s, &o, 0);
  RUN(&f, { "node 0 1", "" }, { "at 100 begin", "" }, { "at 599 time", "" },
      { "at 600 time", "no progress" });
  tm_sched_release(&f.s);
}

static void test_workers_spread_over_the_nodes(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 2", "" }, { "node 3 2", "" }, { "created 9", "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" },
      { "turn", "start 1 on 3, start 2 on 0, start 3 on 3" }, { "started 1", "setup 1" },
      { "loaded 1", "" }, { "ready 1", "" }, { "turn", "hand 1/1 m0" }, { "lost 3", "" },
      { "turn", "" }, { "ready 0", "" }, { "turn", "hand 0/1 m0" });
  tm_sched_release(&f.s);
}

/* Two nodes with two ready workers each: 0 and 2 on node 0, 1 and 3 on node 1. */
static void begin_four(struct fixture *f, const char *created, const char *handed)
{
  tm_sched_init(&f->s, &usual, 0);
  RUN(f, { "node 0 2", "" }, { "node 1 2", "" }, { "created 4", "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" },
      { "turn", "start 1 on 1, start 2 on 0, start 3 on 1" }, { "started 1", "setup 1" },
      { "started 2", "setup 2" }, { "started 3", "setup 3" }, { "loaded 1", "" },
      { "loaded 2", "" }, { "loaded 3", "" }, { "ready 0", "" }, { "ready 1", "" },
      { "ready 2", "" }, { "ready 3", "" }, { "turn", handed }, { created, "" });
}

#define FOUR "hand 0/1 m0, hand 1/1 m1, hand 2/1 m2, hand 3/1 m3"

/* It waits for a busy worker there, although both workers of its own node are idle. */
static void test_a_failed_assignment_goes_to_another_node(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_four(&f, "created 4", FOUR);
  RUN(&f, { "result 2 1 50", "" }, { "failed 0 1", "retry 0/1 m0" }, { "turn", "" },
      { "result 1 1 50", "" }, { "turn", "hand 1/2 m0" }, { "failed 1 2", "fail 1/2 m0" });
  tm_sched_release(&f.s);
}

/* What else waits does not wait for that. */
static void test_an_assignment_that_avoids_a_node_does_not_hold_up_others_there(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_four(&f, "created 6", FOUR);
  RUN(&f, { "failed 0 1", "retry 0/1 m0" }, { "failed 2 1", "retry 2/1 m2" },
      { "turn", "hand 0/2 m4, hand 2/2 m5" }, { "result 3 1 50", "" }, { "turn", "hand 3/2 m0" });
  tm_sched_release(&f.s);
}

/* If no worker of another node can take it, another worker of the same node does. */
static void test_a_failed_assignment_stays_if_no_other_node_can_take_it(void **state)
{
  static const struct line ends[] = { { "lost 1", "" },
                                      { "silent 1", "" },
                                      { "drains 1", "stop 1, stop 3" } };

  for (size_t i = 0; i < TM_COUNT_OF(ends); i++) {
    struct fixture f = { .now_ns = 0 };
    begin_four(&f, "created 4", FOUR);
    RUN(&f, { "result 1 1 50", "" }, { "result 3 1 50", "" }, { "failed 0 1", "retry 0/1 m0" },
        { "result 2 1 50", "" });
    run_lines(&f, &ends[i], 1);
    RUN(&f, { "turn", "hand 2/2 m0" });
    tm_sched_release(&f.s);
  }
}

UNIT_TESTS({
    cmocka_unit_test(test_a_second_worker_waits_until_the_first_has_loaded),
    cmocka_unit_test(test_no_more_workers_than_work),
    cmocka_unit_test(test_workers_that_die_at_once_are_replaced_more_and_more_slowly),
    cmocka_unit_test(test_a_worker_that_retires_comes_back_as_another_one),
    cmocka_unit_test(test_another_step_gets_a_worker_that_holds_the_least),
    cmocka_unit_test(test_the_window_opens_with_what_is_measured),
    cmocka_unit_test(test_what_waits_behind_a_long_one_is_recalled_for_an_idle_worker),
    cmocka_unit_test(test_a_worker_whose_first_is_late_gets_nothing_more),
    cmocka_unit_test(test_a_worker_whose_script_has_prefetch_gets_the_next_ones),
    cmocka_unit_test(test_what_waits_for_prefetch_goes_to_a_worker_that_has_nothing),
    cmocka_unit_test(test_a_deaf_worker_gets_nothing),
    cmocka_unit_test(test_finished_ones_of_earlier_sessions_are_skipped),
    cmocka_unit_test(test_a_failed_one_goes_to_the_other_worker_until_its_last_try),
    cmocka_unit_test(test_a_lost_try_waits_and_what_had_not_begun_does_not_count),
    cmocka_unit_test(test_a_lost_answer_does_not_count_and_the_next_try_is_alone),
    cmocka_unit_test(test_what_we_killed_comes_back_uncounted),
    cmocka_unit_test(test_bad_items_are_searched_in_parts),
    cmocka_unit_test(test_a_part_whose_result_cannot_be_read_runs_again_a_few_times),
    cmocka_unit_test(test_at_the_end_what_runs_may_end_and_the_rest_is_recalled),
    cmocka_unit_test(test_what_was_not_recalled_at_first_is_recalled_then),
    cmocka_unit_test(test_a_kill_ends_all_of_them),
    cmocka_unit_test(test_a_worker_that_starts_after_the_end_is_killed),
    cmocka_unit_test(test_time_that_passes_without_progress_is_an_event),
    cmocka_unit_test(test_workers_spread_over_the_nodes),
    cmocka_unit_test(test_a_failed_assignment_goes_to_another_node),
    cmocka_unit_test(test_an_assignment_that_avoids_a_node_does_not_hold_up_others_there),
    cmocka_unit_test(test_a_failed_assignment_stays_if_no_other_node_can_take_it),
});
