/* test_host_job.c - a host's job, from pipeline to result: the order of events, and refusals. */
#include "host.h"

static void a_pipeline_file_runs_and_its_rows_can_be_read(void **state)
{
  struct host h;
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  struct stat st;
  host_setup(&h, "good", 5, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  assert_int_equal(h.events, 0);
  assert_int_equal(tidemill_job_state(h.job), TIDEMILL_STATE_RUNNING);
  assert_int_equal(tidemill_job_exit_status(h.job), -1);
  assert_null(tidemill_job_result(h.job));
  host_wait(&h);
  assert_int_equal(tidemill_job_state(h.job), TIDEMILL_STATE_COMPLETED);
  assert_int_equal(tidemill_job_exit_status(h.job), 0);
  assert_string_equal(tidemill_job_cause(h.job), "");
  assert_string_equal(tidemill_job_name(h.job), "case");
  assert_int_equal(h.states, 2);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(h.done, 5);
  assert_true(h.progress >= 1 && h.ready >= 1 && h.ended >= h.ready);
  assert_non_null(strstr(tidemill_job_result(h.job), "\"status\":\"Completed\""));
  assert_int_equal(tidemill_job_steps_len(h.job), 1);
  assert_int_equal(tidemill_job_step(h.job, 0, &step, &h.err), 0);
  assert_string_equal(step.name, "score");
  assert_int_equal(step.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(step.counts->items_succeeded, 5);
  assert_int_equal(stat(step.output_file, &st), 0);
  assert_int_equal(st.st_size, 5 * strlen("good.000\n"));
  assert_int_equal(tidemill_job_step(h.job, 1, &step, &h.err), TIDEMILL_EUSAGE);
  host_end(&h);
}

static void a_failure_is_reported_with_its_line(void **state)
{
  struct host h;
  host_setup(&h, "good", 2, "bad", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(tidemill_job_state(h.job), TIDEMILL_STATE_COMPLETED); /* -1 tolerates all */
  assert_int_equal(h.retried, 1);
  assert_int_equal(h.given_up, 1);
  assert_non_null(strstr(h.text, "score.lua:10: no good: bad.000"));
  const struct tidemill_counts *counts = tidemill_job_counts(h.job);
  assert_true(counts->all_created);
  assert_int_equal(counts->created, 3);
  assert_int_equal(counts->failed, 1);
  assert_int_equal(counts->items_failed, 1);
  host_end(&h);
}

static void a_pipeline_is_text_and_has_parameters(void **state)
{
  struct host h;
  char name[256], text[1200];
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "none.lua", name);
  snprintf(text, sizeof text, host_text, h.dir);
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, text, name, &h.err));
  assert_string_equal(tidemill_pipeline_name(h.pipeline), "case");
  assert_int_equal(tidemill_pipeline_set_param(h.pipeline, "worker", "1", &h.err), 0);
  assert_int_equal(tidemill_pipeline_check(h.pipeline, &h.err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(h.err.text, "did you mean 'workers'"));
  tidemill_pipeline_free(h.pipeline);
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, text, name, &h.err));
  tidemill_pipeline_set_param(h.pipeline, "workers", "2", &h.err);
  tidemill_pipeline_set_param(h.pipeline, "workers", "1", &h.err);
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_wait(&h);
  assert_int_equal(h.done, 3);
  assert_int_equal(h.ready, 1);
  host_end(&h);
}

static void expect_refused(struct host *h, const char *text, int code, const char *words)
{
  struct tidemill_pipeline *p;
  char name[256];
  host_path(h, "p.lua", name);
  int rc = tidemill_pipeline_load_string(&p, h->rt, text, name, &h->err);
  if (rc == 0)
    rc = tidemill_pipeline_check(p, &h->err);
  assert_int_equal(rc, code);
  if (!strstr(h->err.text, words))
    fail_msg("'%s' is not in '%s'", words, h->err.text);
  tidemill_pipeline_free(p);
  assert_true(tidemill_pipeline_load_string(&p, h->rt, "return 1", name, NULL) < 0);
}

