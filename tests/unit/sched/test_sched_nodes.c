/* test_sched_nodes.c - nodes that are lost, and nodes that drain. */
#include "unit.h"

#include "sched_fixture.h"

/* ---- lost ---- */

static void test_a_lost_node_gives_all_back_and_comes_again(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "silent 0", "" }, { "result 1 1 50", "" }, { "turn", "" }, { "lost 0", "" },
      { "silent 0", "refused" }, { "lost 0", "refused" }, { "turn", "" },
      { "result 0 1", "refused" }, { "node 0 2", "" }, { "turn", "start 2 on 0" },
      { "started 2", "setup 2" }, { "loaded 2", "" }, { "ready 2", "" }, { "turn", "hand 2/1 m0" });
  assert_int_equal(f.s.running, 1);
  tm_sched_release(&f.s);
}

static void test_a_node_that_is_lost_again_and_again_has_failed(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  for (int i = 0; i < TM_SCHED_LOSSES_MAX - 1; i++)
    RUN(&f, { "node 0 1", "" }, { "lost 0", "" });
  RUN(&f, { "node 0 1", "" }, { "lost 0", "node failed 0" });
  tm_sched_release(&f.s);
}

/* Worker `number` becomes ready on a new node of the same number. */
static void add_ready(struct fixture *f, uint32_t number)
{
  static const enum tm_sched_event_kind kinds[] = { TM_SCHED_ON_STARTED, TM_SCHED_ON_LOADED,
                                                    TM_SCHED_ON_READY };
  struct tm_sched_action a;

  tm_sched_event(
      &f->s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE, .node = number, .slots = 1 }, 0);
  tm_sched_event(&f->s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_TURN }, 0);
  assert_true(tm_sched_next(&f->s, &a));
  assert_int_equal(a.kind, TM_SCHED_START);
  assert_int_equal(a.worker, number);
  assert_int_equal(a.node, number);
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++)
    assert_true(
        tm_sched_event(&f->s, &(struct tm_sched_event) { .kind = kinds[i], .worker = number }, 0));
  assert_true(tm_sched_next(&f->s, &a)); /* the setup */
}

static void test_what_three_nodes_are_lost_with_has_failed(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_action a = { .kind = TM_SCHED_START };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "created 2", "" });
  add_ready(&f, 0);
  RUN(&f, { "turn", "hand 0/1 m0" }, { "lost 0", "" });
  add_ready(&f, 1);
  RUN(&f, { "turn", "hand 1/1 m0" }, { "lost 1", "" });
  add_ready(&f, 2);
  RUN(&f, { "turn", "hand 2/1 m0" });
  assert_true(tm_sched_event(
      &f.s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_LOST, .node = 2 }, 0));
  assert_true(tm_sched_next(&f.s, &a));
  assert_int_equal(a.kind, TM_SCHED_FAIL);
  assert_int_equal(a.what.try, 1); /* none of them counted */
  assert_int_equal(a.what.lost_nodes, TM_LOST_NODES_MAX);
  for (uint32_t i = 0; i < TM_LOST_NODES_MAX; i++)
    assert_int_equal(a.what.lost_at[i], i);
  add_ready(&f, 3);
  RUN(&f, { "turn", "hand 3/1 m1" }, { "result 3 1 5", "" });
  assert_int_equal(tm_sched_open(&f.s), 0);
  tm_sched_release(&f.s);
}

