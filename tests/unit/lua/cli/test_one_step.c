/* test_one_step.c - names of jobs, and parameters as options. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "api/command_host.h"
#include "cli/one_step.h"
#include "params/params.h"

static void any_script_makes_a_name(void **state)
{
  static const struct {
    const char *script, *name;
  } cases[] = {
    { "score.lua", "score" },
    { "/a/b.c/My Score_2.lua", "my-score-2" },
    { "a.lua", "map-a" },
    { "7.lua", "map" },
    { "42-is.lua", "map-is" },
    { "---.lua", "map" },
    { "x--__--y.lua", "x-y" },
    { "end-.lua", "end" },
    { "\xc3\xa9t\xc3\xa9.lua", "map-t" },
    { "noext", "noext" },
    { "abcdefghijklmnopqrstuvwxyz0123456789.lua", "abcdefghijklmnopqrstuvwxyz012345" },
    { "abcdefghijklmnopqrstuvwxyz01234 6789.lua", "abcdefghijklmnopqrstuvwxyz01234" },
  };
  const struct tm_field *rule = tm_params_find("Pipeline", "name");
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    char *name = tm_one_step_name(cases[i].script);
    assert_string_equal(name, cases[i].name);
    struct tm_json *v = tm_json_new_string(name), *taken = tm_params_value(rule, v, NULL);
    assert_non_null(taken);
    tm_json_free(taken);
    tm_json_free(v);
    free(name);
  }
}

struct given {
  const char *overwritten;
  struct tm_parameter_words parameters;
};

static int set(void *data, const char *name, const char *value, struct tm_err *err)
{
  return tidemill_pipeline_step_set(data, name, value, err);
}

static int set_input(void *data, const char *name, const char *value, struct tm_err *err)
{
  return tidemill_pipeline_input_set(data, name, value, err);
}

/* The message of the error; or NULL, and *out is the pipeline that the options have made. */
static const char *read_words(const char *const *words, struct tidemill_pipeline *p,
                              struct tm_json **out, struct tm_err *err)
{
  static const struct tm_option own[] = {
    { "description", TM_OPTION_VALUE, offsetof(struct given, overwritten), "TEXT", NULL, "mine" },
  };
  struct tm_parameter_options options;
  struct given *g = calloc(1, sizeof(*g));
  struct tm_words rest = { 0 };
  char *argv[16] = { "map" };
  int argc = 1;
  for (; words[argc - 1]; argc++)
    argv[argc] = (char *)words[argc - 1];
  tm_parameter_options_init(&options, own, 1, TM_TAKES_ALL_GROUPS,
                            offsetof(struct given, parameters));
  int rc = tm_options_read(options.all.at, options.all.len, argc, argv, g, &rest, err);
  struct tidemill_pipeline_step *step;
  struct tidemill_pipeline_input *input = NULL;
  assert_int_equal(tidemill_pipeline_find_step(&step, p, "case", NULL), 0);
  (void)tidemill_pipeline_step_input(&input, step, 0, NULL);
  if (rc == 0)
    rc = tm_parameter_words_each(&g->parameters, TM_PARAMETERS_CONFIG, set, step, err);
  for (int group = 0; rc == 0 && group < TM_PARAMETERS_CONFIG; group++)
    rc = tm_parameter_words_each(&g->parameters, (enum tm_parameter_group)group, set_input, input,
                                 err);
  *out = tm_json_get(tm_json_get(p->tree, "steps")->list.at[0], "parallel_run_config");
  tm_parameter_options_release(&options);
  tm_parameter_words_release(&g->parameters);
  TM_ARRAY_RELEASE(&rest);
  free(g);
  return rc == 0 ? NULL : err->text;
}

/* Of a command for one step. */
static struct tidemill_pipeline *begin(struct tidemill_runtime **rt)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tidemill_pipeline *p;
  o.program = "/bin/sh"; /* nothing runs */
  assert_int_equal(tidemill_runtime_new(rt, &o, NULL), 0);
  tm_runtime_be_command(*rt, tm_fs_real());
  assert_int_equal(tidemill_pipeline_new(&p, *rt, "case", "/cwd", NULL), 0);
  assert_int_equal(tidemill_pipeline_add_step(NULL, p, "case", "score.lua", NULL), 0);
  return p;
}

static void end(struct tidemill_pipeline *p, struct tidemill_runtime *rt)
{
  tidemill_pipeline_free(p);
  assert_int_equal(tidemill_runtime_close(rt, NULL), 0);
}

#define READ(...) read_words((const char *const[]) { __VA_ARGS__, NULL }, p, &v, &err)

