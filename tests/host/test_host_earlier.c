/* test_host_earlier.c - what a job takes from earlier jobs and from files: values of parameters,
 * the failed items, the pipeline itself. */
#include "host.h"

static void holds(const char *text, const char *words)
{
  if (!strstr(text, words))
    fail_msg("'%s' is not in '%s'", words, text);
}

static void lacks(const char *text, const char *words)
{
  if (strstr(text, words))
    fail_msg("'%s' is in '%s'", words, text);
}

static void keep_log(enum tidemill_level level, const char *text, void *data)
{
  struct host *h = data;
  strncat(h->log, text, sizeof(h->log) - strlen(h->log) - 1);
  strncat(h->log, "\n", sizeof(h->log) - strlen(h->log) - 1);
}

static void setup(struct host *h)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  o.on_log = keep_log;
  o.data = h;
  host_runtime(h, &o);
}

/* The plan of the pipeline, as text. */
static const char *plan(struct host *h)
{
  const char *text;
  host_must(h, tidemill_pipeline_plan(&text, h->pipeline, NULL, &h->err));
  return text;
}

/* Runs its job to the end and closes it; writes its directory into 256 bytes. */
static void run(struct host *h, char *dir)
{
  host_must(h, tidemill_job_submit(&h->job, h->pipeline, &h->options, &h->err));
  host_wait(h);
  snprintf(dir, 256, "%s", tidemill_job_dir(h->job));
  tidemill_job_close(h->job);
  h->job = NULL;
}

static void again(struct host *h)
{
  tidemill_pipeline_free(h->pipeline);
  host_load(h);
}

static void parameters_come_out_of_a_file(void **state)
{
  struct host h;
  char path[256];
  host_setup(&h, "good", 1, NULL);
  setup(&h);
  host_load(&h);
  host_put(&h, "values.json", "{\"workers\": 3}");
  host_path(&h, "values.json", path);
  host_must(&h, tidemill_pipeline_set_params_file(h.pipeline, path, &h.err));
  holds(plan(&h), "workers                  3  (");
  holds(plan(&h), "values.json)");
  host_must(&h, tidemill_pipeline_set_param(h.pipeline, "workers", "1", &h.err));
  holds(plan(&h), "workers                  1  (");
  host_put(&h, "values.lua", "return { workers = 2 + 2 }");
  host_path(&h, "values.lua", path);
  host_must(&h, tidemill_pipeline_set_params_file(h.pipeline, path, &h.err));
  holds(plan(&h), "workers                  4  (");
  host_end(&h);
}

static void invalid_parameter_files_are_refused(void **state)
{
  struct host h;
  char path[256];
  host_setup(&h, "good", 1, NULL);
  setup(&h);
  host_load(&h);
  host_path(&h, "none.json", path);
  host_expect(&h, tidemill_pipeline_set_params_file(h.pipeline, path, &h.err), TIDEMILL_EUSAGE,
              "none.json': no such file");
  host_put(&h, "list.json", "[1]");
  host_path(&h, "list.json", path);
  host_expect(&h, tidemill_pipeline_set_params_file(h.pipeline, path, &h.err), TIDEMILL_EUSAGE,
              "holds no names with values");
  host_put(&h, "other.json", "{\"walkers\": 3}");
  host_path(&h, "other.json", path);
  host_must(&h, tidemill_pipeline_set_params_file(h.pipeline, path, &h.err));
  host_expect(&h, tidemill_pipeline_check(h.pipeline, &h.err), TIDEMILL_EUSAGE, "walkers");
  host_expect(&h, tidemill_pipeline_set_params_file(NULL, path, &h.err), TIDEMILL_EUSAGE,
              "`p` is NULL");
  host_end(&h);
}