static const char *const reads_stdin =
    "local t = require 'tidemill'\n"
    "return t.Pipeline { name = 'case', steps = { t.ParallelRunStep { name = 'score',\n"
    "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua' },\n"
    "  inputs = t.Dataset.File.from_manifest '-' } } }\n";

static void a_definition_that_is_wrong_is_refused_with_its_place(void **state)
{
  struct host h;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  expect_refused(&h, "return 5", TIDEMILL_EUSAGE, "a pipeline file ends with");
  expect_refused(&h, "return (", TIDEMILL_EUSAGE, "p.lua:1");
  expect_refused(&h, "\nerror 'no'", TIDEMILL_EUSAGE, "p.lua:2: no");
  expect_refused(&h, "return require'tidemill'.Pipeline{nam = 'x'}", TIDEMILL_EUSAGE,
                 "did you mean 'name'");
  assert_int_equal(tidemill_pipeline_load(&h.pipeline, h.rt, "/nonexistent/p.lua", &h.err),
                   TIDEMILL_EUSAGE);
  assert_null(h.pipeline);
  char name[256];
  host_path(&h, "p.lua", name);
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, reads_stdin, name, &h.err));
  assert_int_equal(tidemill_job_submit(&h.job, h.pipeline, NULL, &h.err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(h.err.text, "standard input, which is the host's"));
  tidemill_pipeline_free(h.pipeline);
  host_put(&h, "score.lua", "function run(");
  host_load(&h);
  assert_int_equal(tidemill_job_submit(&h.job, h.pipeline, NULL, &h.err), TIDEMILL_ESCRIPT);
  assert_non_null(strstr(h.err.text, "score.lua:1"));
  assert_null(h.job);
  host_end(&h);
}

static void a_wait_has_a_limit_and_a_canceled_job_is_resumed(void **state)
{
  struct host h;
  char dir[256];
  host_setup(&h, "good", 2, "wait", 1, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "it's --resume", dir); /* the library does not read a user's name as an option */
  h.options.dir = dir;
  host_submit(&h);
  assert_int_equal(tidemill_job_wait(h.job, 0, &h.err), -ETIMEDOUT);
  while (h.ready == 0)
    assert_int_equal(tidemill_job_wait(h.job, 10, &h.err), -ETIMEDOUT);
  tidemill_job_cancel(h.job, true);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_CANCELED);
  assert_int_equal(tidemill_job_exit_status(h.job), 130);
  tidemill_job_cancel(h.job, true); /* the job has ended: no effect */
  tidemill_job_close(h.job);
  assert_int_equal(tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(h.err.text, "contains a job already; resume it with `resume`"));
  assert_non_null(strstr(h.err.text, "/it's --resume' contains"));
  assert_null(strstr(h.err.text, "--job-dir"));
  host_go(&h, 1);
  host_must(&h, tidemill_job_resume(&h.job, h.rt, dir, &h.options, &h.err));
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(h.done, 3); /* committed items do not run again */
  tidemill_job_close(h.job);
  h.options.resume = true;
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_wait(&h);
  assert_int_equal(h.done, 3);
  assert_non_null(strstr(tidemill_job_result(h.job), "Completed"));
  host_end(&h);
}

