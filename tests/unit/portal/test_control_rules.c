/* test_control_rules.c - what the portal may do with a job, and when. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "portal/control_rules.h"

static int check(enum tm_control_action action, enum tidemill_state state)
{
  const char *words = NULL;
  int status = tm_control_check(action, state, &words);
  assert_int_equal(status != 0, *words != '\0');
  return status;
}

static void each_state_has_its_actions(void **state)
{
  static const struct {
    enum tidemill_state state;
    int cancel, resume, only_failed;
    enum tm_control_action offer;
  } cases[] = {
    { TIDEMILL_STATE_RUNNING, 0, 409, 409, TM_CONTROL_CANCEL },
    { TIDEMILL_STATE_COMPLETED, 409, 409, 0, TM_CONTROL_NONE },
    { TIDEMILL_STATE_FAILED, 409, 0, 0, TM_CONTROL_RESUME },
    { TIDEMILL_STATE_CANCELED, 409, 0, 0, TM_CONTROL_RESUME },
    { TIDEMILL_STATE_INTERRUPTED, 409, 0, 409, TM_CONTROL_RESUME },
    { TIDEMILL_STATE_WAITING, 409, 409, 409, TM_CONTROL_NONE },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    assert_int_equal(check(TM_CONTROL_CANCEL, cases[i].state), cases[i].cancel);
    assert_int_equal(check(TM_CONTROL_CANCEL_NOW, cases[i].state), cases[i].cancel);
    assert_int_equal(check(TM_CONTROL_RESUME, cases[i].state), cases[i].resume);
    assert_int_equal(check(TM_CONTROL_ONLY_FAILED, cases[i].state), cases[i].only_failed);
    assert_int_equal(check(TM_CONTROL_REPLAY, cases[i].state), 0);
    assert_int_equal(check(TM_CONTROL_NONE, cases[i].state), 404);
    assert_int_equal(tm_control_offer(cases[i].state, false), cases[i].offer);
  }
  assert_int_equal(tm_control_offer(TIDEMILL_STATE_RUNNING, true), TM_CONTROL_CANCEL_NOW);
  assert_int_equal(tm_control_offer(TIDEMILL_STATE_CANCELED, true), TM_CONTROL_RESUME);
}

static void actions_have_names(void **state)
{
  for (int i = TM_CONTROL_CANCEL; i <= TM_CONTROL_REPLAY; i++)
    assert_int_equal(tm_control_action_of(tm_control_name((enum tm_control_action)i)), i);
  static const char *const others[] = {
    "", "Cancel", "cancel ", "remove", "resume\n", "only_failed"
  };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_int_equal(tm_control_action_of(others[i]), TM_CONTROL_NONE);
}

static void only_what_needs_no_decision_is_resumed(void **state)
{
  const char *words;
  assert_true(tm_control_resumes(TIDEMILL_RESUME_BY_JOB, &words));
  for (int way = TIDEMILL_RESUME_BY_ACCEPTING; way <= TIDEMILL_RESUME_NEVER; way++) {
    assert_false(tm_control_resumes((enum tidemill_resume_way)way, &words));
    assert_true(*words != '\0');
  }
}

static void only_mini_batches_that_a_step_has_are_replayed(void **state)
{
  static const struct {
    int64_t created, number;
    int status;
  } cases[] = {
    { 1, 0, 0 },
    { 1, 1, 404 },
    { 3, 2, 0 },
    { 3, -1, 404 },
    { 0, 0, 404 },
    { -1, 0, 404 },
    { -1, INT64_MAX, 404 },
    { 3, INT64_MAX, 404 },
    { 3, INT64_MIN, 404 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    const char *words = NULL;
    int status = tm_control_check_mini_batch(cases[i].created, cases[i].number, &words);
    assert_int_equal(status, cases[i].status);
    assert_int_equal(status != 0, *words != '\0');
  }
}

UNIT_TESTS({
    cmocka_unit_test(each_state_has_its_actions),
    cmocka_unit_test(actions_have_names),
    cmocka_unit_test(only_what_needs_no_decision_is_resumed),
    cmocka_unit_test(only_mini_batches_that_a_step_has_are_replayed),
});
