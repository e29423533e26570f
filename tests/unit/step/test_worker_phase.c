/* test_worker_phase.c - what a worker is doing, on a clock that the test sets. */
#include "unit.h"

#include "base/time.h"
#include "record/activity.h"
#include "step/worker_phase.h"

static struct tm_worker_phase runs(uint64_t seq, int64_t now_ns)
{
  struct tm_worker_phase p = { 0 };

  tm_worker_phase_look(&p, TM_PHASE_RUN, seq, now_ns);
  return p;
}

static void the_time_starts_again_with_a_new_mini_batch_or_call(void **state)
{
  struct tm_worker_phase p = runs(1, 5 * TM_S);

  tm_worker_phase_look(&p, TM_PHASE_RUN, 1, 6 * TM_S);
  assert_int_equal(p.since_ns, 5 * TM_S);
  tm_worker_phase_look(&p, TM_PHASE_RUN, 2, 7 * TM_S);
  assert_int_equal(p.since_ns, 7 * TM_S);
  assert_int_equal(p.seq, 2);
  tm_worker_phase_look(&p, TM_PHASE_IDLE, 0, 8 * TM_S);
  assert_int_equal(p.since_ns, 8 * TM_S);
}

static void what_was_reported_is_dropped_with_its_mini_batch(void **state)
{
  struct tm_worker_phase p = runs(1, 5 * TM_S);

  tm_worker_phase_tell(&p,
                       &(struct tm_worker_doing) { .phase = TM_PHASE_LOAD,
                                                   .seq = 1,
                                                   .begun_wall_ns = 77,
                                                   .is_stopped = true,
                                                   .is_waiting = true },
                       5 * TM_S);
  assert_int_equal(p.told, TM_PHASE_LOAD);
  assert_int_equal(p.begun_wall_ns, 77);
  assert_true(p.is_stopped);
  assert_true(p.is_waiting);
  tm_worker_phase_look(&p, TM_PHASE_RUN, 2, 6 * TM_S);
  assert_int_equal(p.told, TM_PHASE_IDLE);
  assert_int_equal(p.begun_wall_ns, 0);
  assert_false(p.is_stopped);
  assert_false(p.is_waiting);
}

static void a_report_of_another_mini_batch_does_not_count(void **state)
{
  struct tm_worker_phase p = runs(1, 5 * TM_S);

  tm_worker_phase_tell(&p, &(struct tm_worker_doing) { .phase = TM_PHASE_LOAD, .seq = 9 },
                       5 * TM_S);
  assert_int_equal(p.told, TM_PHASE_IDLE);
  tm_worker_phase_look(&p, TM_PHASE_IDLE, 0, 6 * TM_S);
  tm_worker_phase_tell(&p, &(struct tm_worker_doing) { .phase = TM_PHASE_LOAD, .seq = 0 },
                       6 * TM_S);
  assert_int_equal(p.told, TM_PHASE_IDLE);
  tm_worker_phase_tell(&p, &(struct tm_worker_doing) { .phase = TM_PHASE_RECOVER }, 6 * TM_S);
  assert_int_equal(p.told, TM_PHASE_RECOVER);
}

static void a_phase_began_when_the_keeper_says_if_that_was_a_moment_before(void **state)
{
  struct tm_worker_phase p = runs(1, 5 * TM_S);
  struct tm_worker_doing told = { .phase = TM_PHASE_RUN, .seq = 1, .phase_ns = 1100 * TM_MS };

  tm_worker_phase_tell(&p, &told, 6 * TM_S);
  assert_int_equal(p.since_ns, 4900 * TM_MS);
  told.phase_ns = 100 * TM_MS; /* it has loaded the items until now: the try is older */
  tm_worker_phase_tell(&p, &told, 6 * TM_S);
  assert_int_equal(p.since_ns, 4900 * TM_MS);
  told.phase_ns = 3600 * TM_S; /* a page that somebody has written to */
  tm_worker_phase_tell(&p, &told, 6 * TM_S);
  assert_int_equal(p.since_ns, 4900 * TM_MS);
}

static void the_keeper_is_asked_shortly_before_a_phase_is_shown(void **state)
{
  struct tm_worker_phase p = runs(1, 5 * TM_S);

  assert_false(tm_worker_phase_is_asked(&p, 5 * TM_S + TM_ACTIVITY_SHOWN_NS / 2));
  assert_true(tm_worker_phase_is_asked(&p, 5 * TM_S + TM_ACTIVITY_SHOWN_NS));
  tm_worker_phase_look(&p, TM_PHASE_IDLE, 0, 6 * TM_S);
  assert_false(tm_worker_phase_is_asked(&p, 60 * TM_S));
  tm_worker_phase_look(&p, TM_PHASE_START, 0, 60 * TM_S);
  assert_false(tm_worker_phase_is_asked(&p, 600 * TM_S));
}

UNIT_TESTS({
    cmocka_unit_test(the_time_starts_again_with_a_new_mini_batch_or_call),
    cmocka_unit_test(what_was_reported_is_dropped_with_its_mini_batch),
    cmocka_unit_test(a_report_of_another_mini_batch_does_not_count),
    cmocka_unit_test(a_phase_began_when_the_keeper_says_if_that_was_a_moment_before),
    cmocka_unit_test(the_keeper_is_asked_shortly_before_a_phase_is_shown),
});