/* A job resumes with the values in its record, except for those that the host sets again. */
static void a_job_resumes_as_its_record_says(void **state)
{
  struct host h;
  char first[256], second[256];
  host_setup(&h, "wait", 1, "xgood", 2, NULL);
  setup(&h);
  host_load(&h);
  host_must(&h, tidemill_pipeline_set_param(h.pipeline, "workers", "3", &h.err));
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  while (h.rows < 2 * 10) /* rows of the two items that do not wait are committed */
    assert_int_equal(tidemill_job_wait(h.job, 10, &h.err), -ETIMEDOUT);
  snprintf(first, sizeof first, "%s", tidemill_job_dir(h.job));
  tidemill_job_close(h.job); /* interrupted */
  h.job = NULL;
  tidemill_pipeline_free(h.pipeline);
  host_must(&h, tidemill_pipeline_load_job(&h.pipeline, h.rt, first, &h.err));
  assert_string_equal(tidemill_pipeline_name(h.pipeline), "case");
  holds(plan(&h), "workers                  3  (the job's record)");
  host_must(&h, tidemill_pipeline_set_param(h.pipeline, "workers", "2", &h.err));
  h.options.resume = true;
  host_go(&h, 1);
  run(&h, second);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_string_equal(first, second);
  assert_int_equal(h.done, 3); /* committed items do not run again */
  tidemill_pipeline_free(h.pipeline);
  host_expect(&h, tidemill_pipeline_load_job(&h.pipeline, h.rt, "none", &h.err), TIDEMILL_EUSAGE,
              "none");
  assert_null(h.pipeline);
  host_end(&h);
}

static void options_of_resume_are_refused_without_it(void **state)
{
  struct host h;
  host_setup(&h, "good", 1, NULL);
  setup(&h);
  host_load(&h);
  h.options.verify_input = true;
  host_expect(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), TIDEMILL_EUSAGE,
              "`verify_input` goes with `resume`, or with --resume_from");
  h.options.verify_input = false;
  h.options.verify_output = true;
  host_expect(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), TIDEMILL_EUSAGE,
              "`verify_output` goes with `resume`");
  host_end(&h);
}

/* Uses the recorded values and reports the differences. */
static void a_job_is_like_an_earlier_one(void **state)
{
  struct host h;
  char first[256], second[256];
  host_setup(&h, "good", 2, NULL);
  setup(&h);
  host_load(&h);
  host_must(&h, tidemill_pipeline_set_param(h.pipeline, "workers", "3", &h.err));
  run(&h, first);
  char text[1200];
  snprintf(text, sizeof text, host_text, "other");
  host_put(&h, "pipeline.lua", text);
  again(&h);
  host_must(&h, tidemill_pipeline_set_like(h.pipeline, first, &h.err));
  assert_string_equal(h.log, "");
  holds(plan(&h), "workers                  3  (job case-");
  holds(h.log, "step 'score': arguments[1] was \"/tmp/");
  holds(h.log, ", and is \"other\"\n");
  lacks(h.log, "process_count");
  h.log[0] = '\0';
  host_must(&h, tidemill_pipeline_set_param(h.pipeline, "workers", "1", &h.err));
  run(&h, second);
  assert_string_not_equal(first, second);
  holds(h.log, "step 'score': process_count_per_node was 3, and is 1\n");
  host_expect(&h, tidemill_pipeline_set_like(h.pipeline, "none", &h.err), TIDEMILL_EUSAGE,
              "`like`: ");
  host_end(&h);
}

static void only_failed_items_are_run(void **state)
{
  struct host h;
  char first[256], second[256];
  host_setup(&h, "good", 3, "bad", 2, NULL);
  setup(&h);
  host_load(&h);
  run(&h, first);
  assert_int_equal(h.done, 3);
  host_put(&h, "score.lua", "function run(files) return files end");
  again(&h);
  assert_int_equal(tidemill_pipeline_set_only_failed(h.pipeline, first, &h.err),
                   TIDEMILL_ONLY_FAILED_SOME);
  holds(plan(&h), "step 'score': 2 mini-batches, 2 items\n");
  h.done = 0;
  run(&h, second);
  assert_int_equal(h.done, 2);
  again(&h); /* in the second job no item has failed */
  assert_int_equal(tidemill_pipeline_set_only_failed(h.pipeline, second, &h.err),
                   TIDEMILL_ONLY_FAILED_NONE);
  holds(h.err.text, "nothing to do: no item failed in job '");
  host_expect(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), TIDEMILL_ENOINPUT,
              "nothing to do");
  again(&h); /* a job like the second gets its items */
  host_must(&h, tidemill_pipeline_set_like(h.pipeline, second, &h.err));
  holds(plan(&h), "2 items\n");
  host_expect(&h, tidemill_pipeline_set_only_failed(h.pipeline, "none", &h.err), TIDEMILL_EUSAGE,
              "`only_failed`: ");
  host_end(&h);
}

