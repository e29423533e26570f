/* test_try_ends.c - results that are announced: by tables of events (sched_fixture.h). */
#include "unit.h"

#include "sched_fixture.h"

static void test_a_worker_goes_on_when_it_has_announced_a_result(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 3", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "announced 0 1 50", "" }, { "result 0 1", "refused" }, { "turn", "hand 0/2 m2" });
  assert_int_equal(f.s.running, 3);
  assert_int_equal(tm_sched_open(&f.s), 3);
  RUN(&f, { "ended 0 2=begun", "retry 0/2 m2" }, { "result 0 1 kept", "" },
      { "result 0 1 kept", "refused" }, { "result 1 1", "" }, { "turn", "hand 1/2 m2" },
      { "result 1 2", "" });
  assert_int_equal(f.s.running, 0);
  assert_int_equal(tm_sched_open(&f.s), 0);
  tm_sched_release(&f.s);
}

static void test_an_announced_result_that_is_not_seen_counts_the_third_time(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "announced 0 1 50", "" }, { "unusable 0 1 kept", "" }, { "turn", "hand 0/2 m0" },
      { "announced 0 2 50", "" }, { "unusable 0 2 kept", "" }, { "turn", "hand 0/3 m0" },
      { "announced 0 3 50", "" }, { "unusable 0 3 kept", "refused" },
      { "failed 0 3 1 kept", "retry 0/3 m0" }, { "result 1 1", "" }, { "turn", "hand 1/2 m0" });
  assert_int_equal(f.handed[f.handed_len - 1].what.try, 2);
  assert_int_equal(f.s.running, 1);
  RUN(&f, { "announced 1 2 50", "" }, { "failed 1 2 1 kept", "fail 1/2 m0" });
  assert_int_equal(tm_sched_open(&f.s), 0);
  tm_sched_release(&f.s);
}

static void test_an_announced_result_of_a_lost_node_comes_back_uncounted(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "announced 0 1 50", "" }, { "dropped 0 1 kept", "" }, { "turn", "hand 0/2 m0" },
      { "announced 0 2 50", "" }, { "dropped 0 2 kept", "" }, { "turn", "hand 0/3 m0" },
      { "announced 0 3 50", "" }, { "dropped 0 3 kept", "" }, { "turn", "hand 0/4 m0" },
      { "announced 0 4 50", "" }, { "lost 0", "" }, { "dropped 0 4 kept", "" });
  assert_int_equal(f.handed[f.handed_len - 1].what.try, 1);
  assert_int_equal(f.handed[f.handed_len - 1].what.lost_answers, 0);
  assert_int_equal(f.s.running, 0);
  tm_sched_release(&f.s);
}

static void test_a_step_that_ends_stops_a_worker_that_has_announced(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 2", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "end", "" }, { "announced 0 1 50", "stop 0" }, { "result 1 1", "stop 1" },
      { "ended 0", "" }, { "result 0 1 kept", "" });
  assert_int_equal(tm_sched_open(&f.s), 0);
  tm_sched_release(&f.s);
}

UNIT_TESTS({
    cmocka_unit_test(test_a_worker_goes_on_when_it_has_announced_a_result),
    cmocka_unit_test(test_an_announced_result_that_is_not_seen_counts_the_third_time),
    cmocka_unit_test(test_an_announced_result_of_a_lost_node_comes_back_uncounted),
    cmocka_unit_test(test_a_step_that_ends_stops_a_worker_that_has_announced),
});