/* A worker may have answered what comes first, and the answers were not sent. */
static void test_any_of_a_window_may_have_taken_its_node_down(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "created 8", "" });
  add_ready(&f, 0);
  RUN(&f, { "turn", "hand 0/1 m0" }, { "result 0 1 1", "" },
      { "turn", "hand 0/2 m1, hand 0/3 m2, hand 0/4 m3" }, { "lost 0", "" });
  assert_int_equal(tm_roster_node(&f.s.roster, 0)->went_back, 3);
  assert_int_equal(tm_roster_node(&f.s.roster, 0)->had_work, 1);
  add_ready(&f, 1);
  /* each is alone, although the window of its new worker has room; m3 takes this node down, too */
  RUN(&f, { "turn", "hand 1/1 m1" }, { "result 1 1 1", "" }, { "turn", "hand 1/2 m2" },
      { "result 1 2 1", "" }, { "turn", "hand 1/3 m3" });
  assert_int_equal(f.handed[6].what.lost_nodes, 1);
  RUN(&f, { "lost 1", "" });
  add_ready(&f, 2);
  RUN(&f, { "turn", "hand 2/1 m3" }, { "lost 2", "fail 2/1 m3" });
  assert_int_equal(tm_roster_node(&f.s.roster, 2)->went_back, 0);
  assert_int_equal(tm_roster_node(&f.s.roster, 2)->had_work, 0);
  add_ready(&f, 3);
  RUN(&f, { "turn", "hand 3/1 m4" });
  assert_int_equal(f.handed[8].what.lost_nodes, 0);
  tm_sched_release(&f.s);
}

static void test_windows_run_empty_while_one_waits_that_must_be_alone(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "created 20", "" });
  add_ready(&f, 0);
  RUN(&f, { "node 1 1", "" }, { "turn", "hand 0/1 m0, start 1 on 1" }, { "started 1", "setup 1" },
      { "loaded 1", "" }, { "ready 1", "" }, { "turn", "hand 1/1 m1" }, { "result 0 1 1", "" },
      { "turn", "hand 0/2 m2, hand 0/3 m3, hand 0/4 m4" }, { "lost 1", "" }, { "turn", "" },
      { "result 0 2 1", "" }, { "turn", "" }, { "result 0 3 1", "" }, { "turn", "" },
      { "result 0 4 1", "" }, { "turn", "hand 0/5 m1" }, { "turn", "" }, { "result 0 5 1", "" },
      { "turn", "hand 0/6 m5, hand 0/7 m6, hand 0/8 m7" });
  tm_sched_release(&f.s);
}

/* Two mini-batches run beside each other on one node, and one of them takes nodes down. */
static void test_what_runs_beside_a_mini_batch_that_takes_nodes_down_does_not_fail(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "lost 0", "" }, { "node 0 2", "" }, { "turn", "start 2 on 0, start 3 on 0" },
      { "started 2", "setup 2" }, { "loaded 2", "" }, { "ready 2", "" }, { "started 3", "setup 3" },
      { "loaded 3", "" }, { "ready 3", "" }, { "turn", "hand 2/1 m0, hand 3/1 m1" },
      { "lost 0", "" }, { "node 0 2", "" }, { "turn", "start 4 on 0, start 5 on 0" },
      { "started 4", "setup 4" }, { "loaded 4", "" }, { "ready 4", "" }, { "started 5", "setup 5" },
      { "loaded 5", "" }, { "ready 5", "" },
      /* one of them at a time: it is the one that fails with its third node */
      { "turn", "hand 4/1 m0" }, { "turn", "" }, { "lost 0", "fail 4/1 m0" }, { "node 0 2", "" },
      { "turn", "start 6 on 0" }, { "started 6", "setup 6" }, { "loaded 6", "" }, { "ready 6", "" },
      { "turn", "hand 6/1 m1" }, { "result 6 1 5", "" });
  tm_sched_release(&f.s);
}

static void test_a_part_that_three_nodes_are_lost_with_is_not_halved(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.run_max_try = 1;
  o.isolates = true;
  o.isolation_max_try = 100;
  tm_sched_init(&f.s, &o, 0);
  RUN(&f, { "created 1", "" });
  add_ready(&f, 0);
  RUN(&f, { "turn", "hand 0/1 m0" }, { "failed 0 1 4", "search 0/1 m0 s0 new" },
      { "turn", "hand 0/2 m0:0+2" }, { "lost 0", "" });
  add_ready(&f, 1);
  RUN(&f, { "turn", "hand 1/1 m0:0+2" }, { "lost 1", "" });
  add_ready(&f, 2);
  RUN(&f, { "turn", "hand 2/1 m0:0+2" }, { "lost 2", "search 2/1 m0:0+2 s0 bad 0+2" });
  add_ready(&f, 3);
  RUN(&f, { "turn", "hand 3/1 m0:2+2" }, { "result 3 1 5", "over s0" }, { "settled 0", "" });
  tm_sched_release(&f.s);
}

