/* When Slurm is asked about nodes, and how long its answer is waited for. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "slurm/slurm_question.h"

/* ---- of all nodes ---- */

/* At `ms` one node waits or none, and a question is due or not. */
struct moment {
  int64_t ms;
  bool waits, is_due, has_ended; /* has_ended: the question that ran, right before */
  enum tm_slurm_ask expected;
};

static void follow(const struct moment *m, size_t len)
{
  struct tm_slurm_asking a = { 0 };

  for (size_t i = 0; i < len; i++) {
    int64_t now_ns = m[i].ms * TM_MS;
    if (m[i].has_ended)
      tm_slurm_asking_ended(&a);
    if (tm_slurm_asking_next(&a, m[i].waits, m[i].is_due ? now_ns : INT64_MAX, now_ns) !=
        m[i].expected)
      fail_msg("at %d ms", (int)m[i].ms);
  }
}

#define FOLLOW(...)                                                                                \
  follow((const struct moment[]) { __VA_ARGS__ },                                                  \
         TM_COUNT_OF(((const struct moment[]) { __VA_ARGS__ })))

static void nobody_is_asked_if_no_node_waits(void **state)
{
  FOLLOW({ .ms = 1 }, { .ms = 5001 }, { .ms = 60000 });
}

static void while_nodes_wait_it_is_asked_after_5_s_and_then_each_30_s(void **state)
{
  FOLLOW({ .ms = 1000, .waits = true }, { .ms = 5999, .waits = true },
         { .ms = 6000, .waits = true, .expected = TM_SLURM_ASK_ALL },
         { .ms = 6010, .waits = true, .has_ended = true }, { .ms = 35999, .waits = true },
         { .ms = 36000, .waits = true, .expected = TM_SLURM_ASK_ALL },
         { .ms = 36010, .waits = true, .has_ended = true }, { .ms = 66000 },
         /* none has waited meanwhile: it begins again */
         { .ms = 66100, .waits = true }, { .ms = 71000, .waits = true },
         { .ms = 71100, .waits = true, .expected = TM_SLURM_ASK_ALL });
}

static void other_questions_do_not_move_the_one_about_waiting_nodes(void **state)
{
  FOLLOW({ .ms = 0, .waits = true },
         { .ms = 10, .waits = true, .is_due = true, .expected = TM_SLURM_ASK_DUE },
         { .ms = 20, .waits = true, .has_ended = true }, { .ms = 4999, .waits = true },
         { .ms = 5000, .waits = true, .is_due = true, .expected = TM_SLURM_ASK_ALL },
         { .ms = 5010, .waits = true, .has_ended = true });
}

static void one_question_runs_at_a_time_and_for_20_s_at_most(void **state)
{
  FOLLOW({ .ms = 0, .is_due = true, .expected = TM_SLURM_ASK_DUE }, { .ms = 1, .is_due = true },
         { .ms = 19999, .is_due = true }, { .ms = 20000, .expected = TM_SLURM_ASK_END },
         { .ms = 20100, .expected = TM_SLURM_ASK_END },
         { .ms = 20200, .is_due = true, .has_ended = true, .expected = TM_SLURM_ASK_DUE });
}

/* ---- of one node ---- */

static const struct tm_slurm_job runs = { .state = TM_SLURM_RUNS },
                                 ends = { .state = TM_SLURM_ENDS },
                                 canceled = { .state = TM_SLURM_CANCELED };

static void a_start_is_asked_about_once(void **state)
{
  struct tm_slurm_question q = { 0 };

  assert_true(tm_slurm_question_is_settled(&q, 4));
  tm_slurm_question_start(&q, 5);
  assert_false(tm_slurm_question_is_settled(&q, 5 + TM_SLURM_START_NS - 1));
  assert_true(tm_slurm_question_is_settled(&q, 5 + TM_SLURM_START_NS));
  assert_int_equal(q.state, TM_SLURM_QUESTION_DUE);
  assert_int_equal(q.due_ns, 5);
  assert_false(tm_slurm_question_answered(&q, &runs, 6)); /* of another question */
  tm_slurm_question_asked(&q);
  assert_true(tm_slurm_question_answered(&q, &ends, 7));
  assert_int_equal(q.state, TM_SLURM_QUESTION_NONE);
  assert_true(tm_slurm_question_is_settled(&q, 7));
}

