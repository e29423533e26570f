/* test_params.c - the table of parameters: it accepts every default, and every refusal names the
 * accepted values.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "params/params.h"
#include "plan/params_check.h"
#include "tree.h"

static const char *const kinds[] = { "ParallelRunConfig",
                                     "arguments",
                                     "retry_settings",
                                     "resources",
                                     "ParallelRunStep",
                                     "Pipeline",
                                     "PipelineParameter",
                                     "OutputFileDatasetConfig",
                                     "dataset:register",
                                     "dataset:mini_batches",
                                     "load_script",
                                     "pipeline:submit",
                                     "Workspace",
                                     "Datastore.register_directory",
                                     "datastore:upload",
                                     "datastore:download",
                                     "Dataset.File.from_files",
                                     "Dataset.File.from_archives",
                                     "Dataset.File.from_manifest",
                                     "Dataset.File.from_failed_items" };

static void every_field_is_complete(void **state)
{
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    size_t n;
    const struct tm_field *fields = tm_params_fields(kinds[i], &n);
    assert_true(n > 0);
    for (size_t j = 0; j < n; j++) {
      struct tm_buf accepted = TM_BUF_NONE;
      struct tm_json *otherwise = tm_params_default(&fields[j]);
      assert_ptr_equal(tm_params_find(kinds[i], fields[j].name), &fields[j]);
      assert_true(strlen(fields[j].help) > 0);
      assert_int_equal(otherwise != NULL, fields[j].otherwise != NULL);
      assert_false(otherwise && (fields[j].flags & TM_FIELD_REQUIRED));
      tm_params_accepted(&accepted, &fields[j]);
      assert_true(accepted.len > 0);
      tm_buf_release(&accepted);
      tm_json_free(otherwise);
    }
  }
  size_t none;
  assert_null(tm_params_fields("TabularDataset", &none));
  assert_null(tm_params_find("ParallelRunConfig", "instance_type"));
}

static void values_have_one_form(void **state)
{
  static const struct {
    const char *field, *given, *form;
  } cases[] = {
    { "mini_batch_size", "5", "5" },
    { "mini_batch_size", "'5'", "5" },
    { "error_threshold", "'-1'", "-1" },
    { "run_invocation_timeout", "'0.5'", "0.5" },
    { "run_invocation_timeout", "60", "60" },
    { "max_result_size", "'10MB'", "10485760" },
    { "max_result_size", "4096", "4096" },
    { "output_action", "'summary_only'", "\"summary_only\"" },
    { "interruptible", "true", "\"true\"" },
    { "interruptible", "'false'", "\"false\"" },
    { "interruptible", "'auto'", "\"auto\"" },
    { "interruptible", "'True'", "\"true\"" },
    { "isolate_failures", "'True'", "true" },
    { "isolate_failures", "'False'", "false" },
    { "node_count", "1", "1" },
    { "node_count", "'1'", "1" },
    { "node_count", "2147483647", "2147483647" },
    { "compute_target", "'local'", "\"local\"" },
    { "compute_target", "'exec'", "\"exec\"" },
    { "node_command", "'a  b'", "\"a  b\"" },
    { "node_command", "['a','b','b']", "[\"a\",\"b\",\"b\"]" },
    { "node_hosts", "'hosts.txt'", "\"hosts.txt\"" },
    { "node_timeout", "'1m'", "60" },
    { "node_start_timeout", "2", "2" },
    { "node_wait", "'2h'", "7200" },
    { "partition_keys", "'store'", "[\"store\"]" },
    { "partition_keys", "'[\\\"store\\\", \\\"brand\\\"]'", "[\"store\",\"brand\"]" },
    { "partition_keys", "'[x]'", "[\"[x]\"]" },
    { "environment", "'mnist-env'", "{\"variables\":{},\"module_paths\":[]}" },
    { "environment", "{'name':'mnist-env','module_paths':'lib'}",
      "{\"variables\":{},\"module_paths\":[\"lib\"]}" },
    { "environment_variables", "{'A':1,'B':true,'C':'x','D':0.5}",
      "{\"A\":\"1\",\"B\":\"true\",\"C\":\"x\",\"D\":\"0.5\"}" },
    { "environment_variables", "[]", "{}" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_err err = TM_ERR_NONE;
    struct tm_buf out = TM_BUF_NONE;
    struct tm_json *given = tree(NULL, NULL, cases[i].given);
    struct tm_json *v =
        tm_params_value(tm_params_find("ParallelRunConfig", cases[i].field), given, &err);
    assert_non_null(v);
    tm_json_write(&out, v, (struct tm_json_style) { 0 });
    assert_string_equal(out.data, cases[i].form);
    tm_buf_release(&out);
    tm_json_free(v);
    tm_json_free(given);
  }
}

static void names_of_the_original_are_answered(void **state)
{
  static const struct {
    const char *kind, *definition, *words;
  } cases[] = {
    { "ParallelRunConfig", "{'entry_script':'a','node_count':0}",
      "p.lua:12: ParallelRunConfig: 'node_count' is 0; accepted: an integer from 1 on" },
    { "ParallelRunConfig", "{'entry_script':'a','compute_target':'cpu-cluster'}",
      "p.lua:12: ParallelRunConfig: 'compute_target' is \"cpu-cluster\"; accepted: \"local\", "
      "\"exec\" or \"slurm\"" },
    { "ParallelRunConfig", "{'entry_script':'a','compute_target':{'name':'x'}}",
      "p.lua:12: ParallelRunConfig: 'compute_target' is a table; accepted: \"local\", "
      "\"exec\" or \"slurm\"" },
    { "ParallelRunConfig", "{'entry_script':'a','node_command':['ssh','']}",
      "p.lua:12: ParallelRunConfig: 'node_command' is a list; accepted: a string, or a list of one "
      "or more strings, none empty" },
    { "ParallelRunConfig", "{'entry_script':'a','node_timeout':0.5}",
      "p.lua:12: ParallelRunConfig: 'node_timeout' is 0.5; accepted: a number from 1 to 3600 "
      "seconds, a duration such as \"5m\", or \"none\" for the most" },
    { "ParallelRunConfig", "{'entry_script':'a','resources':{'instance_count':0}}",
      "p.lua:12: ParallelRunConfig: resources: 'instance_count' is 0; accepted: an integer from 1 "
      "on" },
    { "ParallelRunConfig", "{'entry_script':'a','resources':{'instance_type':'x'}}",
      "p.lua:12: ParallelRunConfig: resources: unknown key 'instance_type'; workers run on this "
      "machine: leave it out" },
    { "ParallelRunConfig", "{'entry_script':'a','allow_reuse':true}",
      "p.lua:12: ParallelRunConfig: unknown key 'allow_reuse'; write it into ParallelRunStep { ... "
      "}" },
    { "ParallelRunConfig", "{'entry_script':'a','task_overhead_timeout':5}",
      "p.lua:12: ParallelRunConfig: unknown key 'task_overhead_timeout'; write it into arguments "
      "of "
      "the step: arguments = { \"--NAME\", \"VALUE\" }" },
    { "ParallelRunStep", "{'name':'score','is_deterministic':true}",
      "p.lua:12: ParallelRunStep: unknown key 'is_deterministic'; write allow_reuse" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_err err = TM_ERR_NONE;
    struct tm_json *v = tree(NULL, "p.lua:12", cases[i].definition);
    assert_int_equal(tm_params_check(cases[i].kind, v, &err), TM_EUSAGE);
    assert_string_equal(err.text, cases[i].words);
    tm_json_free(v);
  }
}

static void refuses(void **state)
{
  static const struct {
    const char *kind, *definition, *words;
  } cases[] = {
    { "ParallelRunConfig", "{'entry_script':'a','mini_batchsize':1}",
      "p.lua:12: ParallelRunConfig: unknown key 'mini_batchsize'; did you mean "
      "'mini_batch_size'?" },
    { "ParallelRunConfig", "{'entry_script':'a','run_max_try':0}",
      "p.lua:12: ParallelRunConfig: 'run_max_try' is 0; accepted: an integer from 1 on" },
    { "ParallelRunConfig", "{'entry_script':'a','error_threshold':2147483648}",
      "p.lua:12: ParallelRunConfig: 'error_threshold' is 2147483648; accepted: an integer from -1 "
      "to 2147483647" },
    { "ParallelRunConfig", "{'entry_script':'a','run_invocation_timeout':259201}",
      "p.lua:12: ParallelRunConfig: 'run_invocation_timeout' is 259201; accepted: a number from "
      "0.001 to 259200 seconds, a duration such as \"5m\", or \"none\" for the most" },
    { "ParallelRunConfig", "{'entry_script':'a','interruptible':1}",
      "p.lua:12: ParallelRunConfig: 'interruptible' is 1; accepted: \"auto\", true or false" },
    { "ParallelRunConfig", "{'entry_script':'a','sync_interval':'1 week'}",
      "p.lua:12: ParallelRunConfig: 'sync_interval' is \"1 week\"; accepted: a number from 0.001 "
      "to 3600 seconds, a duration such as \"5m\", or \"none\" for the most" },
    { "ParallelRunConfig", "{'entry_script':'a','append_row_file_name':'..'}",
      "p.lua:12: ParallelRunConfig: 'append_row_file_name' is \"..\"; accepted: a file name, "
      "without a folder" },
    { "ParallelRunConfig", "{'entry_script':''}",
      "p.lua:12: ParallelRunConfig: 'entry_script' is \"\"; accepted: a path" },
    { "ParallelRunConfig", "{'entry_script':'a\\u0000b'}",
      "p.lua:12: ParallelRunConfig: 'entry_script' is \"a\\x00b\"; accepted: a path" },
    { "ParallelRunConfig", "{}",
      "p.lua:12: ParallelRunConfig: 'entry_script' is missing; it is required: a path, or 'model' "
      "in "
      "place of it: an ONNX file" },
    { "ParallelRunConfig", "[]",
      "p.lua:12: ParallelRunConfig: 'entry_script' is missing; it is required: a path, or 'model' "
      "in "
      "place of it: an ONNX file" },
    { "ParallelRunConfig", "7",
      "p.lua:12: ParallelRunConfig: the argument is 7; accepted: a table, ParallelRunConfig { name "
      "= value, ... }" },
    { "Pipeline", "{'name':'Digits','steps':[]}",
      "p.lua:12: Pipeline: 'name' is \"Digits\"; accepted: 1 to 32 characters of a-z, 0-9, '-' "
      "and '_', a letter first, no '-' last" },
    { "PipelineParameter", "{'name':'a=b','default_value':1}",
      "p.lua:12: PipelineParameter: 'name' is \"a=b\"; accepted: a name of letters, digits, '_', "
      "'-' and '.'" },
    { "PipelineParameter", "{'name':'a','default_value':[1]}",
      "p.lua:12: PipelineParameter: 'default_value' is a list; accepted: a string, a number, a "
      "boolean or a "
      "dataset" },
    { "Dataset", "{}", "there is no constructor 'Dataset'" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_err err = TM_ERR_NONE;
    struct tm_json *v = tree(NULL, "p.lua:12", cases[i].definition);
    assert_int_equal(tm_params_check(cases[i].kind, v, &err), TM_EUSAGE);
    assert_string_equal(err.text, cases[i].words);
    tm_json_free(v);
  }
}

static void values_of_variables_are_never_said(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v =
      tree(NULL, NULL, "{'entry_script':'a','environment_variables':{'TOKEN':'hunter2','B':[1]}}");
  assert_int_equal(tm_params_check("ParallelRunConfig", v, &err), TM_EUSAGE);
  assert_null(strstr(err.text, "hunter2"));
  tm_json_free(v);
}

static void a_parameter_is_refused_in_other_places(void **state)
{
  struct tm_json *config = tree(NULL, NULL, "{'entry_script':'a'}");
  tm_json_set(config, "mini_batch_size",
              tree("PipelineParameter", NULL, "{'name':'size','default_value':'4'}"));
  assert_int_equal(tm_params_check("ParallelRunConfig", config, NULL), 0);
  struct tm_err err = TM_ERR_NONE;
  tm_json_set(config, "max_result_size",
              tree("PipelineParameter", NULL, "{'name':'size','default_value':'4'}"));
  assert_int_equal(tm_params_check("ParallelRunConfig", config, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "'max_result_size' is a PipelineParameter, which it cannot be"));
  tm_json_free(config);
}

/* A value of a type that the field does not take. The caller frees it. */
static struct tm_json *wrong_type(const struct tm_field *f)
{
  switch (f->type) {
  case TM_FIELD_PATH:
  case TM_FIELD_FILE_NAME:
  case TM_FIELD_TEXT:
  case TM_FIELD_CHOICE:
  case TM_FIELD_ENVIRONMENT:
  case TM_FIELD_BOOL: return tm_json_new_int(17);
  case TM_FIELD_VARIABLES: return tm_json_new_string("A=1");
  default: return tm_json_new_bool(true);
  }
}

