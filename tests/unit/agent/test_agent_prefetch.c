/* test_agent_prefetch.c - a real worker with a script in C that has prefetch(): when it is called,
 * and when the work that it has started is dropped. */
#include "unit.h"

#include <sys/stat.h>

#include "rig.h"

/* What is handed out before the worker is ready has arrived, in one piece, when it begins the
 * first: rig_wait_ready() sends it with the settings. */
static void start(struct rig *r, bool is_interruptible)
{
  rig_open(r, tm_hello());
  rig_wait(r, TM_MSG_HELLO, 0);
  r->load_timeout_ns = is_interruptible ? 100 * TM_MS : 60 * TM_S;
  rig_add_step(r, 0, NULL, NULL, 60 * TM_S);
  r->argument = (char *)"prefetch";
  r->is_interruptible = is_interruptible;
  rig_start_worker(r, 0);
}

static void expect_rows(struct rig *r, uint64_t seq, const char *expected)
{
  char *rows = rig_wait_rows(r, 0, seq);
  assert_string_equal(rows, expected);
  free(rows);
}

static void expect_failed(struct rig *r, uint64_t seq, enum tm_status status, const char *message)
{
  const struct tm_msg *f = rig_wait(r, TM_MSG_FAILED, 0);
  struct tm_failure failure;
  assert_int_equal(tm_failure_decode(&failure, f->payload, f->length, NULL), 0);
  assert_int_equal(failure.head.seq, seq);
  assert_int_equal(failure.status, status);
  assert_string_equal(failure.message, message);
  assert_string_equal(failure.where, "score.c:7");
  tm_failure_release(&failure);
}

static void it_is_called_once_for_each_and_before_the_run_in_front(void **state)
{
  struct rig r;
  start(&r, false);
  uint64_t a = rig_hand(&r, 0, "/a"), b = rig_hand(&r, 0, "/b"), c = rig_hand(&r, 0, "/c");
  rig_wait_ready(&r, 0);
  expect_rows(&r, a, "prefetch /a\nprefetch /b\n/a\n");
  expect_rows(&r, b, "prefetch /c\n/b\n");
  expect_rows(&r, c, "/c\n");
  expect_rows(&r, rig_hand(&r, 0, "/d"), "prefetch /d\n/d\n"); /* nothing was behind it */
  rig_close(&r);
}

static void what_was_started_for_one_that_is_taken_back_is_dropped(void **state)
{
  struct rig r;
  char seq[8];
  start(&r, false);
  char *go = tm_xprintf("%s/go", r.dir);
  assert_int_equal(mkfifo(go, 0600), 0);
  rig_hand(&r, 0, "/block");
  tm_put_u64(seq, rig_hand(&r, 0, "/b"));
  rig_hand(&r, 0, "/c");
  rig_wait_ready(&r, 0);
  rig_wait_begun(&r);
  rig_send(&r, TM_MSG_TAKE_BACK, 0, 0, seq, sizeof(seq));
  rig_wait(&r, TM_MSG_TAKEN, 0);
  close(open(go, O_WRONLY));
  expect_rows(&r, 1, "prefetch /block\nprefetch /b\n/block\n");
  expect_rows(&r, 3, "drop 2\nprefetch /c\n/c\n");
  free(go);
  rig_close(&r);
}

static void an_error_fails_its_own_mini_batch_without_run(void **state)
{
  struct rig r;
  start(&r, false);
  rig_hand(&r, 0, "/bad-ahead");
  rig_hand(&r, 0, "/a");
  rig_hand(&r, 0, "/bad-ahead");
  rig_hand(&r, 0, "/c");
  rig_wait_ready(&r, 0);
  expect_failed(&r, 1, TM_RUN_EXCEPTION, "prefetch() failed: nothing to start");
  expect_rows(&r, 2, "prefetch /bad-ahead\nprefetch /a\nprefetch /bad-ahead\n/a\n");
  expect_failed(&r, 3, TM_RUN_EXCEPTION, "prefetch() failed: nothing to start");
  expect_rows(&r, 4, "prefetch /c\n/c\n");
  rig_close(&r);
}