static void an_end_is_asked_about_when_the_command_has_ended(void **state)
{
  struct tm_slurm_question q = { 0 };

  tm_slurm_question_end(&q, false, 0);
  assert_int_equal(q.due_ns, TM_SLURM_COMMAND_NS);
  tm_slurm_question_end(&q, true, 20 * TM_MS);
  assert_int_equal(q.due_ns, 20 * TM_MS);
  tm_slurm_question_asked(&q);
  assert_false(tm_slurm_question_is_settled(&q, 30 * TM_MS));
  assert_true(tm_slurm_question_answered(&q, &canceled, 30 * TM_MS));
  assert_true(tm_slurm_question_is_settled(&q, 30 * TM_MS));
  tm_slurm_question_end(&q, true, TM_S); /* it is settled */
  tm_slurm_question_start(&q, TM_S);
  assert_int_equal(q.state, TM_SLURM_QUESTION_OVER);
}

/* Slurm has not noticed that the machine is dead. */
static void a_slurm_job_that_runs_has_no_reason(void **state)
{
  struct tm_slurm_question q = { 0 };

  tm_slurm_question_end(&q, false, 0);
  tm_slurm_question_asked(&q);
  assert_true(tm_slurm_question_answered(&q, &runs, TM_SLURM_COMMAND_NS));
  assert_true(tm_slurm_question_is_settled(&q, TM_SLURM_COMMAND_NS));
}

static void an_answer_that_was_on_its_way_is_too_old(void **state)
{
  struct tm_slurm_question q = { 0 };

  tm_slurm_question_start(&q, 0);
  tm_slurm_question_asked(&q);
  tm_slurm_question_end(&q, true, 5);
  assert_false(tm_slurm_question_answered(&q, &runs, 6));
  assert_int_equal(q.state, TM_SLURM_QUESTION_DUE);
}

static void no_answer_is_waited_for_3_s(void **state)
{
  struct tm_slurm_question q = { 0 };

  tm_slurm_question_end(&q, true, TM_S);
  tm_slurm_question_asked(&q);
  assert_false(tm_slurm_question_is_settled(&q, TM_S + TM_SLURM_ANSWER_NS - 1));
  assert_true(tm_slurm_question_is_settled(&q, TM_S + TM_SLURM_ANSWER_NS));
}

static void a_slurm_job_that_still_ends_is_asked_about_again_for_10_s(void **state)
{
  struct tm_slurm_question q = { 0 };
  int64_t now_ns = 0, questions = 0;

  tm_slurm_question_end(&q, true, now_ns);
  while (!tm_slurm_question_is_settled(&q, now_ns)) {
    tm_slurm_question_asked(&q);
    questions++;
    assert_false(tm_slurm_question_answered(&q, &ends, now_ns));
    assert_true(q.due_ns > now_ns && q.due_ns - now_ns <= TM_SLURM_AGAIN_MAX_NS);
    now_ns = q.due_ns;
  }
  assert_in_range(now_ns, TM_SLURM_ENDING_NS, TM_SLURM_ENDING_NS + TM_S);
  assert_in_range(questions, 10, 15);
}

static void a_slurm_job_that_is_gone_has_no_reason(void **state)
{
  struct tm_slurm_question q = { 0 };

  tm_slurm_question_end(&q, true, 0);
  tm_slurm_question_asked(&q);
  assert_true(tm_slurm_question_answered(&q, NULL, 1));
  assert_true(tm_slurm_question_is_settled(&q, 1));
}

UNIT_TESTS({
    cmocka_unit_test(nobody_is_asked_if_no_node_waits),
    cmocka_unit_test(while_nodes_wait_it_is_asked_after_5_s_and_then_each_30_s),
    cmocka_unit_test(other_questions_do_not_move_the_one_about_waiting_nodes),
    cmocka_unit_test(one_question_runs_at_a_time_and_for_20_s_at_most),
    cmocka_unit_test(a_start_is_asked_about_once),
    cmocka_unit_test(an_end_is_asked_about_when_the_command_has_ended),
    cmocka_unit_test(a_slurm_job_that_runs_has_no_reason),
    cmocka_unit_test(an_answer_that_was_on_its_way_is_too_old),
    cmocka_unit_test(no_answer_is_waited_for_3_s),
    cmocka_unit_test(a_slurm_job_that_still_ends_is_asked_about_again_for_10_s),
    cmocka_unit_test(a_slurm_job_that_is_gone_has_no_reason),
});
