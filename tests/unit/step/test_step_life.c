/* test_step_life.c - the life of a step: its tables as a whole, usual lives, and random ones. */
#include "unit.h"

#include "fault.h"
#include "step/step_life.h"

#define LIFE(name)    tm_step_life##name
#define LIFE_OF(name) TM_STEP_##name
#include "life.h"

static bool sets_verdict(enum tm_step_life_action a)
{
  return a == TM_STEP_DO_COMPLETE || a == TM_STEP_DO_GIVE_UP || a == TM_STEP_DO_CANCEL ||
         a == TM_STEP_DO_CANCEL_NOW;
}

static bool has_verdict(enum tm_step_life_state s)
{
  return s >= TM_STEP_IS_UNSTAGING && s <= TM_STEP_IS_ENDED;
}

static bool is_committed(enum tm_step_life_state s)
{
  return s >= TM_STEP_IS_COMMITTING && s <= TM_STEP_IS_ENDED;
}

/* ---- the table as a whole ---- */

static void what_others_decide_can_come_at_any_time(void **state)
{
  static const enum tm_step_life_event any[] = { TM_STEP_ON_NODE, TM_STEP_ON_CANCEL,
                                                 TM_STEP_ON_CANCEL_NOW, TM_STEP_ON_FAIL,
                                                 TM_STEP_ON_QUIET };

  ALL_STATES(s)
  for (size_t i = 0; i < sizeof any / sizeof *any; i++)
    assert_int_equal(tm_step_life_is_possible(s, any[i]), s != TM_STEP_IS_FREED);
  ALL_STATES(s)
  assert_int_equal(tm_step_life_is_possible(s, TM_STEP_ON_CLOSE), s < TM_STEP_IS_CLOSED);
}

static void an_impossible_event_is_fatal(void **state)
{
  static struct tm_step_life l = { TM_STEP_IS_ENDED };

  expect_fault((void)tm_step_life_event(&l, TM_STEP_ON_DONE));
  assert_int_equal(l.state, TM_STEP_IS_ENDED);
}

static void a_verdict_stays_unless_the_step_fails(void **state)
{
  ALL_STATES(from)
  ALL_EVENTS(event)
  {
    enum tm_step_life_state to = from;
    if (!tm_step_life_is_possible(from, event))
      continue;
    enum tm_step_life_action a = act(&to, event);
    if (sets_verdict(a)) {
      assert_false(has_verdict(from));
      assert_true(has_verdict(to));
    }
    if (a == TM_STEP_DO_FAIL)
      assert_false(is_committed(from));
    if (has_verdict(from))
      assert_true(has_verdict(to) || to == TM_STEP_IS_CLOSED);
    else if (has_verdict(to))
      assert_true(sets_verdict(a) || a == TM_STEP_DO_FAIL);
  }
}

static void the_commit_is_finished_on_one_way_only(void **state)
{
  ALL_STATES(from)
  ALL_EVENTS(event)
  {
    enum tm_step_life_state to = from;
    if (!tm_step_life_is_possible(from, event))
      continue;
    enum tm_step_life_action a = act(&to, event);
    assert_int_equal(a == TM_STEP_DO_COMMIT, !is_committed(from) && is_committed(to));
    assert_int_equal(a == TM_STEP_DO_END, from != TM_STEP_IS_ENDED && to == TM_STEP_IS_ENDED);
    assert_int_equal(a == TM_STEP_DO_FREE, to == TM_STEP_IS_FREED);
    assert_true(from != TM_STEP_IS_CLOSED || a == TM_STEP_DO_NOTHING || a == TM_STEP_DO_FREE);
  }
}

static void what_was_taken_is_written_when_a_step_is_closed(void **state)
{
  for (enum tm_step_life_state from = 0; from < TM_STEP_IS_CLOSED; from++) {
    enum tm_step_life_state to = from;
    enum tm_step_life_action a = act(&to, TM_STEP_ON_CLOSE);
    assert_int_equal(to, TM_STEP_IS_CLOSED);
    assert_int_equal(a, may(from, TM_STEP_MAY_SYNC) ? TM_STEP_DO_FLUSH_CLOSE : TM_STEP_DO_CLOSE);
  }
}

