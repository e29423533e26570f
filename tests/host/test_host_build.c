/* test_host_build.c - a host builds a pipeline by calls, with scripts as text. */
#include "host.h"

static void build(struct host *h)
{
  host_must(h, tidemill_pipeline_new(&h->pipeline, h->rt, "built", h->dir, &h->err));
}

static void a_pipeline_is_built_and_run(void **state)
{
  struct host h;
  struct tidemill_pipeline_step *second;
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  host_setup(&h, "good", 4, NULL);
  host_runtime(&h, NULL);
  build(&h);
  struct tidemill_pipeline *p = h.pipeline;
  host_must(&h, tidemill_pipeline_add_step(&h.step, p, "first", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "mini_batch_size", "2", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "process_count_per_node", "1", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "isolate_failures", "true", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "allow_reuse", "false", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "environment_variables", "TM_ONE=1", &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "environment_variables", "TM_TWO=a=b", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in/*", "files", &h.err));
  host_must(&h, tidemill_pipeline_add_step(&second, p, "second", "own.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_add_output_of(NULL, second, h.step, "made", &h.err));
  /* a handle stays that of its step */
  host_must(&h, tidemill_pipeline_step_add_argument(h.step, "--one", &h.err));
  host_must(&h, tidemill_pipeline_set_script(
                    p, "own.lua",
                    "function run(files, context) assert(context.dataset_name == 'made')\n"
                    "  local n = 0 for _ in io.lines(files[1]) do n = n + 1 end\n"
                    "  return { n .. ' lines' } end",
                    &h.err));
  host_must(&h, tidemill_pipeline_check(p, &h.err));
  host_must(&h, tidemill_job_submit(&h.job, p, &h.options, &h.err));
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  assert_int_equal(tidemill_job_steps_len(h.job), 2);
  host_must(&h, tidemill_job_step(h.job, 0, &step, &h.err));
  assert_int_equal(step.counts->succeeded, 2);
  host_must(&h, tidemill_job_step(h.job, 1, &step, &h.err));
  char line[32] = "";
  FILE *f = fopen(step.output_file, "r");
  assert_non_null(f);
  assert_non_null(fgets(line, sizeof line, f));
  fclose(f);
  assert_string_equal(line, "4 lines\n");
  host_end(&h);
}

static void expect(struct host *h, int rc, const char *words)
{
  assert_int_equal(rc, TIDEMILL_EUSAGE);
  if (!strstr(h->err.text, words))
    fail_msg("'%s' is not in '%s'", words, h->err.text);
}

static void calls_in_a_wrong_order_are_refused(void **state)
{
  struct host h;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  build(&h);
  expect(&h, tidemill_pipeline_step_set(NULL, "mini_batch_size", "2", &h.err), "`step` is NULL");
  expect(&h, tidemill_pipeline_step_add_files(NULL, NULL, "in", NULL, &h.err), "`step` is NULL");
  expect(&h, tidemill_pipeline_step_add_argument(NULL, "a", &h.err), "`step` is NULL");
  expect(&h, tidemill_pipeline_find_step(&h.step, h.pipeline, "first", &h.err),
         "there is no step 'first'");
  assert_null(h.step);
  expect(&h, tidemill_pipeline_set_script(h.pipeline, "own.lua", "function run() end", &h.err),
         "add the step first");
  expect(&h, tidemill_pipeline_check(h.pipeline, &h.err), "steps");
  host_must(&h, tidemill_pipeline_add_step(&h.step, h.pipeline, "first", "none.lua", &h.err));
  expect(&h, tidemill_pipeline_add_step(NULL, h.pipeline, "first", "none.lua", &h.err), "already");
  expect(&h, tidemill_pipeline_check(h.pipeline, &h.err), "inputs");
  host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in", NULL, &h.err));
  expect(&h, tidemill_pipeline_check(h.pipeline, &h.err), "there is no file");
  host_end(&h);
}

static void null_arguments_are_named(void **state)
{
  struct host h;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  struct tidemill_pipeline *p = NULL;
  expect(&h, tidemill_pipeline_load(&p, h.rt, NULL, &h.err), "`path` is NULL");
  expect(&h, tidemill_pipeline_load_string(&p, h.rt, NULL, "x", &h.err), "`text` is NULL");
  expect(&h, tidemill_pipeline_load_string(&p, h.rt, "return 1", NULL, &h.err), "`name` is NULL");
  expect(&h, tidemill_pipeline_new(&p, h.rt, NULL, NULL, &h.err), "`name` is NULL");
  assert_null(p);
  expect(&h, tidemill_pipeline_check(p, &h.err), "`p` is NULL"); /* as after a failed load */
  expect(&h, tidemill_job_submit(&h.job, p, NULL, &h.err), "`p` is NULL");
  expect(&h, tidemill_job_wait(h.job, 0, &h.err), "`job` is NULL");
  expect(&h, tidemill_job_resume(&h.job, h.rt, NULL, NULL, &h.err), "`job` is NULL");
  expect(&h, tidemill_runtime_add_function(h.rt, "f", NULL, &h.err), "`function` is NULL");
  expect(&h, tidemill_runtime_add_value(h.rt, "v", NULL, &h.err), "`json` is NULL");
  struct tidemill_error *err = &h.err;
  expect(&h, tidemill_runtime_new(NULL, NULL, err), "`out` is NULL");
  expect(&h, tidemill_runtime_run(NULL, 0, err), "`rt` is NULL");
  expect(&h, tidemill_runtime_turn(NULL, err), "`rt` is NULL");
  expect(&h, tidemill_pipeline_load(NULL, h.rt, "x", err), "`out` is NULL");
  expect(&h, tidemill_pipeline_load_string(NULL, h.rt, "x", "x", err), "`out` is NULL");
  expect(&h, tidemill_pipeline_from_lua(NULL, h.rt, NULL, 1, "x", err), "`out` is NULL");
  expect(&h, tidemill_pipeline_from_lua(&p, h.rt, NULL, 1, "x", err), "`L` is NULL");
  expect(&h, tidemill_pipeline_new(NULL, h.rt, "x", NULL, err), "`out` is NULL");
  expect(&h, tidemill_job_submit(NULL, p, NULL, err), "`out` is NULL");
  expect(&h, tidemill_job_resume(NULL, h.rt, "x", NULL, err), "`out` is NULL");
  expect(&h, tidemill_job_step(NULL, 0, NULL, err), "`job` is NULL");
  expect(&h, tidemill_lua_open(NULL, h.rt, err), "`L` is NULL");
  expect(&h, tidemill_runtime_add_value(NULL, "v", "1", err), "`rt` is NULL");
  build(&h);
  p = h.pipeline;
  expect(&h, tidemill_pipeline_add_step(&h.step, p, "a", NULL, &h.err), "`entry_script` is NULL");
  expect(&h, tidemill_pipeline_add_model_step(&h.step, p, "a", NULL, &h.err), "`model` is NULL");
  host_must(&h, tidemill_pipeline_add_step(&h.step, p, "a", "score.lua", &h.err));
  expect(&h, tidemill_pipeline_step_set(h.step, "mini_batch_size", NULL, &h.err),
         "`value` is NULL");
  expect(&h, tidemill_pipeline_step_set(h.step, NULL, "1", &h.err), "`key` is NULL");
  expect(&h, tidemill_pipeline_step_add_files(&h.input, h.step, NULL, NULL, &h.err),
         "`path` is NULL");
  expect(&h, tidemill_pipeline_step_add_table(&h.input, h.step, NULL, NULL, &h.err),
         "`path` is NULL");
  expect(&h, tidemill_pipeline_step_add_output_of(&h.input, h.step, NULL, NULL, &h.err),
         "`from` is NULL");
  expect(&h, tidemill_pipeline_step_add_argument(h.step, NULL, &h.err), "`text` is NULL");
  expect(&h, tidemill_pipeline_set_script(p, "score.lua", NULL, &h.err), "`text` is NULL");
  expect(&h, tidemill_pipeline_set_param(p, "workers", NULL, &h.err), "`value` is NULL");
  host_end(&h);
}

static void queries_of_a_null_object_return_nothing(void **state)
{
  assert_int_equal(tidemill_runtime_fd(NULL), -1);
  assert_int_equal(tidemill_runtime_timeout_ms(NULL), -1);
  assert_null(tidemill_runtime_program(NULL));
  tidemill_runtime_wake(NULL);
  tidemill_runtime_on_lua(NULL, NULL, NULL);
  assert_null(tidemill_pipeline_name(NULL));
  tidemill_job_cancel(NULL, true);
  assert_int_equal(tidemill_job_state(NULL), TIDEMILL_STATE_RUNNING);
  assert_int_equal(tidemill_job_exit_status(NULL), -1);
  assert_null(tidemill_job_name(NULL));
  assert_null(tidemill_job_dir(NULL));
  assert_string_equal(tidemill_job_cause(NULL), "");
  assert_null(tidemill_job_counts(NULL));
  assert_null(tidemill_job_result(NULL));
  assert_int_equal(tidemill_job_steps_len(NULL), 0);
  assert_int_equal(tidemill_runtime_close(NULL, NULL), 0);
  tidemill_pipeline_free(NULL);
  tidemill_job_close(NULL);
}

static void a_graph_says_which_step_waits_for_which(void **state)
{
  struct host h;
  struct tidemill_pipeline_step *second;
  const char *text;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  build(&h);
  struct tidemill_pipeline *p = h.pipeline;
  expect(&h, tidemill_pipeline_graph(NULL, p, TIDEMILL_GRAPH_TEXT, &h.err), "`out` is NULL");
  expect(&h, tidemill_pipeline_graph(&text, p, TIDEMILL_GRAPH_TEXT, &h.err), "steps");
  host_must(&h, tidemill_pipeline_add_step(&h.step, p, "first", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in", NULL, &h.err));
  host_must(&h, tidemill_pipeline_add_step(&second, p, "second", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_add_output_of(NULL, second, h.step, NULL, &h.err));
  host_must(&h, tidemill_pipeline_graph(&text, p, TIDEMILL_GRAPH_DOT, &h.err));
  assert_non_null(strstr(text, "digraph"));
  host_must(&h, tidemill_pipeline_graph(&text, p, TIDEMILL_GRAPH_MERMAID, &h.err));
  assert_non_null(strstr(text, "flowchart"));
  host_must(&h, tidemill_pipeline_graph(&text, p, TIDEMILL_GRAPH_TEXT, &h.err));
  assert_true(strstr(text, "first") && strstr(text, "second"));
  host_must(&h,
            tidemill_pipeline_check(p, &h.err)); /* the picture also shows what is added later */
  host_must(&h, tidemill_pipeline_add_step(&h.step, p, "third", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_add_output_of(NULL, h.step, second, NULL, &h.err));
  host_must(&h, tidemill_pipeline_graph(&text, p, TIDEMILL_GRAPH_TEXT, &h.err));
  assert_non_null(strstr(text, "third"));
  host_must(&h, tidemill_pipeline_check(p, &h.err));
  host_must(&h, tidemill_pipeline_set_param(p, "none", "1", &h.err));
  expect(&h, tidemill_pipeline_graph(&text, p, TIDEMILL_GRAPH_TEXT, &h.err), "'none'");
  expect(&h, tidemill_pipeline_graph(&text, p, (enum tidemill_graph)9, &h.err), "is not a format");
  assert_null(text);
  host_end(&h);
}

static void options_of_a_job_are_checked(void **state)
{
  struct host h;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  h.options.max_workers = -3;
  expect(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), "max_workers");
  assert_null(h.job);
  h.options.max_workers = 1;
  h.options.keep_script = true;
  expect(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), "`resume`");
  h.options.keep_script = false;
  h.options.dir = "";
  expect(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), "`dir` of the job");
  h.options.dir = NULL;
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  struct tidemill_step step = { 0 };
  expect(&h, tidemill_job_step(h.job, 0, &step, &h.err), "TIDEMILL_STEP_INIT");
  host_end(&h);
}

static void values_are_those_of_the_table_of_parameters(void **state)
{
  struct host h;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  build(&h);
  struct tidemill_pipeline *p = h.pipeline;
  host_must(&h, tidemill_pipeline_add_step(&h.step, p, "first", "score.lua", &h.err));
  expect(&h, tidemill_pipeline_step_set(h.step, "mini_batch_siz", "2", &h.err),
         "did you mean 'mini_batch_size'");
  expect(&h, tidemill_pipeline_step_set(h.step, "run_max_try", "0", &h.err),
         "accepted: an integer from 1 on");
  expect(&h, tidemill_pipeline_step_set(h.step, "inputs", "in", &h.err), "inputs");
  expect(&h, tidemill_pipeline_step_set(h.step, "environment_variables", "secret", &h.err),
         "NAME=VALUE");
  assert_null(strstr(h.err.text, "secret"));
  host_must(&h, tidemill_pipeline_step_add_table(&h.input, h.step, "rows.csv", NULL, &h.err));
  host_must(&h, tidemill_pipeline_step_set(h.step, "mini_batch_size", "500rows", &h.err));
  host_must(&h, tidemill_pipeline_check(p, &h.err));
  host_end(&h);
}

static void a_job_of_a_script_as_text_is_resumed(void **state)
{
  struct host h;
  char dir[256];
  host_setup(&h, "bad", 2, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "job", dir);
  for (int i = 0; i < 2; i++) {
    build(&h);
    host_must(&h, tidemill_pipeline_add_step(&h.step, h.pipeline, "first", "own.lua", &h.err));
    host_must(&h, tidemill_pipeline_step_set(h.step, "error_threshold", "0", &h.err));
    host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in", NULL, &h.err));
    host_must(&h, tidemill_pipeline_set_script(
                      h.pipeline, "own.lua",
                      "function run() assert(os.getenv 'TM_GOOD') return { 1, 2 } end", &h.err));
    if (i == 1)
      host_must(&h,
                tidemill_pipeline_step_set(h.step, "environment_variables", "TM_GOOD=1", &h.err));
    h.options.dir = dir;
    h.options.resume = i == 1;
    host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
    host_wait(&h);
    assert_int_equal(h.state, i == 0 ? TIDEMILL_STATE_FAILED : TIDEMILL_STATE_COMPLETED);
    tidemill_job_close(h.job);
    tidemill_pipeline_free(h.pipeline);
  }
  expect(&h, tidemill_job_resume(&h.job, h.rt, dir, NULL, &h.err), "does not hold its definition");
  h.pipeline = NULL;
  host_end(&h);
}

static void handles_are_those_of_their_pipeline(void **state)
{
  struct host h;
  struct tidemill_pipeline *other;
  struct tidemill_pipeline_step *first, *second, *found;
  struct tidemill_pipeline_input *a, *b, *again;
  const char *plan;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  build(&h);
  host_must(&h, tidemill_pipeline_add_step(&first, h.pipeline, "first", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_add_step(&second, h.pipeline, "second", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&a, first, "in/good.000", "a", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&b, first, "in/good.002", "b", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(NULL, second, "in", NULL, &h.err));
  host_must(&h, tidemill_pipeline_input_add_path(a, "in/good.001", &h.err)); /* not the last one */
  host_must(&h, tidemill_pipeline_input_set(b, "limit", "1", &h.err));
  host_must(&h, tidemill_pipeline_step_set(first, "mini_batch_size", "3", &h.err));
  host_must(&h, tidemill_pipeline_step_set(second, "mini_batch_size", "1", &h.err));
  host_must(&h, tidemill_pipeline_plan(&plan, h.pipeline, NULL, &h.err));
  if (!strstr(plan, "step 'first': 2 mini-batches, 3 items") ||
      !strstr(plan, "step 'second': 3 mini-batches, 3 items"))
    fail_msg("%s", plan);
  host_must(&h, tidemill_pipeline_find_step(&found, h.pipeline, "second", &h.err));
  assert_ptr_equal(found, second);
  host_must(&h, tidemill_pipeline_step_input(&again, first, 1, &h.err));
  assert_ptr_equal(again, b);
  expect(&h, tidemill_pipeline_step_input(&again, first, 2, &h.err), "the step has 2");
  expect(&h, tidemill_pipeline_step_add_output_of(NULL, first, first, NULL, &h.err), "itself");
  host_must(&h, tidemill_pipeline_new(&other, h.rt, "other", h.dir, &h.err));
  host_must(&h, tidemill_pipeline_add_step(&found, other, "third", "score.lua", &h.err));
  expect(&h, tidemill_pipeline_step_add_output_of(NULL, found, first, NULL, &h.err),
         "another pipeline");
  tidemill_pipeline_free(other);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_pipeline_is_built_and_run),
    cmocka_unit_test(handles_are_those_of_their_pipeline),
    cmocka_unit_test(calls_in_a_wrong_order_are_refused),
    cmocka_unit_test(null_arguments_are_named),
    cmocka_unit_test(queries_of_a_null_object_return_nothing),
    cmocka_unit_test(a_graph_says_which_step_waits_for_which),
    cmocka_unit_test(options_of_a_job_are_checked),
    cmocka_unit_test(values_are_those_of_the_table_of_parameters),
    cmocka_unit_test(a_job_of_a_script_as_text_is_resumed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