/* A value of the right type that is refused, for the caller to free; NULL: all are accepted. */
static struct tm_json *out_of_range(const struct tm_field *f, bool above)
{
  switch (f->type) {
  case TM_FIELD_INT:
  case TM_FIELD_SECONDS:
  case TM_FIELD_PERCENT:
  case TM_FIELD_SIZE:
    if (above)
      return tm_json_new_int((int64_t)f->max + 1);
    return f->min < 1 && f->min > 0 ? tm_json_new_int(0) : tm_json_new_int((int64_t)f->min - 1);
  case TM_FIELD_CHOICE: return tm_json_new_string(above ? "" : "something else");
  case TM_FIELD_PATH: return tm_json_new_string("");
  case TM_FIELD_FILE_NAME: return tm_json_new_string(above ? "a/b" : "..");
  case TM_FIELD_BOOL: return tm_json_new_string("yes");
  case TM_FIELD_VARIABLES: return tree(NULL, NULL, above ? "{'A=B':'1'}" : "{'A':[1]}");
  case TM_FIELD_ENVIRONMENT:
    return tree(NULL, NULL, above ? "{'module_paths':['a;b']}" : "{'variables':{},'more':1}");
  default: return NULL;
  }
}

/* One definition with `value` under `key` (takes ownership of both): it is refused, and the message
 * has the place, the key, the value and the accepted values. */
