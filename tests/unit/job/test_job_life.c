/* test_job_life.c - the life of a job: its tables as a whole, usual lives, and random ones. */
#include "unit.h"

#include "fault.h"
#include "job/job_life.h"

#define LIFE(name)    tm_job_life##name
#define LIFE_OF(name) TM_JOB_##name
#include "life.h"

static bool is_end(enum tm_job_life_action a)
{
  return a == TM_JOB_DO_CONCLUDE || a == TM_JOB_DO_REPEAT_END || a == TM_JOB_DO_REFUSE ||
         a == TM_JOB_DO_STOP_RECHECK;
}

static bool is_over(enum tm_job_life_state s)
{
  return s == TM_JOB_IS_ENDED || s == TM_JOB_IS_REFUSED;
}

static bool has_processes(enum tm_job_life_state s)
{
  return may(s, TM_JOB_MAY_RUN) || s == TM_JOB_IS_ENDING;
}

/* ---- the table as a whole ---- */

static void a_job_can_be_canceled_and_closed_at_any_time(void **state)
{
  ALL_STATES(s)
  {
    assert_int_equal(tm_job_life_is_possible(s, TM_JOB_ON_CANCEL), s != TM_JOB_IS_FREED);
    assert_int_equal(tm_job_life_is_possible(s, TM_JOB_ON_CANCEL_NOW), s != TM_JOB_IS_FREED);
    assert_int_equal(tm_job_life_is_possible(s, TM_JOB_ON_CLOSE), s < TM_JOB_IS_CLOSED);
  }
}

static void an_impossible_event_is_fatal(void **state)
{
  static struct tm_job_life l = { TM_JOB_IS_RUNNING };

  expect_fault((void)tm_job_life_event(&l, TM_JOB_ON_START));
  assert_int_equal(l.state, TM_JOB_IS_RUNNING);
}

static void a_job_ends_on_its_ways_only(void **state)
{
  ALL_STATES(from)
  ALL_EVENTS(event)
  {
    enum tm_job_life_state to = from;
    if (!tm_job_life_is_possible(from, event))
      continue;
    enum tm_job_life_action a = act(&to, event);
    assert_int_equal(is_end(a), !is_over(from) && is_over(to));
    if (is_over(from))
      assert_true(to == from || to == TM_JOB_IS_CLOSED);
    assert_int_equal(a == TM_JOB_DO_END, may(from, TM_JOB_MAY_RUN) && to == TM_JOB_IS_ENDING);
    assert_int_equal(a == TM_JOB_DO_CONCLUDE, from == TM_JOB_IS_ENDING && is_over(to));
    assert_true(!may(from, TM_JOB_MAY_RUN) || !is_over(to));
    if (event == TM_JOB_ON_CLOSE)
      assert_int_equal(a, has_processes(from) ? TM_JOB_DO_CLOSE_EARLY : TM_JOB_DO_CLOSE);
    assert_int_equal(a == TM_JOB_DO_FREE, to == TM_JOB_IS_FREED);
    assert_true(from != TM_JOB_IS_CLOSED || a == TM_JOB_DO_NOTHING || a == TM_JOB_DO_FREE);
  }
}

static void nothing_begins_in_a_job_that_was_canceled(void **state)
{
  ALL_STATES(from)
  {
    enum tm_job_life_state to = from;
    assert_true(!may(from, TM_JOB_MAY_BEGIN) || may(from, TM_JOB_MAY_RUN));
    if (from == TM_JOB_IS_FREED)
      continue;
    (void)act(&to, TM_JOB_ON_CANCEL);
    assert_false(may(to, TM_JOB_MAY_BEGIN));
    assert_int_equal(may(from, TM_JOB_MAY_RUN), may(to, TM_JOB_MAY_RUN));
  }
}

static void a_refused_job_has_no_result(void **state)
{
  for (enum tm_job_life_state s = 0; s < TM_JOB_IS_CLOSED; s++)
    assert_int_equal(may(s, TM_JOB_MAY_RESULT), s != TM_JOB_IS_REFUSED);
}

/* ---- whole lives ---- */

static void a_job_runs_and_ends(void **state)
{
  LIVE(AT(START, START, OPENED), AT(STARTED, RUN, RUNNING), AT(DONE, END, ENDING),
       AT(DONE, NOTHING, ENDING), AT(GONE, CONCLUDE, ENDED), AT(GONE, NOTHING, ENDED),
       AT(CLOSE, CLOSE, CLOSED), AT(RELEASED, FREE, FREED));
}

static void a_cancel_before_the_start_counts_when_it_has_started(void **state)
{
  LIVE(AT(CANCEL, NOTE_CANCEL, CANCELED), AT(CANCEL, NOTHING, CANCELED), AT(START, START, CANCELED),
       AT(STARTED, RUN_CANCELED, CANCELING), AT(DONE, END, ENDING));
}