static void parameters_are_options(void **state)
{
  struct tm_json *v;
  struct tm_err err = TM_ERR_NONE;
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *p = begin(&rt);
  assert_null(READ("-N", "5", "--mini_batch_size=6", "--run-invocation-timeout", "0.5",
                   "--source-directory", "src", "--environment-variables", "A=b=c",
                   "--environment-variables", "B=d", "--description", "x"));
  assert_string_equal(tm_json_str(v, "mini_batch_size", ""), "6");
  assert_string_equal(tm_json_str(v, "run_invocation_timeout", ""), "0.5");
  assert_string_equal(tm_json_str(v, "source_directory", ""), "src");
  assert_string_equal(tm_json_str(tm_json_get(v, "environment_variables"), "A", ""), "b=c");
  assert_string_equal(tm_json_str(tm_json_get(v, "environment_variables"), "B", ""), "d");
  assert_null(tm_json_get(v, "description")); /* the caller's own */
  assert_null(READ("--partition-keys", "a,b", "--partition-keys", "c"));
  assert_int_equal(tm_json_get(v, "partition_keys")->list.len, 3);
  end(p, rt);
}

static void refusals_name_the_option(void **state)
{
  struct tm_json *v;
  struct tm_err err = TM_ERR_NONE;
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *p = begin(&rt);
  assert_string_equal(READ("-j0"),
                      "'--process-count-per-node' is \"0\"; accepted: an integer from 1 on");
  assert_non_null(strstr(READ("--output-action", "rows"), "'--output-action' is \"rows\""));
  assert_non_null(strstr(READ("--entry-script", "x"), "unknown option '--entry-script'"));
  assert_string_equal(READ("--environment-variables", "hidden"),
                      "'--environment-variables' is not of the form NAME=VALUE");
  end(p, rt);
}

/* The options of the input that was added last. */
static struct tm_json *input_options(struct tidemill_pipeline *p)
{
  struct tm_json *inputs = tm_json_get(tm_json_get(p->tree, "steps")->list.at[0], "inputs");
  return tm_json_get(inputs->list.at[inputs->list.len - 1], "options");
}

static void options_of_tables_are_options(void **state)
{
  struct tm_json *v;
  struct tm_err err = TM_ERR_NONE;
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *p = begin(&rt);
  struct tidemill_pipeline_step *step;
  assert_int_equal(tidemill_pipeline_find_step(&step, p, "case", NULL), 0);
  assert_int_equal(tidemill_pipeline_step_add_table(NULL, step, "x.CSV", NULL, NULL), 0);
  assert_null(READ("--separator", ";", "--support_multi_line=true", "--max-columns", "5",
                   "--set-column-types", "a=long,b=c=string", "--set-column-types", "d=bool"));
  v = input_options(p);
  assert_string_equal(tm_json_str(v, "separator", ""), ";");
  assert_true(tm_json_bool(v, "support_multi_line", false));
  assert_string_equal(tm_json_str(v, "max_columns", ""), "5");
  const struct tm_json *types = tm_json_get(v, "set_column_types");
  assert_int_equal(types->list.len, 3);
  assert_string_equal(tm_json_str(types, "b=c", ""), "string");
  assert_null(READ("--set-column-types", "{\"d\": {\"type\": \"datetime\"}}"));
  assert_int_equal(tm_json_get(input_options(p), "set_column_types")->list.len, 1);
  assert_string_equal(READ("--header", "yes"),
                      "'--header' is \"yes\"; accepted: true, \"all_files_same\", "
                      "\"from_first_file\", false, \"none\" or \"all_files_different\"");
  assert_non_null(strstr(READ("--set-column-types", "a"),
                         "'--set-column-types' is \"a\"; accepted: "
                         "NAME=TYPE,... with the types bool"));
  assert_non_null(strstr(READ("--set-column-types", "a=lng"), "is \"a=lng\"; accepted: NAME=TYPE"));
  assert_string_equal(READ("--columns", "a"), "'--columns' goes with JSON lines, and 'x.CSV' is "
                                              "read as CSV; --input-format says otherwise");
  end(p, rt);
}

/* If no command took a parameter, messages would name an option that users cannot set. */
static void every_parameter_of_inputs_is_an_option(void **state)
{
  static const char *const constructors[] = {
    "Dataset.File.from_files",
    "Dataset.File.from_archives",
    "Dataset.Tabular.from_delimited_files",
    "Dataset.Tabular.from_json_lines_files",
    "ParallelRunConfig",
  };
  struct tm_parameter_options o;
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  tm_parameter_options_init(&o, NULL, 0, TM_TAKES_ALL_GROUPS, 0);
  for (size_t c = 0; c < TM_COUNT_OF(constructors); c++)
    for (size_t i = 0; tidemill_parameter(constructors[c], i, &p); i++) {
      size_t found = 0;
      for (size_t k = 0; k < o.all.len; k++) {
        char *name = tm_xstrdup(o.all.at[k].name);
        for (char *at = name; (at = strchr(at, '-'));)
          *at = '_';
        found += strcmp(name, p.name) == 0;
        free(name);
      }
      if (found != (strcmp(p.name, "entry_script") != 0))
        fail_msg("%s: %zu options are '%s'", constructors[c], found, p.name);
    }
  tm_parameter_options_release(&o);
}

UNIT_TESTS({
    cmocka_unit_test(any_script_makes_a_name),
    cmocka_unit_test(parameters_are_options),
    cmocka_unit_test(refusals_name_the_option),
    cmocka_unit_test(options_of_tables_are_options),
    cmocka_unit_test(every_parameter_of_inputs_is_an_option),
});