static void expect_refused(const struct tm_field *f, const char *key, struct tm_json *value)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf given = TM_BUF_NONE, accepted = TM_BUF_NONE;
  if (!value)
    return;
  struct tm_json *v = tree(NULL, "p.lua:12", "{'entry_script':'a'}");
  if (f->type == TM_FIELD_VARIABLES || f->type == TM_FIELD_ENVIRONMENT)
    tm_buf_add_str(&given, "'"); /* the message says nothing about those values */
  else
    tm_params_describe(&given, value);
  tm_json_set(v, key, value);
  assert_int_equal(tm_params_check("ParallelRunConfig", v, &err), TM_EUSAGE);
  tm_params_accepted(&accepted, f);
  const char *const words[] = { "p.lua:12: ParallelRunConfig: ", key, tm_buf_str(&given),
                                strcmp(key, f->name) == 0 ? tm_buf_str(&accepted) : f->name };
  size_t first = strcmp(key, f->name) == 0 ? 0 : 3; /* an unknown key: the most similar one */
  for (size_t i = 0; i < 4; i++)
    if ((i < 2 || first == 0 || i == 3) && !strstr(err.text, words[i]))
      fail_msg("'%s' is missing in: %s", words[i], err.text);
  tm_buf_release(&given);
  tm_buf_release(&accepted);
  tm_json_free(v);
}