static void a_job_resumes_with_its_own_copy_of_the_script(void **state)
{
  struct host h;
  char dir[256];
  host_setup(&h, "good", 1, "wait", 1, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "job", dir);
  h.options.dir = dir;
  host_submit(&h);
  while (h.done == 0)
    assert_int_equal(tidemill_job_wait(h.job, 10, &h.err), -ETIMEDOUT);
  tidemill_job_close(h.job);
  h.job = NULL;
  host_put(&h, "score.lua", "function run(");
  assert_int_equal(tidemill_job_resume(&h.job, h.rt, dir, &h.options, &h.err), TIDEMILL_ESCRIPT);
  host_put(&h, "score.lua", "function run() return { 'other' } end");
  assert_int_equal(tidemill_job_resume(&h.job, h.rt, dir, &h.options, &h.err), TIDEMILL_ECHANGED);
  assert_non_null(strstr(h.err.text, "`accept_changes`"));
  assert_non_null(strstr(h.err.text, "`keep_script`"));
  h.options.keep_script = true;
  host_go(&h, 1);
  host_must(&h, tidemill_job_resume(&h.job, h.rt, dir, &h.options, &h.err));
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(h.done, 2);
  host_end(&h);
}

static void running_mini_batches_may_end_when_a_job_is_canceled(void **state)
{
  struct host h;
  host_setup(&h, "wait", 300, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  tidemill_pipeline_set_param(h.pipeline, "workers", "1", NULL);
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  while (h.ready == 0)
    assert_int_equal(tidemill_job_wait(h.job, 10, NULL), -ETIMEDOUT);
  tidemill_job_cancel(h.job, false);
  host_go(&h, 3);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_CANCELED);
  assert_true(h.done <= 3 && h.given_up == 0 && h.retried == 0);
  host_end(&h);
}

/* Any process that sees the directory may send the request; here it is the same process. */
static void a_job_is_canceled_by_a_request_in_its_directory(void **state)
{
  struct host h;
  struct tidemill_cancel *c = NULL;
  host_setup(&h, "wait", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  while (h.ready == 0)
    assert_int_equal(tidemill_job_wait(h.job, 10, NULL), -ETIMEDOUT);
  host_must(&h, tidemill_cancel_new(&c, NULL, tidemill_job_dir(h.job), true, &h.err));
  const struct tidemill_cancel_info *info = tidemill_cancel_info(c);
  assert_true(info->is_asked && !info->is_taken && !info->has_ended && info->pid == getpid());
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_CANCELED);
  host_must(&h, tidemill_cancel_look(c, &h.err)); /* before the job is closed */
  assert_true(info->has_ended && info->state == TIDEMILL_STATE_CANCELED);
  tidemill_cancel_free(c);

  host_must(&h, tidemill_cancel_new(&c, NULL, tidemill_job_dir(h.job), true, &h.err));
  info = tidemill_cancel_info(c);
  assert_true(!info->is_asked && info->has_ended && info->state == TIDEMILL_STATE_CANCELED);
  tidemill_cancel_free(c);
  assert_int_equal(tidemill_cancel_new(&c, NULL, "none", true, &h.err), TIDEMILL_EUSAGE);
  assert_null(c);
  assert_int_equal(tidemill_cancel_new(NULL, NULL, "none", true, &h.err), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_cancel_look(NULL, &h.err), TIDEMILL_EUSAGE);
  assert_null(tidemill_cancel_info(NULL));
  tidemill_cancel_free(NULL);
  host_end(&h);
}

