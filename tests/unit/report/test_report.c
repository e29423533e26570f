/* test_report.c - the listener: which events reach which file and the screen; no fault of it stops
 * a job. */
#include "unit.h"

#include "report_fixture.h"

#include "record/activity.h"

#include <unistd.h>

#include "report/report.h"

#define CSV    "logs/sys/job_report/processed_mini-batches.csv"
#define MASTER "logs/sys/master_role.txt"

static struct tm_report *start(struct report_fixture *f, const struct tm_fs *fs,
                               enum tm_progress_mode mode)
{
  struct tm_report_options o = {
    .fs = fs, .events = &f->events, .writer = fixture_writer(f), .progress = mode
  };
  return tm_report_new(&o);
}

static void emit(struct report_fixture *f, enum tm_event_kind kind)
{
  struct tm_event e = fixture_event(f, kind);
  tm_events_emit(&f->events, &e);
}

static void emit_message(struct report_fixture *f, enum tm_level level, bool of_step,
                         const char *text)
{
  struct tm_event e = fixture_event(f, TM_EVENT_MESSAGE);
  e.level = level;
  e.text = text;
  e.step = of_step ? &f->step : NULL;
  tm_events_emit(&f->events, &e);
}

static void emit_node(struct report_fixture *f, enum tm_node_change change, bool is_for_logs,
                      const char *text)
{
  struct tm_event e = fixture_event(f, TM_EVENT_NODE);
  e.worker = NULL;
  e.node_id = "3";
  e.level = change == TM_NODE_IS_LOST ? TM_WARNING : TM_INFO;
  e.node_change = change;
  e.is_for_logs = is_for_logs;
  e.text = text;
  e.step = NULL;
  tm_events_emit(&f->events, &e);
}

static void fail_try(struct report_fixture *f, enum tm_status status, const char *message)
{
  f->attempt.status = status;
  f->attempt.message = message;
  emit(f, TM_EVENT_TRY_ENDED);
}

static void end(struct report_fixture *f, enum tm_verdict verdict)
{
  f->step.verdict = f->job.verdict = verdict;
  emit(f, TM_EVENT_STEP_ENDED);
  emit(f, TM_EVENT_JOB_ENDED);
}

static void a_job_leaves_its_files(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  emit(f, TM_EVENT_WORKER_STARTED);
  emit(f, TM_EVENT_TRY_ENDED);
  fail_try(f, TM_RUN_EXCEPTION, "bad");
  fail_try(f, TM_CANCELED, "canceled");
  f->now_ns += 3 * TM_S;
  end(f, TM_COMPLETED);
  char *text = fixture_read(f, CSV);
  assert_int_equal(count_of(text, "\n"), 4);
  free(text);
  text = fixture_read(f, "logs/user/error.txt");
  assert_has(text, "1 error, 1 distinct"); /* a canceled try does not count */
  free(text);
  text = fixture_read(f, "logs/job_result.txt");
  assert_has(text, "score: Completed\n");
  assert_has(text, "1 time: bad\n");
  assert_has(text, "ended 2026-01-31 23:59:58,123 UTC, after 3.00 s\n");
  free(text);
  assert_has(tm_buf_str(&f->shown), "Completed: digits, 3.00 s\n  score: Completed\n");
  assert_has(tm_buf_str(&f->shown), "1 time: bad\n");
  tm_report_free(r);
}

static void files_are_written_at_ticks(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  emit(f, TM_EVENT_TRY_ENDED);
  char *text = fixture_read(f, CSV);
  assert_string_equal(text, ""); /* a try costs no write */
  free(text);
  f->now_ns += TM_S / 10;
  emit(f, TM_EVENT_TICK);
  text = fixture_read(f, CSV);
  assert_int_equal(count_of(text, "\n"), 2);
  free(text);
  text = fixture_read(f, MASTER);
  assert_has(text, "step 'score' starts");
  free(text);
  tm_report_free(r);
}

static void a_worker_is_in_its_table_before_its_tries(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  emit(f, TM_EVENT_WORKER_STARTED);
  char *text = fixture_read(f, "logs/sys/job_report/workers.csv");
  assert_int_equal(count_of(text, "\n"), 2);
  free(text);
  tm_report_free(r);
}

static void progress_is_logged_every_ten_seconds(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  for (int i = 0; i < 250; i++) {
    f->now_ns += TM_S / 10;
    f->step.counts.created = i;
    emit(f, TM_EVENT_TICK);
  }
  char *text = fixture_read(f, MASTER);
  assert_int_equal(count_of(text, "|score: 0 of "), 2);
  free(text);
  assert_string_equal(tm_buf_str(&f->shown), "");
  tm_report_free(r);
}