static void a_listener_may_cancel_while_the_job_starts(void **state)
{
  LIVE(AT(START, START, OPENED), AT(CANCEL, NOTE_CANCEL, CANCELED),
       AT(STARTED, RUN_CANCELED, CANCELING));
}

static void a_second_cancel_may_kill(void **state)
{
  LIVE(AT(START, START, OPENED), AT(STARTED, RUN, RUNNING), AT(CANCEL, CANCEL, CANCELING),
       AT(CANCEL, CANCEL, CANCELING), AT(CANCEL_NOW, CANCEL_NOW, CANCELING), AT(DONE, END, ENDING),
       AT(CANCEL, NOTHING, ENDING));
}

static void a_job_waits_for_the_end_of_its_keepers(void **state)
{
  LIVE(AT(START, START, OPENED), AT(STARTED, RUN, RUNNING), AT(DONE, END, ENDING),
       AT(CANCEL, NOTHING, ENDING), AT(CANCEL_NOW, NOTHING, ENDING), AT(GONE, CONCLUDE, ENDED),
       AT(CLOSE, CLOSE, CLOSED));
}

static void a_job_can_be_closed_while_its_keepers_end(void **state)
{
  LIVE(AT(START, START, OPENED), AT(STARTED, RUN, RUNNING), AT(DONE, END, ENDING),
       AT(CLOSE, CLOSE_EARLY, CLOSED), AT(GONE, NOTHING, CLOSED), AT(RELEASED, FREE, FREED));
}

static void a_completed_job_repeats_its_result(void **state)
{
  LIVE(AT(KEPT, NOTHING, KEPT), AT(START, RECHECK, KEPT), AT(SAME, REPEAT, REPEATING),
       AT(CANCEL, NOTHING, REPEATING), AT(DONE, REPEAT_END, ENDED));
}

static void inputs_of_a_completed_job_may_have_changed(void **state)
{
  LIVE(AT(KEPT, NOTHING, KEPT), AT(START, RECHECK, KEPT), AT(RECHECKING, NOTHING, RECHECKING),
       AT(CHANGED, REFUSE, REFUSED), AT(CANCEL, NOTHING, REFUSED), AT(CLOSE, CLOSE, CLOSED));
}

static void a_job_may_be_killed_at_once(void **state)
{
  LIVE(AT(START, START, OPENED), AT(STARTED, RUN, RUNNING), AT(CANCEL_NOW, CANCEL_NOW, CANCELING),
       AT(DONE, END, ENDING));
}

static void the_comparison_of_inputs_can_be_canceled(void **state)
{
  LIVE(AT(KEPT, NOTHING, KEPT), AT(START, RECHECK, KEPT), AT(RECHECKING, NOTHING, RECHECKING),
       AT(CANCEL, STOP_RECHECK, REFUSED), AT(CLOSE, CLOSE, CLOSED), AT(RELEASED, FREE, FREED));
}

/* ---- random lives ---- */

static void note(struct story *t, enum tm_job_life_action a)
{
  assert_true(t->closes == 0 || a == TM_JOB_DO_NOTHING || a == TM_JOB_DO_FREE); /* keeps (3) */
  t->ends += is_end(a);
  t->closes += a == TM_JOB_DO_CLOSE || a == TM_JOB_DO_CLOSE_EARLY;
  t->frees += a == TM_JOB_DO_FREE;
  assert_true(t->ends <= 1 && t->closes <= 1 && t->frees <= t->closes); /* keeps (1) */
}

UNIT_TESTS({
    cmocka_unit_test(every_state_and_every_action_is_reached),
    cmocka_unit_test(a_job_can_be_canceled_and_closed_at_any_time),
    cmocka_unit_test(nothing_is_possible_after_the_end_of_its_memory),
    cmocka_unit_test(an_impossible_event_is_fatal),
    cmocka_unit_test(a_job_ends_on_its_ways_only),
    cmocka_unit_test(nothing_begins_in_a_job_that_was_canceled),
    cmocka_unit_test(a_refused_job_has_no_result),
    cmocka_unit_test(a_job_runs_and_ends),
    cmocka_unit_test(a_cancel_before_the_start_counts_when_it_has_started),
    cmocka_unit_test(a_listener_may_cancel_while_the_job_starts),
    cmocka_unit_test(a_second_cancel_may_kill),
    cmocka_unit_test(a_job_may_be_killed_at_once),
    cmocka_unit_test(a_job_waits_for_the_end_of_its_keepers),
    cmocka_unit_test(a_job_can_be_closed_while_its_keepers_end),
    cmocka_unit_test(a_completed_job_repeats_its_result),
    cmocka_unit_test(inputs_of_a_completed_job_may_have_changed),
    cmocka_unit_test(the_comparison_of_inputs_can_be_canceled),
    cmocka_unit_test(random_lives_keep_the_invariants),
});