static void test_what_ran_at_the_end_of_the_step_has_lost_no_node(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "end", "" }, { "lost 0", "" });
  assert_int_equal(f.s.queue.back.len, 2); /* what has lost a node is not there */
  tm_sched_release(&f.s);
}

/* ---- who holds something ---- */

static void expect_holders(const struct fixture *f, size_t n)
{
  assert_int_equal(tm_roster_node(&f->s.roster, 0)->holders, n);
}

static void test_a_node_knows_how_many_workers_hold_something(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 9", "hand 0/1 m0, hand 1/1 m1");
  expect_holders(&f, 2);
  RUN(&f, { "result 0 1 1", "" });
  expect_holders(&f, 1);
  RUN(&f, { "turn", "hand 0/2 m2, hand 0/3 m3, hand 0/4 m4" });
  expect_holders(&f, 2); /* not the number of mini-batches */
  RUN(&f, { "taken 0 3 4", "" }, { "announced 0 2 1", "" });
  expect_holders(&f, 1);
  RUN(&f, { "failed 1 1 0", "retry 1/1 m1" });
  expect_holders(&f, 0);
  RUN(&f, { "turn", "hand 0/5 m1, hand 1/2 m3, hand 0/6 m4, hand 0/7 m5" });
  expect_holders(&f, 2);
  RUN(&f, { "ended 1 2=begun", "retry 1/2 m3" });
  expect_holders(&f, 1);
  RUN(&f, { "lost 0", "" });
  expect_holders(&f, 0);
  tm_sched_release(&f.s);
}

/* ---- draining ---- */

static void test_a_node_that_drains_ends_what_runs_and_gives_the_rest_back(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "created 6", "" });
  add_ready(&f, 0);
  RUN(&f, { "turn", "hand 0/1 m0" }, { "result 0 1 1", "" },
      { "turn", "hand 0/2 m1, hand 0/3 m2, hand 0/4 m3" }, { "drains 0", "recall 0: 3 4" },
      { "drains 0", "refused" }, { "taken 0 3 4", "" }, { "turn", "" },
      { "result 0 2 1", "stop 0" });
  assert_int_equal(f.s.queue.back.len, 2);
  RUN(&f, { "ended 0", "" }, { "turn", "" }, { "lost 0", "" });
  add_ready(&f, 1);
  RUN(&f, { "turn", "hand 1/1 m2" });
  assert_int_equal(f.handed[4].what.lost_nodes + f.handed[4].what.lost_answers, 0);
  tm_sched_release(&f.s);
}

static void test_a_node_that_drains_starts_no_worker_and_ends_those_that_start(void **state)
{
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 2", "" }, { "created 9", "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" }, { "turn", "start 1 on 0" },
      { "drains 0", "kill 0, kill 1" }, { "turn", "" }, { "started 1", "kill 1" },
      { "ended 0", "" }, { "ended 1", "" }, { "turn", "" });
  assert_int_equal(f.s.time.init.failures, 0);
  tm_sched_release(&f.s);
}

static void test_what_is_cut_short_on_a_node_that_drains_counts_for_nothing(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.run_max_try = 1;
  begin_two(&f, &o, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "drains 0", "" }, { "ended 0 1=begun", "" }, { "failed 1 1 0", "again 1/1 m1, stop 1" },
      { "ended 1", "" }, { "lost 0", "" });
  add_ready(&f, 2);
  RUN(&f, { "turn", "hand 2/1 m0" }, { "result 2 1 5", "" }, { "turn", "hand 2/2 m1" });
  assert_int_equal(f.handed[2].what.lost_nodes + f.handed[3].what.lost_nodes, 0);
  assert_int_equal(f.handed[3].what.try, 1);
  tm_sched_release(&f.s);
}

