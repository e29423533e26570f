/* test_pipeline.c - converts the tree of a definition to the form that a job runs. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "plan/read.h"
#include "sys/process.h"
#include "tree.h"

struct world {
  char *dir;
  struct tm_json *config, *step, *pipeline; /* step owns config, pipeline owns step */
};

static void setup(struct world *w)
{
  w->dir = folder_make();
  file_put(w->dir, "score.lua", "function run() end", 0600);
  file_put(w->dir, "src/inner.lua", "function run() end", 0600);
  w->config = tree("ParallelRunConfig", "p.lua:5", "{'entry_script':'score.lua'}");
  w->step = tree("ParallelRunStep", "p.lua:9", "{'name':'predict'}");
  tm_json_set(w->step, "parallel_run_config", w->config);
  tm_json_set(w->step, "inputs",
              tree("FileDataset", "p.lua:3", "{'kind':'files','paths':['digits/*']}"));
  w->pipeline = tree("Pipeline", "p.lua:20", "{'name':'digits','steps':[]}");
  tm_json_add(tm_json_get(w->pipeline, "steps"), w->step);
}

static void teardown(struct world *w)
{
  tm_json_free(w->pipeline);
  folder_remove(w->dir);
}

static struct tm_pipeline *read_with(struct world *w, const char *name, const char *value,
                                     struct tm_err *err)
{
  char *file = tm_path_join(w->dir, "p.lua");
  struct tm_param param = { .name = name, .value = value, .origin = "--param" };
  struct tm_pipeline *p =
      tm_pipeline_from_json(w->pipeline, file, &param, name ? 1 : 0, false, err);
  free(file);
  return p;
}

static struct tm_pipeline *accepted(struct world *w, const char *name, const char *value)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_pipeline *p = read_with(w, name, value, &err);
  if (!p)
    fail_msg("%s", err.text);
  return p;
}

/* Checks for `words`, with %s for the folder. */
static void refused(struct world *w, const char *name, const char *value, const char *words)
{
  struct tm_err err = TM_ERR_NONE, expected = TM_ERR_NONE;
  const char *at = strstr(words, "%s");
  if (at)
    tm_err_set(&expected, TM_EUSAGE, "%.*s%s%s", (int)(at - words), words, w->dir, at + 2);
  else
    tm_err_set(&expected, TM_EUSAGE, "%s", words);
  assert_null(read_with(w, name, value, &err));
  assert_int_equal(err.code, TM_EUSAGE);
  assert_string_equal(err.text, expected.text);
}

static const char *origin_of(const struct tm_step *s, const char *name)
{
  return tm_json_str(tm_json_get(tm_json_get(s->effective, "settings"), name), "origin", "?");
}

static void defaults_are_filled_in(void **state)
{
  struct world w;
  setup(&w);
  struct tm_pipeline *p = accepted(&w, NULL, NULL);
  assert_string_equal(p->name, "digits");
  assert_int_equal(p->steps_len, 1);
  const struct tm_step *s = p->steps[0];
  const struct tm_config *c = &s->config;
  char *script = tm_path_join(w.dir, "score.lua");
  assert_string_equal(c->entry_script, script);
  assert_null(c->source_directory);
  assert_int_equal(c->mini_batch_size, 10);
  assert_int_equal(c->error_threshold, -1);
  assert_int_equal(c->output_action, TM_APPEND_ROW);
  assert_string_equal(c->append_row_file_name, "parallel_run_step.txt");
  assert_int_equal(c->process_count_per_node, tm_process_cores());
  assert_int_equal(c->logging_level, TM_INFO);
  assert_int_equal(c->run_invocation_timeout_ns, INT64_C(60000000000));
  assert_int_equal(c->run_max_try, 3);
  assert_int_equal(c->max_result_size, INT64_C(2) << 30);
  assert_int_equal(c->sync_interval_ns, INT64_C(1000000000));
  assert_null(c->environment);
  assert_true(s->allow_reuse);
  assert_string_equal(s->where, "p.lua:9");
  assert_string_equal(origin_of(s, "mini_batch_size"), "default");
  assert_string_equal(origin_of(s, "entry_script"), "file");
  assert_int_equal(s->inputs_len, 1);
  assert_string_equal(s->inputs[0]->base_dir, w.dir);
  free(script);
  tm_pipeline_free(p);
  teardown(&w);
}