static void every_key_is_refused_when_it_is_wrong(void **state)
{
  size_t n;
  const struct tm_field *fields = tm_params_fields("ParallelRunConfig", &n);
  for (size_t i = 0; i < n; i++) {
    char *unknown = tm_xprintf("%sq", fields[i].name);
    expect_refused(&fields[i], unknown, tm_json_new_int(1));
    expect_refused(&fields[i], fields[i].name, wrong_type(&fields[i]));
    expect_refused(&fields[i], fields[i].name, out_of_range(&fields[i], false));
    expect_refused(&fields[i], fields[i].name, out_of_range(&fields[i], true));
    free(unknown);
  }
}

static void upper_and_lower_case_words_become_one_form(void **state)
{
  const struct tm_field *f = tm_params_find("ParallelRunConfig", "logging_level");
  static const char *const given[] = { "warning", "Warning", "WARNING" };
  for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
    struct tm_json *v = tm_json_new_string(given[i]), *settled = tm_params_value(f, v, NULL);
    assert_non_null(settled);
    assert_string_equal(settled->string.at, "WARNING");
    tm_json_free(settled);
    tm_json_free(v);
  }
}

UNIT_TESTS({
    cmocka_unit_test(every_field_is_complete),
    cmocka_unit_test(values_have_one_form),
    cmocka_unit_test(refuses),
    cmocka_unit_test(names_of_the_original_are_answered),
    cmocka_unit_test(every_key_is_refused_when_it_is_wrong),
    cmocka_unit_test(upper_and_lower_case_words_become_one_form),
    cmocka_unit_test(values_of_variables_are_never_said),
    cmocka_unit_test(a_parameter_is_refused_in_other_places),
});