static void permissions_follow_from_each_other(void **state)
{
  ALL_STATES(s)
  {
    assert_true(!may(s, TM_STEP_MAY_SYNC) || may(s, TM_STEP_MAY_WRITE));
    assert_true(!may(s, TM_STEP_MAY_START) || may(s, TM_STEP_MAY_RUN));
    assert_true(!may(s, TM_STEP_MAY_RUN) || (may(s, TM_STEP_MAY_SYNC) && !has_verdict(s)));
    assert_false(may(s, TM_STEP_MAY_ASK) && may(s, TM_STEP_MAY_START));
    if (is_committed(s) || s >= TM_STEP_IS_CLOSED)
      assert_false(may(s, TM_STEP_MAY_WRITE));
    if (may(s, TM_STEP_MAY_START)) {
      assert_true(tm_step_life_is_possible(s, TM_STEP_ON_STUCK));
      assert_true(tm_step_life_is_possible(s, TM_STEP_ON_DONE));
    }
    if (may(s, TM_STEP_MAY_START) || may(s, TM_STEP_MAY_ASK))
      assert_true(tm_step_life_is_possible(s, TM_STEP_ON_GIVE_UP));
  }
}

/* ---- whole lives ---- */

static void a_step_runs_commits_and_ends(void **state)
{
  LIVE(AT(STAGED, LIST, RUNNING), AT(NODE, USE_NODE, RUNNING), AT(QUIET, NOTHING, RUNNING),
       AT(DONE, COMPLETE, DRAINING), AT(QUIET, COMMIT, COMMITTING), AT(UPLOADED, END, ENDED),
       AT(QUIET, NOTHING, ENDED), AT(CLOSE, CLOSE, CLOSED), AT(RELEASED, FREE, FREED));
}

static void a_node_waits_until_inputs_are_staged(void **state)
{
  LIVE(AT(STAGING, NOTHING, STAGING), AT(NODE, NOTHING, STAGING), AT(STAGED, LIST, RUNNING),
       AT(NODE, USE_NODE, RUNNING));
}

static void a_cancel_waits_for_the_staging(void **state)
{
  LIVE(AT(STAGING, NOTHING, STAGING), AT(CANCEL, CANCEL, UNSTAGING), AT(QUIET, NOTHING, UNSTAGING),
       AT(NOT_STAGED, LOOK, DRAINING), AT(QUIET, COMMIT, COMMITTING));
}

static void staging_may_fail(void **state)
{
  LIVE(AT(STAGING, NOTHING, STAGING), AT(NOT_STAGED, FAIL, FAILING), AT(QUIET, COMMIT, COMMITTING));
}

static void an_error_during_staging_waits_for_it(void **state)
{
  LIVE(AT(STAGING, NOTHING, STAGING), AT(CANCEL, CANCEL, UNSTAGING),
       AT(FAIL, FAIL, FAILING_STAGING), AT(FAIL, KILL, FAILING_STAGING), AT(STAGED, LOOK, FAILING));
}

static void a_second_cancel_kills_and_a_third_is_the_same(void **state)
{
  LIVE(AT(STAGED, LIST, RUNNING), AT(CANCEL, CANCEL, DRAINING), AT(CANCEL, NOTHING, DRAINING),
       AT(CANCEL_NOW, KILL, DRAINING), AT(CANCEL_NOW, KILL, DRAINING), AT(FAIL, FAIL, FAILING),
       AT(FAIL, KILL, FAILING), AT(CANCEL_NOW, KILL, FAILING));
}