static void the_script_is_within_its_folder(void **state)
{
  struct world w;
  setup(&w);
  tm_json_set(w.config, "source_directory", tm_json_new_string("src"));
  tm_json_set(w.config, "entry_script", tm_json_new_string("inner.lua"));
  struct tm_pipeline *p = accepted(&w, NULL, NULL);
  char *script = tm_path_join(w.dir, "src/inner.lua");
  assert_string_equal(p->steps[0]->config.entry_script, script);
  free(script);
  tm_pipeline_free(p);

  tm_json_set(w.config, "entry_script", tm_json_new_string("../score.lua"));
  refused(&w, NULL, NULL,
          "p.lua:5: ParallelRunConfig: 'entry_script' is \"../score.lua\", which is outside of "
          "source_directory "
          "'%s/src'; accepted: a file within it");
  tm_json_set(w.config, "source_directory", tm_json_new_string("sauce"));
  refused(
      &w, NULL, NULL,
      "p.lua:5: ParallelRunConfig: 'source_directory' is \"sauce\"; there is no folder '%s/sauce'");
  teardown(&w);
}

static void a_missing_script_is_refused(void **state)
{
  struct world w;
  setup(&w);
  tm_json_set(w.config, "entry_script", tm_json_new_string("scores.lua"));
  refused(&w, NULL, NULL,
          "p.lua:5: ParallelRunConfig: 'entry_script' is \"scores.lua\"; there is no file "
          "'%s/scores.lua'");
  tm_json_set(w.config, "entry_script", tm_json_new_string("src"));
  refused(&w, NULL, NULL,
          "p.lua:5: ParallelRunConfig: 'entry_script' is \"src\"; there is no file '%s/src'");
  teardown(&w);
}

static void parameters_get_their_values(void **state)
{
  struct world w;
  setup(&w);
  tm_json_set(w.config, "mini_batch_size",
              tree("PipelineParameter", "p.lua:6", "{'name':'size','default_value':4}"));
  tm_json_set(w.step, "arguments", tree(NULL, NULL, "['--size','x',0.5,true]"));
  tm_json_add(tm_json_get(w.step, "arguments"),
              tree("PipelineParameter", "p.lua:10", "{'name':'size','default_value':4}"));

  struct tm_pipeline *p = accepted(&w, NULL, NULL);
  assert_int_equal(p->steps[0]->config.mini_batch_size, 4);
  assert_string_equal(origin_of(p->steps[0], "mini_batch_size"), "parameter");
  tm_pipeline_free(p);

  p = accepted(&w, "size", "7");
  const struct tm_step *s = p->steps[0];
  assert_int_equal(s->config.mini_batch_size, 7);
  assert_int_equal(s->arguments_len, 5);
  assert_string_equal(s->arguments[2], "0.5");
  assert_string_equal(s->arguments[3], "true");
  assert_string_equal(s->arguments[4], "7");
  tm_pipeline_free(p);

  refused(&w, "size", "0",
          "p.lua:5: ParallelRunConfig: parameter 'size': 'mini_batch_size' is 0; accepted: an "
          "integer from 1 on; for tables a size such as \"10MB\" or \"500rows\"");
  refused(&w, "size", "many",
          "parameter 'size' is \"many\"; accepted: a number, as its default 4 (p.lua:6)");
  refused(&w, "sizes", "5", "the pipeline has no parameter 'sizes'; did you mean 'size'?");
  refused(&w, "workers", "5", "the pipeline has no parameter 'workers'; it has: 'size'");
  teardown(&w);
}

static void one_parameter_has_one_default(void **state)
{
  struct world w;
  setup(&w);
  tm_json_set(w.config, "mini_batch_size",
              tree("PipelineParameter", "p.lua:6", "{'name':'n','default_value':4}"));
  tm_json_set(w.config, "run_max_try",
              tree("PipelineParameter", "p.lua:7", "{'name':'n','default_value':3}"));
  refused(&w, NULL, NULL,
          "p.lua:7: PipelineParameter: 'n' has the default 3 here and 4 at p.lua:6; accepted: one "
          "default for one name");
  teardown(&w);
}

static void no_parameter_at_all(void **state)
{
  struct world w;
  setup(&w);
  refused(&w, "size", "1",
          "the pipeline has no parameter 'size', nor any other; a value becomes one with "
          "PipelineParameter { name, default_value }");
  teardown(&w);
}

static void variables_reach_workers_and_no_record(void **state)
{
  struct world w;
  setup(&w);
  tm_json_set(w.config, "environment_variables", tree(NULL, NULL, "{'TOKEN':'hunter2'}"));
  struct tm_pipeline *p = accepted(&w, NULL, NULL);
  const struct tm_step *s = p->steps[0];
  assert_string_equal(s->config.environment[0], "TOKEN=hunter2");
  assert_null(s->config.environment[1]);
  struct tm_buf record = TM_BUF_NONE;
  tm_json_write(&record, s->effective, (struct tm_json_style) { 0 });
  assert_null(strstr(record.data, "hunter2"));
  assert_non_null(strstr(record.data, "\"names\":[\"TOKEN\"]"));
  tm_buf_release(&record);
  tm_pipeline_free(p);
  teardown(&w);
}

