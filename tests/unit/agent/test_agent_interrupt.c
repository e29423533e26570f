/* test_agent_interrupt.c - a real keeper interrupts a real worker with a script in C: which call is
 * interrupted, and what follows. */
#include "unit.h"

#include "rig.h"

static void expect_timeout(struct rig *r, uint32_t worker)
{
  const struct tm_msg *f = rig_wait(r, TM_MSG_FAILED, worker);
  struct tm_failure failure;
  assert_int_equal(tm_failure_decode(&failure, f->payload, f->length, NULL), 0);
  assert_int_equal(failure.status, TM_RUN_TIMEOUT);
  assert_string_equal(failure.message, "it was stuck");
  tm_failure_release(&failure);
}

/* A worker that can be interrupted, whose script's first argument is `mode`. */
static void start(struct rig *r, const char *mode)
{
  rig_open(r, tm_hello());
  rig_wait(r, TM_MSG_HELLO, 0);
  rig_add_step(r, 0, NULL, NULL, 100 * TM_MS);
  r->argument = (char *)mode;
  r->is_interruptible = true;
  rig_start_worker(r, 0);
  rig_wait_ready(r, 0);
}

static void expect_alive(struct rig *r)
{
  char *rows = rig_wait_rows(r, 0, rig_hand(r, 0, "/next"));
  assert_string_equal(rows, "/next\n");
  free(rows);
}

static void the_worker_survives(void **state)
{
  struct rig r;
  start(&r, "recovers");
  for (int i = 0; i < 4; i++) {
    rig_hand(&r, 0, "/spin");
    expect_timeout(&r, 0);
  }
  expect_alive(&r);
  assert_false(rig_has(&r, TM_MSG_RETIRED));
  rig_close(&r);
}

static void one_that_is_enabled_later_is_interrupted_from_then_on(void **state)
{
  struct rig r;
  rig_start(&r, 100 * TM_MS);
  r.argument = (char *)"recovers";
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  expect_alive(&r);
  rig_say(&r, 0, TM_MSG_ARM, 0, NULL, 0);
  rig_say(&r, 0, TM_MSG_ARM, 0, NULL, 0); /* a second time: no effect */
  rig_hand(&r, 0, "/spin");
  expect_timeout(&r, 0);
  expect_alive(&r);
  rig_close(&r);
}

static void a_call_in_c_that_can_be_stopped_needs_no_enabling(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 100 * TM_MS);
  r.argument = (char *)"recovers";
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  rig_hand(&r, 0, "/in-c");
  expect_timeout(&r, 0);
  expect_alive(&r);
  rig_hand(&r, 0, "/spin"); /* not in such a call: it is killed */
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_TIMEOUT);
  rig_close(&r);
}

static void expect_retired(struct rig *r, const char *words)
{
  const struct tm_msg *f = rig_wait(r, TM_MSG_RETIRED, 0);
  char *text = tm_xstrndup(f->payload, f->length);
  assert_string_equal(text, words);
  free(text);
}

static void the_second_without_recover_retires_it(void **state)
{
  struct rig r;
  struct tm_ended e;
  start(&r, "");
  rig_hand(&r, 0, "/spin");
  expect_timeout(&r, 0);
  expect_alive(&r); /* a call that ends well restarts the count */
  rig_hand(&r, 0, "/spin");
  expect_timeout(&r, 0);
  assert_false(rig_has(&r, TM_MSG_RETIRED));
  rig_hand(&r, 0, "/spin");
  expect_timeout(&r, 0);
  expect_retired(&r, "it was interrupted 2 times in a row, and its script has no recover()");
  uint64_t seq = rig_hand(&r, 0, "/exit"); /* it starts no further call */
  rig_send(&r, TM_MSG_KILL, 0, 0, NULL, 0);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_KILLED);
  assert_int_equal(tm_page_states_of(&e.states, seq), TM_ASSIGNMENT_QUEUED);
  rig_close(&r);
}

static void a_recover_that_fails_retires_it(void **state)
{
  struct rig r;
  start(&r, "bad-recover");
  rig_hand(&r, 0, "/spin");
  expect_timeout(&r, 0);
  expect_retired(&r, "its recover() failed: score.c:7: not put right");
  rig_close(&r);
}

static void code_that_ignores_the_interruption_is_killed_after_the_grace(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_open(&r, tm_hello());
  rig_wait(&r, TM_MSG_HELLO, 0);
  r.grace_ns = 200 * TM_MS;
  rig_add_step(&r, 0, NULL, NULL, 100 * TM_MS);
  r.is_interruptible = true;
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  rig_hand(&r, 0, "/hang");
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_TIMEOUT);
  assert_true(e.phase_ns >= 300 * TM_MS);
  rig_close(&r);
}

/* An alarm for a call other than the current one. */
static void a_late_alarm_hits_nobody(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_open(&r, tm_hello());
  rig_wait(&r, TM_MSG_HELLO, 0);
  rig_add_step(&r, 0, NULL, NULL, 0); /* the keeper interrupts nothing */
  r.is_interruptible = true;
  pid_t pid = rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  tm_process_kill(pid, SIGALRM); /* while it waits */
  expect_alive(&r);
  rig_hand(&r, 0, "/hang");
  rig_wait_begun(&r);
  for (int i = 0; i < 20; i++)
    tm_process_kill(pid, SIGALRM);
  rig_send(&r, TM_MSG_KILL, 0, 0, NULL, 0);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_KILLED); /* none of them ended it */
  assert_false(rig_has(&r, TM_MSG_FAILED));
  rig_close(&r);
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(the_worker_survives),
    cmocka_unit_test(one_that_is_enabled_later_is_interrupted_from_then_on),
    cmocka_unit_test(a_call_in_c_that_can_be_stopped_needs_no_enabling),
    cmocka_unit_test(the_second_without_recover_retires_it),
    cmocka_unit_test(a_recover_that_fails_retires_it),
    cmocka_unit_test(code_that_ignores_the_interruption_is_killed_after_the_grace),
    cmocka_unit_test(a_late_alarm_hits_nobody),
});
