/* test_stuck.c - asking workers where their init() hangs: how long, and what the cause then tells.
 */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "step/stuck.h"

static void begin(struct tm_stuck *s)
{
  struct tm_err why = TM_ERR_NONE;

  tm_err_set(&why, TM_ESCRIPT, "no worker got through init()");
  tm_stuck_begin(s, &why, 100 * TM_S);
}

static void the_question_ends_with_the_last_worker_or_the_time(void **state)
{
  struct tm_stuck s = { 0 };

  begin(&s);
  assert_false(tm_stuck_is_over(&s, 1, 5 * TM_S, 100 * TM_S));
  assert_true(tm_stuck_is_over(&s, 0, 5 * TM_S, 100 * TM_S));
  assert_false(tm_stuck_is_over(&s, 3, 5 * TM_S, 107 * TM_S - 1));
  assert_true(tm_stuck_is_over(&s, 3, 5 * TM_S, 107 * TM_S));
  tm_stuck_release(&s);
}

static void without_an_answer_the_rule_is_the_cause(void **state)
{
  struct tm_stuck s = { 0 };
  struct tm_err cause = TM_ERR_NONE;

  begin(&s);
  tm_stuck_note(&s, "process000", "");
  tm_stuck_cause(&s, "/logs", &cause);
  assert_int_equal(cause.code, TM_ESCRIPT);
  assert_string_equal(cause.text, "no worker got through init()");
  tm_stuck_release(&s);
}

static void the_cause_tells_the_first_four_answers(void **state)
{
  struct tm_stuck s = { 0 };
  struct tm_err cause = TM_ERR_NONE;

  begin(&s);
  tm_stuck_note(&s, "process000", "score.lua:3");
  tm_stuck_note(&s, "process001", "score.lua:4");
  tm_stuck_cause(&s, "/logs", &cause);
  assert_string_equal(cause.text, "no worker got through init(); process000 was at score.lua:3, "
                                  "process001 was at score.lua:4; the stacks are in "
                                  "'/logs/user/error/'");
  tm_stuck_note(&s, "process002", "score.lua:3");
  tm_stuck_note(&s, "process003", "score.lua:3");
  tm_stuck_note(&s, "process004", "score.lua:3");
  tm_stuck_cause(&s, "/logs", &cause);
  assert_non_null(strstr(cause.text, "process003 was at score.lua:3, ...; the stacks"));
  assert_null(strstr(cause.text, "process004"));
  tm_stuck_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(the_question_ends_with_the_last_worker_or_the_time),
    cmocka_unit_test(without_an_answer_the_rule_is_the_cause),
    cmocka_unit_test(the_cause_tells_the_first_four_answers),
});