/* The master log of a step whose mini-batches are created in two ticks. The caller frees it. */
static char *creation_at(struct report_fixture *f, enum tm_level level)
{
  char *path = tm_path_join(f->dir, MASTER);
  (void)unlink(path);
  free(path);
  f->step.logging_level = level;
  f->step.verdict = TM_RUNNING;
  f->step.counts = (struct tm_counts) { .created = 0 };
  f->events = (struct tm_events) { NULL }; /* the previous report's listener is gone */
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  f->step.counts = (struct tm_counts) { .created = 1, .items_created = 5 };
  emit(f, TM_EVENT_TICK);
  emit(f, TM_EVENT_TICK);
  f->step.counts =
      (struct tm_counts) { .created = 1234, .items_created = 6170, .all_created = true };
  emit(f, TM_EVENT_TICK);
  emit(f, TM_EVENT_HANDED_OUT);
  emit(f, TM_EVENT_TRY_ENDED);
  end(f, TM_COMPLETED);
  tm_report_free(r);
  return fixture_read(f, MASTER);
}

static void the_log_says_how_many_mini_batches_were_created(void **state)
{
  struct report_fixture *f = *state;
  char *text = creation_at(f, TM_INFO);
  assert_int_equal(count_of(text, " created"), 1);
  assert_has(text, "|all mini-batches have been created: 1,234, with 6,170 items\n");
  free(text);
  text = creation_at(f, TM_WARNING);
  assert_string_equal(text, "");
  free(text);
  text = creation_at(f, TM_DEBUG);
  assert_int_equal(count_of(text, " created"), 2);
  assert_int_equal(count_of(text, "|1 mini-batch has been created so far, with 5 items\n"), 1);
  assert_int_equal(count_of(text, "|mini-batch 7, try 1: "), 2);
  free(text);
}

static void warnings_are_shown_and_logged(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  emit_message(f, TM_INFO, true, "detail of the step");
  emit_message(f, TM_INFO, false, "kept: 3");
  emit_message(f, TM_WARNING, true, "careful");
  emit_message(f, TM_WARNING, true, "careful");
  emit_message(f, TM_DEBUG, false, "nobody wants this");
  assert_string_equal(tm_buf_str(&f->shown), "kept: 3\nwarning: careful\n");
  emit(f, TM_EVENT_TICK);
  char *text = fixture_read(f, MASTER);
  assert_has(text, "|detail of the step\n");
  assert_has(text, "|kept: 3\n");
  assert_int_equal(count_of(text, "|careful\n"), 2);
  free(text);
  tm_report_free(r);
}

static void a_message_after_the_end_is_not_lost(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  end(f, TM_COMPLETED);
  emit_message(f, TM_ERROR, false, "cannot write the result");
  assert_has(tm_buf_str(&f->shown), "error: cannot write the result\n");
  char *text = fixture_read(f, "logs/sys/error/supervisor.txt");
  assert_has(text, "|cannot write the result\n");
  free(text);
  tm_report_free(r);
}

static void an_init_that_fails_is_shown_once(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  struct tm_event e = fixture_event(f, TM_EVENT_INIT_FAILED);
  e.message = "no model";
  e.script_where = "score.lua:1";
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  tm_events_emit(&f->events, &e);
  tm_events_emit(&f->events, &e);
  e.failed = "loading the script";
  e.message = "no run()";
  tm_events_emit(&f->events, &e);
  assert_string_equal(tm_buf_str(&f->shown),
                      "warning: init() failed: score.lua:1: no model\n"
                      "warning: loading the script failed: score.lua:1: no run()\n");
  end(f, TM_FAILED);
  char *text = fixture_read(f, "logs/job_result.txt");
  assert_has(text, "2 times: score.lua:1: no model\n");
  free(text);
  tm_report_free(r);
}

static void messages_before_a_step_begins_are_in_its_logs(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit_message(f, TM_INFO, false, "7 mini-batches are kept");
  emit(f, TM_EVENT_STEP_STARTED);
  emit(f, TM_EVENT_TICK);
  char *text = fixture_read(f, MASTER);
  assert_has(text, "|7 mini-batches are kept\n");
  free(text);
  text = fixture_read(f, "logs/70_driver_log.txt");
  assert_has(text, "|7 mini-batches are kept\n");
  free(text);
  tm_report_free(r);
}

