/* test_driver_log.c - the log of how a session was started. */
#include "unit.h"

#include "report_fixture.h"

#include "report/driver_log.h"

#define LOG "logs/70_driver_log.txt"

static const char effective[] =
    "{\"name\":\"score\",\"settings\":{"
    "\"mini_batch_size\":{\"value\":5,\"origin\":\"parameter\",\"parameter\":\"size\"},"
    "\"run_max_try\":{\"value\":3,\"origin\":\"default\"},"
    "\"entry_script\":{\"value\":\"/s/score.lua\",\"origin\":\"file\"},"
    "\"environment_variables\":{\"value\":[\"COLOUR\"],\"origin\":\"file\"}},"
    "\"parameters\":{\"size\":{\"value\":5,\"origin\":\"--param\"}},"
    "\"inputs\":[{\"kind\":\"files\",\"paths\":[\"in/*\"]}],\"arguments\":[\"--fast\",\"a\\nb\"]}";

static void session(struct report_fixture *f)
{
  struct tm_driver_log d;
  struct tm_event e = fixture_event(f, TM_EVENT_JOB_STARTED);
  struct tm_json *v = tm_json_parse(effective, sizeof(effective) - 1, NULL);
  assert_non_null(v);
  f->step.effective = v;
  assert_int_equal(tm_driver_log_open(&d, tm_fs_real(), &e, &f->step, NULL), 0);
  e = fixture_event(f, TM_EVENT_MESSAGE);
  e.text = "3 mini-batches are kept";
  tm_driver_log_add(&d, &e);
  e.level = TM_DEBUG;
  e.text = "node 1 is started with: srun";
  tm_driver_log_add(&d, &e);
  e = fixture_event(f, TM_EVENT_STEP_ENDED);
  f->step.verdict = TM_FAILED;
  f->step.cause = "too many";
  tm_driver_log_add(&d, &e);
  assert_int_equal(tm_driver_log_flush(&d, NULL), 0);
  assert_int_equal(tm_driver_log_close(&d, NULL), 0);
  tm_json_free(v);
}

static void it_says_what_started_with_which_settings(void **state)
{
  struct report_fixture *f = *state;
  session(f);
  char *text = fixture_read(f, LOG);
  assert_has(text, "|supervisor|tidemill " TM_VERSION " starts a job: pid ");
  assert_has(text, "|pipeline 'digits': /p.lua\n");
  assert_has(text, "|step 'score': script score.lua, 2 workers at most\n");
  assert_has(text, "|output: /out/rows.txt\n");
  assert_has(text, "|parameter size = 5 (--param)\n");
  assert_has(text, "|setting mini_batch_size = 5 (parameter size)\n");
  assert_has(text, "|setting run_max_try = 3 (default)\n");
  assert_has(text, "|setting entry_script = \"/s/score.lua\" (file)\n");
  assert_has(text, "|setting environment_variables = [\"COLOUR\"] (file)\n");
  assert_has(text, "|input 1: {\"kind\":\"files\",\"paths\":[\"in/*\"]}\n");
  assert_has(text, "|argument 1: \"--fast\"\n");
  assert_has(text, "|argument 2: \"a\\nb\"\n");
  assert_has(text, "|INFO|");
  assert_has(text, "|3 mini-batches are kept\n");
  assert_has(text, "|DEBUG|");
  assert_has(text, "|node 1 is started with: srun\n");
  assert_has(text, "|step 'score' is Failed: too many\n");
  free(text);
}

static void each_session_is_kept(void **state)
{
  struct report_fixture *f = *state;
  session(f);
  f->job.is_resumed = true;
  session(f);
  char *text = fixture_read(f, LOG);
  assert_int_equal(count_of(text, "setting run_max_try"), 2);
  assert_has(text, "starts a job");
  assert_has(strstr(text, "starts a job"), "resumes a job");
  free(text);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_open, fixture_close)
UNIT_TESTS({
    TEST(it_says_what_started_with_which_settings),
    TEST(each_session_is_kept),
});