static void a_dataset_among_the_arguments_becomes_its_path(void **state)
{
  struct world w;
  setup(&w);
  tm_json_set(w.step, "arguments", tree(NULL, NULL, "['--in']"));
  struct tm_json *arguments = tm_json_get(w.step, "arguments");
  tm_json_add(arguments, tree("FileDataset", NULL, "{'kind':'files','paths':['a/../b']}"));
  char *path = tm_path_join(w.dir, "b"),
       *missing = tm_xprintf("p.lua:9: ParallelRunStep: 'arguments[2]': there is no file or folder "
                             "'%s'",
                             path);
  refused(&w, NULL, NULL, missing);
  file_put(w.dir, "b", "", 0600);
  struct tm_pipeline *p = accepted(&w, NULL, NULL);
  assert_string_equal(p->steps[0]->arguments[1], path);
  free(missing);
  free(path);
  tm_pipeline_free(p);
  tm_json_add(arguments, tree("FileDataset", NULL, "{'kind':'files','paths':['a/*']}"));
  refused(&w, NULL, NULL,
          "p.lua:9: ParallelRunStep: 'arguments[3]' is a FileDataset of several paths, of a "
          "pattern, or of a part; accepted: a string, a number, a boolean, a PipelineParameter, an "
          "output, a "
          "dataset of one file or folder, or one of 'inputs' and 'side_inputs' that has a place by "
          "as_mount() or as_download()");
  teardown(&w);
}

static void two_steps_of_one_name_are_refused(void **state)
{
  struct world w;
  setup(&w);
  struct tm_json *second = tm_json_copy(w.step);
  free(second->where);
  second->where = tm_xstrdup("p.lua:15");
  tm_json_add(tm_json_get(w.pipeline, "steps"), second);
  refused(&w, NULL, NULL,
          "p.lua:20: Pipeline: two steps are named 'predict', at p.lua:9 and p.lua:15; accepted: a "
          "name for each");
  tm_json_set(second, "name", tm_json_new_string("other"));
  struct tm_pipeline *p = accepted(&w, NULL, NULL);
  assert_int_equal(p->steps_len, 2);
  tm_pipeline_free(p);
  teardown(&w);
}

static void other_values_are_not_pipelines(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = tree("ParallelRunStep", NULL, "{}");
  assert_null(tm_pipeline_from_json(v, "p.lua", NULL, 0, false, &err));
  assert_string_equal(err.text,
                      "the definition is a ParallelRunStep; accepted: Pipeline { name, steps }");
  tm_json_free(v);
}

static void options_are_against_the_current_folder(void **state)
{
  struct world w;
  struct tm_err err = TM_ERR_NONE;
  setup(&w);
  tm_json_set(w.config, "run_max_try", tm_json_new_int(2));
  struct tm_pipeline *p = tm_pipeline_from_calls(w.pipeline, w.dir, w.dir, NULL, 0, false, &err);
  assert_non_null(p);
  assert_null(p->file);
  const struct tm_step *s = p->steps[0];
  char *script = tm_path_join(w.dir, "score.lua");
  assert_string_equal(s->config.entry_script, script);
  assert_string_equal(s->working_dir, w.dir);
  assert_string_equal(s->inputs[0]->base_dir, w.dir);
  assert_string_equal(tm_json_str(s->effective, "working_dir", ""), w.dir);
  const struct tm_json *settings = tm_json_get(s->effective, "settings");
  assert_string_equal(tm_json_str(tm_json_get(settings, "run_max_try"), "origin", ""), "option");
  assert_string_equal(tm_json_str(tm_json_get(settings, "error_threshold"), "origin", ""),
                      "default");
  free(script);
  tm_pipeline_free(p);
  p = accepted(&w, NULL, NULL);
  assert_null(
      p->steps[0]->working_dir); /* the workers of a pipeline file start in the script's folder */
  assert_null(tm_json_get(p->steps[0]->effective, "working_dir"));
  tm_pipeline_free(p);
  teardown(&w);
}

UNIT_TESTS({
    cmocka_unit_test(defaults_are_filled_in),
    cmocka_unit_test(the_script_is_within_its_folder),
    cmocka_unit_test(a_missing_script_is_refused),
    cmocka_unit_test(parameters_get_their_values),
    cmocka_unit_test(one_parameter_has_one_default),
    cmocka_unit_test(no_parameter_at_all),
    cmocka_unit_test(variables_reach_workers_and_no_record),
    cmocka_unit_test(a_dataset_among_the_arguments_becomes_its_path),
    cmocka_unit_test(two_steps_of_one_name_are_refused),
    cmocka_unit_test(other_values_are_not_pipelines),
    cmocka_unit_test(options_are_against_the_current_folder),
});