static void a_try_is_in_the_log_of_its_worker_and_in_the_sums(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  emit(f, TM_EVENT_TRY_ENDED);
  emit(f, TM_EVENT_TICK);
  char *text = fixture_read(f, "logs/sys/node/0/process003.txt");
  assert_int_equal(count_of(text, "|process003|mini-batch 7, try 1: RUN_DONE; "), 1);
  free(text);
  emit(f, TM_EVENT_WORKER_ENDED);
  emit(f, TM_EVENT_TRY_ENDED); /* reported after its end */
  f->now_ns += 10 * TM_S;
  emit(f, TM_EVENT_TICK);
  text = fixture_read(f, "logs/sys/node/0/process003.txt");
  assert_int_equal(count_of(text, "\n"), 2);
  free(text);
  text = fixture_read(f, "logs/sys/job_report/process_summary.csv");
  assert_has(text, "\nprocess003,0,host7,2,10,10,0,");
  free(text);
  end(f, TM_COMPLETED);
  text = fixture_read(f, "logs/job_progress_overview.txt");
  assert_has(text, "|score: Completed\n");
  assert_has(text, "/readme.txt\n");
  free(text);
  text = fixture_read(f, "logs/readme.txt");
  assert_has(text, "job_result.txt ");
  free(text);
  tm_report_free(r);
}

static void a_session_takes_the_earlier_result_away(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  end(f, TM_FAILED);
  tm_report_free(r);
  char *text = fixture_read(f, "logs/job_result.txt");
  assert_has(text, "score: Failed\n");
  free(text);
  f->events.first = NULL;
  r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  assert_null(fixture_read(f, "logs/job_result.txt"));
  end(f, TM_COMPLETED);
  tm_report_free(r);
  text = fixture_read(f, "logs/job_progress_overview.txt");
  assert_has(text, "|score: Failed\n");
  assert_has(strstr(text, "|score: Failed\n"), "|score: Completed\n");
  free(text);
}

static void tick(struct report_fixture *f, int64_t ns)
{
  f->now_ns += ns;
  emit(f, TM_EVENT_TICK);
}

static void the_newest_error_is_shown_once(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_BAR);
  emit(f, TM_EVENT_JOB_STARTED);
  f->attempt.script_where = "score.lua:3";
  fail_try(f, TM_RUN_EXCEPTION, "bad one\nsecond line");
  fail_try(f, TM_RUN_EXCEPTION, "score.lua:3: bad two");
  tick(f, TM_S / 10);
  fail_try(f, TM_RUN_EXCEPTION, "score.lua:3: bad two");
  tick(f, 10 * TM_S);
  const char *shown = tm_buf_str(&f->shown);
  assert_int_equal(count_of(shown, "warning: mini-batch 7, try 1: score.lua:3: bad two\n"), 1);
  assert_has_not(shown, "bad one"); /* a newer one came before it could be shown */
  fail_try(f, TM_RUN_EXCEPTION, "bad three\nsecond line");
  tick(f, TM_S / 10);
  fail_try(f, TM_RUN_EXCEPTION, "bad four");
  tick(f, TM_S / 10);
  shown = tm_buf_str(&f->shown);
  assert_int_equal(count_of(shown, "try 1: score.lua:3: bad three ...\n"), 1);
  assert_has_not(shown, "bad four"); /* at most one per second */
  tick(f, TM_S);
  assert_int_equal(count_of(tm_buf_str(&f->shown), "bad four\n"), 1);
  tm_report_free(r);
}

static void errors_in_a_pipe_come_every_ten_seconds(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_PLAIN);
  char message[32];
  emit(f, TM_EVENT_JOB_STARTED);
  for (int i = 0; i < 350; i++) {
    snprintf(message, sizeof(message), "bad %c%c", 'a' + i / 26, 'a' + i % 26);
    fail_try(f, TM_RUN_EXCEPTION, message);
    tick(f, TM_S / 10);
  }
  assert_int_equal(count_of(tm_buf_str(&f->shown), "warning: "), 4);
  assert_int_equal(count_of(tm_buf_str(&f->shown), " so far\n"), 3);
  tm_report_free(r);
}

static void a_full_disk_is_reported_and_the_job_continues(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_report *r;
  full_disk_init(&disk, 0);
  r = start(f, &disk.fs, TM_PROGRESS_NONE);
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  for (int i = 0; i < 30; i++) {
    f->now_ns += TM_S;
    fail_try(f, TM_RUN_EXCEPTION, "bad");
    emit(f, TM_EVENT_TICK);
  }
  end(f, TM_COMPLETED);
  const char *shown = tm_buf_str(&f->shown);
  assert_int_equal(count_of(shown, "the job continues without it"),
                   10); /* each of its ten files once */
  assert_has(
      shown,
      "processed_mini-batches.csv': no space left on device; the job continues without it\n");
  assert_has(shown, "Completed: digits");
  tm_report_free(r);
}

