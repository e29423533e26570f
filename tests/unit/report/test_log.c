/* test_log.c - the supervisor's log of a step, line by line, and the file that exists only after
 * errors of the system. */
#include "unit.h"

#include "report_fixture.h"

#include <unistd.h>

#include "report/log.h"

#define MASTER "logs/sys/master_role.txt"
#define SYSTEM "logs/sys/error/supervisor.txt"

static void add(struct tm_log *l, struct report_fixture *f, enum tm_event_kind kind,
                enum tm_level level, const char *text)
{
  struct tm_event e = fixture_event(f, kind);
  struct tm_err err = TM_ERR_NONE;
  e.level = level;
  e.text = e.message = text;
  assert_int_equal(tm_log_add_event(l, &e, &err), 0);
}

static void each_event_has_a_line(void **state)
{
  struct report_fixture *f = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_log l;
  char line[256];
  assert_int_equal(tm_log_open(&l, tm_fs_real(), f->logs, TM_INFO, &err), 0);
  add(&l, f, TM_EVENT_STEP_STARTED, TM_INFO, "");
  add(&l, f, TM_EVENT_WORKER_STARTED, TM_INFO, "");
  add(&l, f, TM_EVENT_WORKER_READY, TM_INFO, "");
  add(&l, f, TM_EVENT_INIT_FAILED, TM_INFO, "no model");
  add(&l, f, TM_EVENT_WORKER_ENDED, TM_WARNING, "killed by signal 9");
  add(&l, f, TM_EVENT_MESSAGE, TM_INFO, "a message");
  add(&l, f, TM_EVENT_MESSAGE, TM_DEBUG, "a detail");
  add(&l, f, TM_EVENT_TRY_ENDED, TM_INFO, "");
  f->step.verdict = TM_FAILED;
  f->step.cause = "too many";
  add(&l, f, TM_EVENT_STEP_ENDED, TM_INFO, "");
  snprintf(line, sizeof(line),
           "2026-01-31 23:59:58,123|WARNING|%d|supervisor|process003 (node 0, pid 4711) ended: "
           "killed by signal 9\n",
           (int)l.pid);
  assert_int_equal(tm_log_flush(&l, &err), 0);
  char *text = fixture_read(f, MASTER);
  assert_int_equal(count_of(text, "\n"), 7);
  assert_has(text, "|step 'score' starts: script 'score.lua', 2 workers at most\n");
  assert_has(text, "|INFO|");
  assert_has(text, "|process003 (node 0, pid 4711) started\n");
  assert_has(text, "|process003 (node 0, pid 4711) is ready\n");
  assert_has(text, "|process003 (node 0, pid 4711) init() failed: no model\n");
  assert_has(text, line);
  assert_has(text, "|supervisor|a message\n");
  assert_has(text, "|step 'score' is Failed: 0 mini-batches,");
  assert_has(text, "; cause: too many\n");
  free(text);
  assert_null(fixture_read(f, SYSTEM));
  assert_int_equal(tm_log_close(&l, &err), 0);
}

/* The master log at a level, with two messages and the events of a mini-batch. The caller frees it.
 */
static char *log_at(struct report_fixture *f, enum tm_level level)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_log l;
  char *path = tm_path_join(f->dir, MASTER);
  (void)unlink(path);
  free(path);
  assert_int_equal(tm_log_open(&l, tm_fs_real(), f->logs, level, &err), 0);
  add(&l, f, TM_EVENT_STEP_STARTED, TM_INFO, "");
  add(&l, f, TM_EVENT_MESSAGE, TM_DEBUG, "a detail");
  add(&l, f, TM_EVENT_MESSAGE, TM_WARNING, "a warning");
  add(&l, f, TM_EVENT_HANDED_OUT, TM_INFO, "");
  add(&l, f, TM_EVENT_TRY_ENDED, TM_INFO, "");
  assert_int_equal(tm_log_close(&l, &err), 0);
  return fixture_read(f, MASTER);
}

static void the_level_decides_which_lines_are_written(void **state)
{
  struct report_fixture *f = *state;
  char *text = log_at(f, TM_WARNING);
  assert_int_equal(count_of(text, "\n"), 1);
  assert_has(text, "|WARNING|");
  free(text);
  text = log_at(f, TM_INFO);
  assert_int_equal(count_of(text, "\n"), 2);
  assert_has_not(text, "|DEBUG|");
  free(text);
  text = log_at(f, TM_DEBUG);
  assert_int_equal(count_of(text, "\n"), 5);
  assert_has(text, "|supervisor|a detail\n");
  assert_has(text, "|supervisor|mini-batch 7, try 1: handed to process003, 5 items of input "
                   "'images', first '/data/a.pgm'\n");
  assert_has(text, "|supervisor|mini-batch 7, try 1: RUN_DONE, by process003 in 1.235 s: 5 items, "
                   "5 succeeded, 0 failed\n");
  free(text);
}

/* A try as the log shows it: succeeded, failed and left items add up to all of them. */
static void the_items_of_a_try_add_up(void **state)
{
  (void)state;
  struct tm_attempt a = {
    .status = TM_RUN_EXCEPTION, .items = 5, .dataset = "", .first_item = "/a", .first_item_len = 2
  };
  struct tm_buf text = TM_BUF_NONE;
  assert_int_equal(tm_attempt_left(&a), 5);
  a.succeeded = 2;
  assert_int_equal(tm_attempt_left(&a), 3);
  a.status = TM_CANCELED;
  assert_int_equal(tm_attempt_left(&a), 0);
  a = (struct tm_attempt) { .is_final = true, .items = 5, .failed = 5 };
  assert_int_equal(tm_attempt_left(&a), 0);
  a = (struct tm_attempt) { .items = 1, .dataset = "", .first_item = "/abc", .first_item_len = 2 };
  tm_attempt_add_input(&text, &a);
  assert_string_equal(text.data, "1 item, first '/a'");
  tm_buf_clear(&text);
  a.items = 0;
  a.dataset = "rows";
  tm_attempt_add_input(&text, &a);
  assert_string_equal(text.data, "of input 'rows', first '/a'");
  tm_buf_release(&text);
}

static void errors_of_the_system_have_a_file(void **state)
{
  struct report_fixture *f = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_log l;
  assert_int_equal(tm_log_open(&l, tm_fs_real(), f->logs, TM_INFO, &err), 0);
  add(&l, f, TM_EVENT_MESSAGE, TM_ERROR, "no descriptor left");
  add(&l, f, TM_EVENT_MESSAGE, TM_ERROR, "again");
  assert_int_equal(tm_log_close(&l, &err), 0);
  char *text = fixture_read(f, SYSTEM);
  assert_has(text, "|ERROR|");
  assert_has(text, "|no descriptor left\n");
  assert_has(text, "|again\n");
  free(text);
  text = fixture_read(f, MASTER);
  assert_has(text, "|no descriptor left\n");
  free(text);
  assert_int_equal(tm_log_close(&l, &err), 0);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(each_event_has_a_line, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(the_level_decides_which_lines_are_written, fixture_open,
                                    fixture_close),
    cmocka_unit_test(the_items_of_a_try_add_up),
    cmocka_unit_test_setup_teardown(errors_of_the_system_have_a_file, fixture_open, fixture_close),
});