static void test_a_call_that_took_too_long_counts_on_a_node_that_drains(void **state)
{
  struct fixture f = { .now_ns = 0 };
  struct tm_sched_options o = usual;

  o.run_max_try = 1;
  begin_two(&f, &o, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "drains 0", "" }, { "ended 0 1=begun timeout", "fail 0/1 m0" },
      { "failed 1 1 0 timeout", "fail 1/1 m1, stop 1" });
  tm_sched_release(&f.s);
}

static void test_what_ran_on_a_node_that_drained_has_lost_no_node(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "drains 0", "" }, { "lost 0", "" }, { "node 0 2", "" },
      { "turn", "start 2 on 0, start 3 on 0" });
  assert_int_equal(f.s.queue.back.len, 2);
  assert_int_equal(tm_roster_node(&f.s.roster, 0)->losses, 0);
  tm_sched_release(&f.s);
}

/* ---- sick ---- */

/* A worker on each of the nodes 0 and 1, and 100 mini-batches. */
static void begin_pair(struct fixture *f)
{
  static const struct tm_sched_options three = {
    .run_max_try = 3,
    .retry_delay_ns = 0,
    .window_max = 16,
    .is_over = is_over,
    .time = { .first_ns = 3600 * TM_S, .update_ns = 3600 * TM_S, .workers = 2 }
  };

  tm_sched_init(&f->s, &three, 0);
  RUN(f, { "begin", "" }, { "created 100", "" });
  add_ready(f, 0);
  RUN(f, { "node 1 1", "" }, { "turn", "hand 0/1 m0, start 1 on 1" }, { "started 1", "setup 1" },
      { "loaded 1", "" }, { "ready 1", "" });
}

/* Each worker gets one, and answers: `good` says which ones succeed. */
static void answer_all(struct fixture *f, const char *good)
{
  struct tm_sched_action a;

  assert_true(run_event(f, "turn"));
  while (tm_sched_next(&f->s, &a))
    assert_int_equal(a.kind, TM_SCHED_HAND);
  for (uint32_t worker = 0; good[worker]; worker++) {
    bool is_good = good[worker] == 'g';
    struct tm_sched_event e = { .kind = is_good ? TM_SCHED_ON_RESULT : TM_SCHED_ON_FAILED,
                                .worker = worker,
                                .seq = tm_sched_first(&f->s, worker),
                                .ns = 50 * TM_MS,
                                .items = 1 };
    assert_true(tm_sched_event(&f->s, &e, f->now_ns));
    while (tm_sched_next(&f->s, &a))
      assert_true(a.kind == TM_SCHED_RETRY || a.kind == TM_SCHED_FAIL);
  }
}

static void test_a_node_where_all_tries_fail_is_reported_once(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_pair(&f);
  for (int i = 0; i < 8; i++) {
    RUN(&f, { "time", "" });
    answer_all(&f, "gf");
  }
  RUN(&f, { "time", "sick 1: its last 8 tries all failed, while 100 % of 7 tries elsewhere "
                    "succeeded" });
  answer_all(&f, "gf");
  RUN(&f, { "time", "" }, { "drains 1", "stop 1" }, { "ended 1", "" }, { "lost 1", "" });
  assert_int_equal(f.s.over, 9); /* and none has failed: each went to the other node then */
  tm_sched_release(&f.s);
}

/* After two failures there, of one worker: it gets what has not failed, and the rest waits for the
 * other node. */
static void test_a_doubtful_node_gets_no_failed_work(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_pair(&f);
  RUN(&f, { "turn", "hand 1/1 m1" }, { "failed 1 1", "retry 1/1 m1" }, { "turn", "hand 1/2 m2" },
      { "failed 1 2", "retry 1/2 m2" }, { "failed 0 1", "retry 0/1 m0" },
      { "turn", "hand 0/2 m0, hand 1/3 m3" }, { "failed 1 3", "retry 1/3 m3" },
      { "turn", "hand 1/4 m4" });
  tm_sched_release(&f.s);
}