/* The same when the host submits its pipeline again, with the directory. */
static void a_job_over_failed_items_resumes_with_the_same_items(void **state)
{
  struct host h;
  char first[256], second[256];
  host_setup(&h, "good", 2, "bad", 1, NULL);
  setup(&h);
  host_load(&h);
  run(&h, first);
  again(&h);
  assert_int_equal(tidemill_pipeline_set_only_failed(h.pipeline, first, &h.err),
                   TIDEMILL_ONLY_FAILED_SOME);
  run(&h, second);
  again(&h);
  h.options.dir = second;
  h.options.resume = true;
  h.done = h.given_up = 0;
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_wait(&h);
  assert_int_equal(h.done, 0);
  assert_int_equal(h.given_up, 1);
  host_end(&h);
}

/* ---- the command that runs failed items again ---- */

static struct tidemill_record *open_record(struct host *h, const char *dir)
{
  struct tidemill_record *r = NULL;
  host_must(h, tidemill_record_open(&r, NULL, dir, &h->err));
  return r;
}

static void refuses(struct host *h, const char *dir, const char *words)
{
  const struct tidemill_rerun *rerun = (const void *)h;
  struct tidemill_record *r = open_record(h, dir);
  host_expect(h, tidemill_record_rerun(r, &rerun, &h->err), TIDEMILL_EUSAGE, words);
  assert_null(rerun);
  tidemill_record_close(r);
}

static void expect_words(const char *const *argv, const char *const *words)
{
  for (size_t i = 0; words[i]; i++, argv++) {
    assert_non_null(*argv);
    assert_string_equal(*argv, words[i]);
  }
  assert_null(*argv);
}

static void failed_items_of_a_pipeline_file_have_a_command(void **state)
{
  struct host h;
  char dir[256], text[600];
  const struct tidemill_rerun *rerun;
  host_setup(&h, "good", 2, "bad", 1, NULL);
  setup(&h);
  host_load(&h);
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_wait(&h);
  snprintf(dir, sizeof dir, "%s", tidemill_job_dir(h.job));
  refuses(&h, dir, "is still running");
  tidemill_job_close(h.job);
  h.job = NULL;
  struct tidemill_record *r = open_record(&h, dir);
  host_must(&h, tidemill_record_rerun(r, &rerun, &h.err));
  assert_int_equal(rerun->size, sizeof *rerun);
  const char *file = tidemill_record_info(r)->file;
  const char *const words[] = { "tidemill", "run", file, "--only-failed", dir, NULL };
  expect_words(rerun->argv, words);
  assert_string_equal(rerun->directory, "");
  snprintf(text, sizeof text, "tidemill run %s --only-failed %s", file, dir);
  assert_string_equal(rerun->text, text);
  host_must(&h, tidemill_record_rerun(r, &rerun, &h.err)); /* again */
  expect_words(rerun->argv, words);
  host_expect(&h, tidemill_record_rerun(NULL, &rerun, &h.err), TIDEMILL_EUSAGE, "`r` is NULL");
  host_expect(&h, tidemill_record_rerun(r, NULL, &h.err), TIDEMILL_EUSAGE, "`out` is NULL");
  host_must(&h, tidemill_record_trust(r, &h.err));
  assert_int_equal(chmod(dir, 0770), 0);
  host_expect(&h, tidemill_record_trust(r, &h.err), TIDEMILL_EUSAGE, "other users can write to it");
  assert_int_equal(chmod(dir, 0700), 0);
  assert_int_equal(unlink(strcat(dir, "/job_result.json")), 0);
  *strrchr(dir, '/') = '\0';
  refuses(&h, dir, "was interrupted");
  tidemill_record_close(r);
  host_end(&h);
}