static void a_failed_run_does_not_touch_what_was_started_for_the_next_one(void **state)
{
  struct rig r;
  start(&r, false);
  rig_hand(&r, 0, "/fail");
  rig_hand(&r, 0, "/b");
  rig_wait_ready(&r, 0);
  expect_failed(&r, 1, TM_RUN_EXCEPTION, "it failed\nfor a reason");
  expect_rows(&r, 2, "/b\n");
  rig_close(&r);
}

/* What fails may be what takes its worker down: nothing else is in danger beside it. */
static void a_second_try_is_alone(void **state)
{
  struct rig r;
  start(&r, false);
  rig_hand(&r, 0, "/a");
  r.try = 2;
  rig_hand(&r, 0, "/b");
  r.try = 1;
  rig_hand(&r, 0, "/c");
  rig_wait_ready(&r, 0);
  expect_rows(&r, 1, "prefetch /a\n/a\n");
  r.try = 2;
  expect_rows(&r, 2, "prefetch /b\n/b\n");
  r.try = 1;
  expect_rows(&r, 3, "prefetch /c\n/c\n");
  rig_close(&r);
}

static void one_that_hangs_is_interrupted_and_the_one_in_front_runs(void **state)
{
  struct rig r;
  start(&r, true);
  rig_hand(&r, 0, "/a");
  rig_hand(&r, 0, "/stuck-ahead");
  rig_hand(&r, 0, "/c");
  rig_wait_ready(&r, 0);
  expect_rows(&r, 1, "prefetch /a\nprefetch /stuck-ahead\n/a\n");
  expect_failed(&r, 2, TM_LOAD_TIMEOUT, "it was stuck");
  expect_rows(&r, 3, "prefetch /c\n/c\n");
  rig_close(&r);
}

static void one_that_hangs_and_cannot_be_interrupted_costs_the_worker(void **state)
{
  struct rig r;
  struct tm_ended e;
  struct tm_buf words = TM_BUF_NONE;
  rig_open(&r, tm_hello());
  rig_wait(&r, TM_MSG_HELLO, 0);
  r.load_timeout_ns = 100 * TM_MS;
  rig_add_step(&r, 0, NULL, NULL, 60 * TM_S);
  r.argument = (char *)"prefetch";
  rig_start_worker(&r, 0);
  rig_hand(&r, 0, "/a");
  rig_hand(&r, 0, "/stuck-ahead");
  rig_wait_ready(&r, 0);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_TIMEOUT);
  assert_int_equal(e.view.phase, TM_PHASE_PREFETCH);
  assert_int_equal(e.view.seq, 1);
  assert_int_equal(tm_page_states_of(&e.states, 1), TM_ASSIGNMENT_BEGUN);
  assert_int_equal(tm_page_states_of(&e.states, 2), TM_ASSIGNMENT_QUEUED);
  tm_ended_describe(&words, &e);
  if (!strstr(words.data, "prefetch() took longer than task_overhead_timeout"))
    fail_msg("%s", words.data);
  tm_buf_release(&words);
  rig_close(&r);
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(it_is_called_once_for_each_and_before_the_run_in_front),
    cmocka_unit_test(what_was_started_for_one_that_is_taken_back_is_dropped),
    cmocka_unit_test(an_error_fails_its_own_mini_batch_without_run),
    cmocka_unit_test(a_failed_run_does_not_touch_what_was_started_for_the_next_one),
    cmocka_unit_test(a_second_try_is_alone),
    cmocka_unit_test(one_that_hangs_is_interrupted_and_the_one_in_front_runs),
    cmocka_unit_test(one_that_hangs_and_cannot_be_interrupted_costs_the_worker),
});