static void a_job_that_runs_is_closed(void **state)
{
  struct host h;
  host_setup(&h, "wait", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  while (h.ready == 0)
    tidemill_job_wait(h.job, 10, NULL);
  tidemill_job_close(h.job);
  int events = h.events;
  host_must(&h, tidemill_runtime_run(h.rt, HOST_LIMIT_MS, &h.err)); /* no job is running */
  assert_int_equal(h.events, events);
  h.job = NULL;
  host_end(&h);
}

static void close_with_the_first_worker(struct host *h, const struct tidemill_event *e)
{
  if (e->worker_state != TIDEMILL_WORKER_READY)
    return;
  assert_int_equal(tidemill_job_wait(h->job, 10, &h->err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(h->err.text, "within a callback"));
  assert_int_equal(tidemill_runtime_turn(h->rt, &h->err), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_runtime_close(h->rt, &h->err), TIDEMILL_EUSAGE);
  tidemill_job_close(h->job);
  h->job = NULL;
}

static void from_a_callback_a_job_is_closed_and_the_loop_is_not_turned(void **state)
{
  struct host h;
  host_setup(&h, "good", 1, "wait", 1, NULL);
  host_runtime(&h, NULL);
  h.on_event = close_with_the_first_worker;
  host_submit(&h);
  assert_int_equal(tidemill_job_wait(h.job, HOST_LIMIT_MS, &h.err), -ECANCELED);
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  h.ready = 0;
  host_must(&h, tidemill_runtime_run(h.rt, HOST_LIMIT_MS, &h.err));
  assert_null(h.job);
  assert_int_equal(h.ready, 1); /* no event arrives afterwards */
  host_end(&h);
}

static void a_runtime_is_closed_when_its_pipelines_are_freed(void **state)
{
  struct host h;
  host_setup(&h, "wait", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  assert_int_equal(tidemill_runtime_close(h.rt, &h.err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(h.err.text, "tidemill_pipeline_free"));
  tidemill_pipeline_free(h.pipeline); /* the job has all that it needs */
  h.pipeline = NULL;
  while (h.ready == 0)
    tidemill_job_wait(h.job, 10, NULL);
  host_must(&h, tidemill_runtime_close(h.rt, &h.err)); /* closes the job too */
  h.rt = NULL;
  h.job = NULL;
  host_end(&h);
}

static void options_without_a_size_are_refused(void **state)
{
  struct tidemill_runtime_options o = { 0 };
  struct tidemill_runtime *rt;
  struct host h;
  assert_int_equal(tidemill_runtime_new(&rt, &o, NULL), TIDEMILL_EUSAGE);
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  h.options.size = 0;
  assert_int_equal(tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(h.err.text, "TIDEMILL_JOB_OPTIONS_INIT"));
  assert_int_equal(tidemill_job_resume(&h.job, h.rt, "latest", &h.options, NULL), TIDEMILL_EUSAGE);
  h.options.size =
      offsetof(struct tidemill_job_options, on_event); /* of a host built with an older header */
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_wait(&h);
  assert_int_equal(h.events, 0);
  host_end(&h);
}

static void without_a_program_there_is_no_runtime(void **state)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tidemill_runtime *rt;
  struct tidemill_error err;
  o.program = "/nonexistent/tidemill";
  assert_int_equal(tidemill_runtime_new(&rt, &o, &err), -ENOENT);
  assert_non_null(strstr(err.text, "'/nonexistent/tidemill'"));
  assert_null(rt);
  o.program = "/bin/true"; /* the keeper cannot start */
  struct host h;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, &o);
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_FAILED);
  assert_int_equal(tidemill_job_exit_status(h.job), 3);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_pipeline_file_runs_and_its_rows_can_be_read),
    cmocka_unit_test(a_failure_is_reported_with_its_line),
    cmocka_unit_test(a_pipeline_is_text_and_has_parameters),
    cmocka_unit_test(a_definition_that_is_wrong_is_refused_with_its_place),
    cmocka_unit_test(a_wait_has_a_limit_and_a_canceled_job_is_resumed),
    cmocka_unit_test(a_job_resumes_with_its_own_copy_of_the_script),
    cmocka_unit_test(running_mini_batches_may_end_when_a_job_is_canceled),
    cmocka_unit_test(a_job_is_canceled_by_a_request_in_its_directory),
    cmocka_unit_test(a_job_that_runs_is_closed),
    cmocka_unit_test(from_a_callback_a_job_is_closed_and_the_loop_is_not_turned),
    cmocka_unit_test(a_runtime_is_closed_when_its_pipelines_are_freed),
    cmocka_unit_test(options_without_a_size_are_refused),
    cmocka_unit_test(without_a_program_there_is_no_runtime),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