/* If no node is sound, what has failed at one goes to the other. */
static void test_doubtful_nodes_get_all_work_if_there_is_no_sound_one(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_pair(&f);
  RUN(&f, { "turn", "hand 1/1 m1" }, { "failed 1 1", "retry 1/1 m1" }, { "turn", "hand 1/2 m2" },
      { "failed 1 2", "retry 1/2 m2" }, { "failed 0 1", "retry 0/1 m0" },
      { "turn", "hand 0/2 m0, hand 1/3 m3" }, { "failed 0 2", "retry 0/2 m0" },
      { "turn", "hand 0/3 m1" }, { "failed 1 3", "retry 1/3 m3" }, { "turn", "hand 1/4 m0" },
      { "result 1 4 50", "" }, { "turn", "hand 1/5 m2" });
  tm_sched_release(&f.s);
}

static void test_nodes_that_fail_alike_are_not_reported(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_pair(&f);
  for (int i = 0; i < 5; i++)
    answer_all(&f, "gg");
  for (int i = 0; i < 60; i++) {
    answer_all(&f, "ff");
    RUN(&f, { "time", "" });
  }
  tm_sched_release(&f.s);
}

/* Nothing more starts there after three times its workers (pool.h), and the other node works. */
static void test_a_node_where_init_fails_is_reported_once(void **state)
{
  static const struct line lives[][3] = {
    { { "started 2", "setup 2" }, { "loaded 2", "" }, { "ended 2", "" } },
    { { "started 3", "setup 3" }, { "loaded 3", "" }, { "ended 3", "" } },
    { { "started 4", "setup 4" }, { "loaded 4", "" }, { "ended 4", "" } },
  };
  struct fixture f = { .now_ns = 0 };

  begin_pair(&f);
  RUN(&f, { "node 2 1", "" });
  for (int worker = 2; worker < 5; worker++) {
    struct tm_sched_action a;
    f.now_ns += TM_S;
    assert_true(run_event(&f, "turn"));
    while (tm_sched_next(&f.s, &a) && a.kind != TM_SCHED_START)
      ;
    assert_int_equal(a.worker, worker);
    assert_int_equal(a.node, 2);
    run_lines(&f, lives[worker - 2], 3);
    RUN(&f, { "time", worker < 4 ? ""
                                 : "sick 2: init() has failed 3 times in a row there, while "
                                   "it succeeded in 100 % of 2 workers elsewhere" });
  }
  f.now_ns += TM_S;
  RUN(&f, { "turn", "" }, { "time", "" });
  tm_sched_release(&f.s);
}

UNIT_TESTS({
    cmocka_unit_test(test_a_lost_node_gives_all_back_and_comes_again),
    cmocka_unit_test(test_a_node_that_is_lost_again_and_again_has_failed),
    cmocka_unit_test(test_what_three_nodes_are_lost_with_has_failed),
    cmocka_unit_test(test_any_of_a_window_may_have_taken_its_node_down),
    cmocka_unit_test(test_windows_run_empty_while_one_waits_that_must_be_alone),
    cmocka_unit_test(test_what_runs_beside_a_mini_batch_that_takes_nodes_down_does_not_fail),
    cmocka_unit_test(test_a_part_that_three_nodes_are_lost_with_is_not_halved),
    cmocka_unit_test(test_what_ran_at_the_end_of_the_step_has_lost_no_node),
    cmocka_unit_test(test_a_node_knows_how_many_workers_hold_something),
    cmocka_unit_test(test_a_node_that_drains_ends_what_runs_and_gives_the_rest_back),
    cmocka_unit_test(test_a_node_that_drains_starts_no_worker_and_ends_those_that_start),
    cmocka_unit_test(test_what_is_cut_short_on_a_node_that_drains_counts_for_nothing),
    cmocka_unit_test(test_a_call_that_took_too_long_counts_on_a_node_that_drains),
    cmocka_unit_test(test_what_ran_on_a_node_that_drained_has_lost_no_node),
    cmocka_unit_test(test_a_node_where_all_tries_fail_is_reported_once),
    cmocka_unit_test(test_a_doubtful_node_gets_no_failed_work),
    cmocka_unit_test(test_doubtful_nodes_get_all_work_if_there_is_no_sound_one),
    cmocka_unit_test(test_nodes_that_fail_alike_are_not_reported),
    cmocka_unit_test(test_a_node_where_init_fails_is_reported_once),
});
