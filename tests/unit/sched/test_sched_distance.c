/* test_sched_distance.c - what the scheduler makes of the round trip to a node. */
#include "unit.h"

#include "sched_fixture.h"

static void test_a_distant_worker_holds_work_for_two_round_trips(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 40", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "distance 0 5", "" }, { "distance 1 5", "refused" }, { "at 6 result 0 1 2", "" },
      { "turn", "hand 0/2 m2, hand 0/3 m3, hand 0/4 m4, hand 0/5 m5, hand 0/6 m6, hand 0/7 m7" },
      { "at 7 result 1 1 10", "" }, { "turn", "hand 1/2 m8, hand 1/3 m9" },
      /* it comes nearer: nothing more until there is room, and nothing is taken back */
      { "distance 0 0", "" }, { "turn", "" }, { "at 10 result 0 2 2", "" }, { "turn", "" },
      { "at 12 distance 0 3", "" }, { "turn", "" }, { "at 13 result 0 3 2", "" }, { "turn", "" },
      { "at 14 result 0 4 2", "" }, { "turn", "hand 0/8 m10" });
  tm_sched_release(&f.s);
}

static void test_a_distance_that_cannot_be_has_a_limit(void **state)
{
  static const int64_t rows[][2] = { { -1, 0 },          { INT64_MIN, 0 },   { 0, 0 },
                                     { TM_S, TM_S },     { TM_S + 1, TM_S }, { 3600 * TM_S, TM_S },
                                     { INT64_MAX, TM_S } };
  struct fixture f = { .now_ns = 0 };

  tm_sched_init(&f.s, &usual, 0);
  RUN(&f, { "node 0 2", "" });
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    assert_true(tm_sched_event(
        &f.s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_DISTANCE, .ns = rows[i][0] }, 0));
    assert_int_equal(tm_roster_node(&f.s.roster, 0)->distance_ns, rows[i][1]);
  }
  RUN(&f, { "lost 0", "" }, { "distance 0 5", "refused" });
  tm_sched_release(&f.s);
}

/* Workers 0 and 2 on node 0, worker 1 on node 3, all ready; each holds one of `created`. */
static void begin_three(struct fixture *f, const char *created)
{
  tm_sched_init(&f->s, &usual, 0);
  RUN(f, { "node 0 2", "" }, { "node 3 1", "" }, { created, "" }, { "turn", "start 0 on 0" },
      { "started 0", "setup 0" }, { "loaded 0", "" }, { "turn", "start 1 on 3, start 2 on 0" },
      { "ready 0", "" }, { "started 1", "setup 1" }, { "loaded 1", "" }, { "ready 1", "" },
      { "started 2", "setup 2" }, { "loaded 2", "" }, { "ready 2", "" },
      { "turn", "hand 0/1 m0, hand 1/1 m1, hand 2/1 m2" });
}

static void test_what_waits_is_late_by_the_distance_of_its_node(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_three(&f, "created 9");
  RUN(&f, { "distance 3 20", "" }, { "result 1 1 14", "" },
      { "turn", "hand 1/2 m3, hand 1/3 m4, hand 1/4 m5, hand 1/5 m6" }, { "result 0 1 1", "" },
      { "turn", "hand 0/2 m7, hand 0/3 m8" }, { "at 2 result 2 1 1", "" }, { "turn", "" });
  assert_int_equal(tm_sched_due(&f.s), 12 * TM_MS);
  RUN(&f, { "at 12 turn", "recall 0: 3" }, { "taken 0 3", "" }, { "turn", "hand 2/2 m8" },
      { "at 14 result 2 2 1", "" }, { "turn", "" });
  assert_int_equal(tm_sched_due(&f.s), 32 * TM_MS);
  RUN(&f, { "at 31 turn", "" }, { "at 32 turn", "recall 1: 3 4 5" }, { "at 64 taken 1 4 5", "" },
      { "turn", "hand 2/3 m5, hand 2/4 m6" });
  tm_sched_release(&f.s);
}

static void test_a_node_that_has_come_nearer_is_looked_at_sooner(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_three(&f, "created 6");
  RUN(&f, { "distance 3 500", "" }, { "result 1 1 400", "" },
      { "turn", "hand 1/2 m3, hand 1/3 m4, hand 1/4 m5" }, { "result 2 1 1", "" }, { "turn", "" });
  assert_int_equal(tm_sched_due(&f.s), 510 * TM_MS);
  RUN(&f, { "at 20 distance 3 30", "" }, { "turn", "" });
  assert_int_equal(tm_sched_due(&f.s), 40 * TM_MS);
  RUN(&f, { "at 40 turn", "recall 1: 3 4" }, { "at 41 distance 3 500", "" }, { "turn", "" },
      { "at 70 taken 1 3 4", "" }, { "turn", "hand 2/2 m4, hand 1/5 m5" });
  tm_sched_release(&f.s);
}

static void test_what_was_asked_for_in_vain_is_asked_for_again_later(void **state)
{
  struct fixture f = { .now_ns = 0 };

  begin_two(&f, &usual, "created 4", "hand 0/1 m0, hand 1/1 m1");
  RUN(&f, { "result 0 1 1", "" }, { "turn", "hand 0/2 m2, hand 0/3 m3" }, { "result 1 1 1", "" },
      { "turn", "" }, { "at 10 turn", "recall 0: 3" }, { "at 12 taken 0", "" }, { "turn", "" });
  assert_in_range(tm_sched_due(&f.s), 12 * TM_MS + 1, 22 * TM_MS);
  RUN(&f, { "at 21 turn", "" });
  assert_int_equal(tm_sched_due(&f.s), 22 * TM_MS);
  RUN(&f, { "at 22 turn", "recall 0: 3" });
  tm_sched_release(&f.s);
}

UNIT_TESTS({
    cmocka_unit_test(test_a_distant_worker_holds_work_for_two_round_trips),
    cmocka_unit_test(test_a_distance_that_cannot_be_has_a_limit),
    cmocka_unit_test(test_what_waits_is_late_by_the_distance_of_its_node),
    cmocka_unit_test(test_a_node_that_has_come_nearer_is_looked_at_sooner),
    cmocka_unit_test(test_what_was_asked_for_in_vain_is_asked_for_again_later),
});