static void a_job_without_failed_items_has_none(void **state)
{
  struct host h;
  char dir[256];
  host_setup(&h, "good", 1, NULL);
  setup(&h);
  host_load(&h);
  run(&h, dir);
  refuses(&h, dir, "no item failed in job '");
  host_end(&h);
}

/* Puts `word` in the place of "-N" in the record. */
static void put_word(const char *dir, const char *record, const char *word)
{
  char path[300];
  const char *at = strstr(record, "\"-N\"");
  assert_non_null(at);
  snprintf(path, sizeof path, "%s/job.json", dir);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, "%.*s\"%s\"%s", (int)(at - record), record, word, at + 4);
  assert_int_equal(fclose(f), 0);
}

/* The command of a job without a pipeline file is what its record holds. */
static void a_recorded_command_is_given_again_as_it_is(void **state)
{
  static const char *const given[] = { "tidemill", "map", "it's.lua", "in", "-N", "1", NULL };
  static const char *const others[] = { "--",       "-",         "A=...",        "--output=x",
                                        "--resume", "--job_dir", "--only-failed" };
  struct host h;
  char dir[256], here[256], text[800], want[800];
  const char *directory;
  const struct tidemill_rerun *rerun;
  host_setup(&h, "good", 1, "bad", 1, NULL);
  setup(&h);
  host_must(&h, tidemill_pipeline_new(&h.pipeline, h.rt, "built", h.dir, &h.err));
  host_must(&h, tidemill_pipeline_add_step(&h.step, h.pipeline, "score", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "run_max_try", "1", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "error_threshold", "-1", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "mini_batch_size", "1", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in", NULL, &h.err));
  int before = open(".", O_PATH | O_CLOEXEC);
  assert_int_equal(chdir(h.dir), 0);
  assert_non_null(getcwd(here, sizeof here));
  host_must(&h, tidemill_pipeline_set_command(h.pipeline, given, &h.err));
  assert_int_equal(fchdir(before), 0);
  close(before);
  run(&h, dir);
  struct tidemill_record *r = open_record(&h, dir);
  expect_words(tidemill_record_words(r, &directory), given);
  assert_string_equal(directory, here);
  host_must(&h, tidemill_record_rerun(r, &rerun, &h.err));
  const char *const words[] = { "tidemill", "map",           "it's.lua", "in", "-N",
                                "1",        "--only-failed", dir,        NULL };
  expect_words(rerun->argv, words);
  assert_string_equal(rerun->directory, here);
  snprintf(text, sizeof text, "cd %s && tidemill map 'it'\\''s.lua' in -N 1 --only-failed %s", here,
           dir);
  assert_string_equal(rerun->text, text);
  char *record = strdup(tidemill_record_definition(r));
  tidemill_record_close(r);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    put_word(dir, record, others[i]);
    snprintf(want, sizeof want, "type it with --only-failed %s", dir);
    refuses(&h, dir, want);
  }
  free(record);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(parameters_come_out_of_a_file),
    cmocka_unit_test(invalid_parameter_files_are_refused),
    cmocka_unit_test(a_job_resumes_as_its_record_says),
    cmocka_unit_test(options_of_resume_are_refused_without_it),
    cmocka_unit_test(a_job_is_like_an_earlier_one),
    cmocka_unit_test(only_failed_items_are_run),
    cmocka_unit_test(a_job_over_failed_items_resumes_with_the_same_items),
    cmocka_unit_test(failed_items_of_a_pipeline_file_have_a_command),
    cmocka_unit_test(a_job_without_failed_items_has_none),
    cmocka_unit_test(a_recorded_command_is_given_again_as_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