static void every_failing_call_leaves_the_job_alone(void **state)
{
  struct report_fixture *f = *state;
  for (int writes = 0; writes < 12; writes++) {
    struct full_disk disk;
    struct tm_report *r;
    f->events.first = NULL;
    full_disk_init(&disk, writes);
    r = start(f, &disk.fs, TM_PROGRESS_BAR);
    emit(f, TM_EVENT_JOB_STARTED);
    emit(f, TM_EVENT_STEP_STARTED);
    fail_try(f, TM_PROCESS_DIED, "killed");
    emit_message(f, TM_ERROR, true, "of the system");
    f->now_ns += TM_S;
    emit(f, TM_EVENT_TICK);
    end(f, TM_CANCELED_JOB);
    tm_report_free(r);
  }
  assert_int_equal(count_of(tm_buf_str(&f->shown), "Canceled: digits"), 12);
}

static void steps_that_were_never_opened_are_left_out(void **state)
{
  struct report_fixture *f = *state;
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_PLAIN);
  f->steps[0] = NULL; /* as in a job that was already Completed */
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_TICK);
  f->job.steps_len = 0;
  f->job.verdict = TM_COMPLETED;
  emit(f, TM_EVENT_JOB_ENDED);
  assert_has(tm_buf_str(&f->shown), "Completed: digits, 0.00 s\n  job: ");
  assert_null(fixture_read(f, MASTER));
  tm_report_free(r);
}

static void the_life_of_a_node_is_logged_and_its_loss_named(void **state)
{
  struct report_fixture *f = *state;
  struct tm_lost_node lost = { 3, (char *)"node 3 is lost: it is silent" };
  struct tm_nodes_view nodes = { .sum = { .asked = 1, .started = 1, .lost = 1 } };
  struct tm_nodes_now now = { .ready = 1, .all = 2 };
  struct tm_activities nothing = { 0 };
  struct tm_report *r = start(f, tm_fs_real(), TM_PROGRESS_NONE);
  char *dir = tm_path_join(f->dir, "nodes"), *file = tm_path_join(dir, "3.txt");
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), dir, 0700, NULL), 0);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), file, "said", 4, 0600, NULL), 0);
  nodes.now = now;
  nodes.now_of_steps = &now;
  nodes.lost.at = &lost;
  nodes.lost.len = 1;
  f->job.nodes = &nodes;
  f->step.activities = &nothing;
  emit(f, TM_EVENT_JOB_STARTED);
  emit(f, TM_EVENT_STEP_STARTED);
  emit_node(f, TM_NODE_IS_REQUESTED, true, "node 3 is requested");
  emit_node(f, TM_NODE_IS_READY, false, "node 3 is ready");
  emit_node(f, TM_NODE_IS_LOST, false, lost.why);
  assert_string_equal(tm_buf_str(&f->shown),
                      "node 3 is ready\nwarning: node 3 is lost: it is silent\n");
  emit(f, TM_EVENT_TICK);
  char *text = fixture_read(f, "logs/sys/running.json");
  assert_has(text, "\"nodes\":{\"ready\":1,\"requested\":2,\"waiting\":0}");
  free(text);
  text = fixture_read(f, MASTER);
  assert_has(text, "|INFO|");
  assert_has(text, "|supervisor|node 3 is requested\n");
  assert_has(text, "|supervisor|node 3 is lost: it is silent\n");
  free(text);
  text = fixture_read(f, "logs/sys/node/3/launcher.txt");
  assert_string_equal(text, "said"); /* though no worker of the step was there */
  free(text);
  tm_buf_clear(&f->shown);
  end(f, TM_COMPLETED);
  assert_has(tm_buf_str(&f->shown),
             "  nodes:        1 requested, 1 started, 1 lost; ready for 0.00 s in all");
  assert_has(tm_buf_str(&f->shown), "    node 3 is lost: it is silent\n      /");
  assert_has(tm_buf_str(&f->shown), "/logs/sys/node/3/launcher.txt\n");
  free(file);
  free(dir);
  tm_report_free(r);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(the_life_of_a_node_is_logged_and_its_loss_named, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_job_leaves_its_files, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(files_are_written_at_ticks, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_worker_is_in_its_table_before_its_tries, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(progress_is_logged_every_ten_seconds, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(the_log_says_how_many_mini_batches_were_created, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(warnings_are_shown_and_logged, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(a_message_after_the_end_is_not_lost, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(an_init_that_fails_is_shown_once, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(messages_before_a_step_begins_are_in_its_logs, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_try_is_in_the_log_of_its_worker_and_in_the_sums, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_session_takes_the_earlier_result_away, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(the_newest_error_is_shown_once, fixture_open, fixture_close),
    cmocka_unit_test_setup_teardown(errors_in_a_pipe_come_every_ten_seconds, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(a_full_disk_is_reported_and_the_job_continues, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(every_failing_call_leaves_the_job_alone, fixture_open,
                                    fixture_close),
    cmocka_unit_test_setup_teardown(steps_that_were_never_opened_are_left_out, fixture_open,
                                    fixture_close),
});