static void an_upload_is_canceled_only_by_force(void **state)
{
  LIVE(AT(STAGED, LIST, RUNNING), AT(DONE, COMPLETE, DRAINING), AT(QUIET, COMMIT, COMMITTING),
       AT(UPLOADING, NOTHING, UPLOADING), AT(CANCEL, NOTHING, UPLOADING),
       AT(FAIL, NOTHING, UPLOADING), AT(CANCEL_NOW, CANCEL_UPLOAD, UPLOADING),
       AT(UPLOADED, END, ENDED));
}

static void stuck_workers_are_asked_before_the_step_gives_up(void **state)
{
  LIVE(AT(STAGED, LIST, RUNNING), AT(STUCK, NOTHING, STUCK), AT(NODE, USE_NODE, STUCK),
       AT(GIVE_UP, GIVE_UP, DRAINING));
}

static void a_step_may_fail_before_it_has_begun(void **state)
{
  LIVE(AT(FAIL, FAIL, FAILING), AT(QUIET, COMMIT, COMMITTING), AT(UPLOADED, END, ENDED));
}

static void a_step_may_be_canceled_while_it_starts(void **state)
{
  LIVE(AT(CANCEL, CANCEL, DRAINING), AT(QUIET, COMMIT, COMMITTING), AT(UPLOADED, END, ENDED),
       AT(STAGED, NOTHING, ENDED));
}

static void a_step_may_be_closed_before_it_has_started(void **state)
{
  LIVE(AT(CLOSE, FLUSH_CLOSE, CLOSED), AT(RELEASED, FREE, FREED));
}

/* ---- random lives ---- */

static void note(struct story *t, enum tm_step_life_action a)
{
  t->verdicts += sets_verdict(a);
  t->fails += a == TM_STEP_DO_FAIL;
  t->commits += a == TM_STEP_DO_COMMIT;
  t->ends += a == TM_STEP_DO_END;
  t->closes += a == TM_STEP_DO_CLOSE || a == TM_STEP_DO_FLUSH_CLOSE;
  t->frees += a == TM_STEP_DO_FREE;
  assert_true(t->verdicts <= 1 && t->fails <= 1);
  assert_true(t->commits <= 1 && t->commits <= t->verdicts + t->fails);
  assert_true(t->ends <= t->commits && t->closes <= 1 && t->frees <= t->closes);
  if (t->closes > 0) /* keeps (3) */
    assert_true(a == TM_STEP_DO_CLOSE || a == TM_STEP_DO_FLUSH_CLOSE || a == TM_STEP_DO_FREE ||
                a == TM_STEP_DO_NOTHING);
}

UNIT_TESTS({
    cmocka_unit_test(every_state_and_every_action_is_reached),
    cmocka_unit_test(what_others_decide_can_come_at_any_time),
    cmocka_unit_test(nothing_is_possible_after_the_end_of_its_memory),
    cmocka_unit_test(an_impossible_event_is_fatal),
    cmocka_unit_test(a_verdict_stays_unless_the_step_fails),
    cmocka_unit_test(the_commit_is_finished_on_one_way_only),
    cmocka_unit_test(what_was_taken_is_written_when_a_step_is_closed),
    cmocka_unit_test(permissions_follow_from_each_other),
    cmocka_unit_test(a_step_runs_commits_and_ends),
    cmocka_unit_test(a_node_waits_until_inputs_are_staged),
    cmocka_unit_test(a_cancel_waits_for_the_staging),
    cmocka_unit_test(staging_may_fail),
    cmocka_unit_test(an_error_during_staging_waits_for_it),
    cmocka_unit_test(a_second_cancel_kills_and_a_third_is_the_same),
    cmocka_unit_test(an_upload_is_canceled_only_by_force),
    cmocka_unit_test(stuck_workers_are_asked_before_the_step_gives_up),
    cmocka_unit_test(a_step_may_fail_before_it_has_begun),
    cmocka_unit_test(a_step_may_be_canceled_while_it_starts),
    cmocka_unit_test(a_step_may_be_closed_before_it_has_started),
    cmocka_unit_test(random_lives_keep_the_invariants),
});
