/* test_resume.c - what may change when a job is resumed, and what may not. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "params/params.h"
#include "snapshot/resume.h"
#include "tree.h"

static const char *const base =
    "{'name':'s','settings':{'entry_script':{'value':'/a.lua','origin':'file'},"
    "'mini_batch_size':{'value':5,'origin':'file'},'run_max_try':{'value':3,'origin':'default'}},"
    "'inputs':[{'kind':'files','paths':['a'],'base_dir':'/'}],'arguments':['x'],"
    "'snapshot_hash':'00ff'}";

static struct tm_json *set_value(struct tm_json *v, const char *name, struct tm_json *value)
{
  struct tm_json *setting = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(setting, "value", value);
  tm_json_set(setting, "origin", tm_json_new_string("parameter"));
  tm_json_set(tm_json_get(v, "settings"), name, setting);
  return v;
}

/* One change, as "key before now allowed". Frees `now`. */
static void changes_to(struct tm_json *now, const char *expected)
{
  struct tm_json *before = tree(NULL, NULL, base);
  struct tm_changes changes = { 0 };
  struct tm_buf said = TM_BUF_NONE;
  tm_resume_compare(before, now, &changes);
  for (size_t i = 0; i < changes.len; i++)
    tm_buf_printf(&said, "%s: %s -> %s%s\n", changes.at[i].key, changes.at[i].before,
                  changes.at[i].now, changes.at[i].is_allowed ? "" : " (refused)");
  assert_string_equal(tm_buf_str(&said), expected);
  tm_buf_release(&said);
  tm_changes_release(&changes);
  tm_json_free(before);
  tm_json_free(now);
}

static struct tm_json *now(void)
{
  return tree(NULL, NULL, base);
}

static void the_same_definition_is_not_a_change(void **state)
{
  changes_to(now(), "");
  changes_to(set_value(now(), "mini_batch_size", tm_json_new_int(5)), ""); /* a different origin */
  changes_to(set_value(now(), "logging_level", tm_json_new_string("INFO")),
             ""); /* set to its default */
}

static void a_change_that_affects_the_output_is_refused(void **state)
{
  changes_to(set_value(now(), "mini_batch_size", tm_json_new_int(6)),
             "mini_batch_size: 5 -> 6 (refused)\n");
  changes_to(set_value(now(), "output_action", tm_json_new_string("summary_only")),
             "output_action: \"append_row\" -> \"summary_only\" (refused)\n");
  changes_to(set_value(now(), "append_row_file_name", tm_json_new_string("o.txt")),
             "append_row_file_name: \"parallel_run_step.txt\" -> \"o.txt\" (refused)\n");
  changes_to(set_value(now(), "source_directory", tm_json_new_string("/s")),
             "source_directory: none -> \"/s\" (refused)\n");
  changes_to(set_value(now(), "partition_keys", tree(NULL, NULL, "['k']")),
             "partition_keys: none -> [\"k\"] (refused)\n");
  changes_to(set_value(now(), "append_row_separator", tm_json_new_string(";")),
             "append_row_separator: none -> \";\" (refused)\n");
  changes_to(set_value(now(), "append_row_line_break", tm_json_new_string("escape")),
             "append_row_line_break: \"error\" -> \"escape\" (refused)\n");
  struct tm_json *v = now();
  tm_json_set(v, "arguments", tree(NULL, NULL, "['y']"));
  changes_to(v, "arguments[1]: \"x\" -> \"y\" (refused)\n");
  v = now();
  tm_json_set(tm_json_get(v, "inputs")->list.at[0], "paths", tree(NULL, NULL, "['b']"));
  changes_to(v, "inputs[1].paths: \"a\" -> \"b\" (refused)\n");
  v = now();
  tm_json_set(tm_json_get(v, "inputs")->list.at[0], "paths", tree(NULL, NULL, "['a','b']"));
  tm_json_set(tm_json_get(v, "inputs")->list.at[0], "limit", tm_json_new_int(3));
  changes_to(v, "inputs[1].paths[2]: none -> \"b\" (refused)\n"
                "inputs[1].limit: none -> 3 (refused)\n");
  v = now();
  tm_json_set(tm_json_get(v, "inputs")->list.at[0], "kind", tm_json_new_string("delimited"));
  tm_json_set(tm_json_get(v, "inputs")->list.at[0], "paths", tree(NULL, NULL, "['t.csv']"));
  tm_json_set(tm_json_get(v, "inputs")->list.at[0], "limit", tm_json_new_int(3));
  changes_to(v, "inputs[1].kind: \"files\" -> \"delimited\" (refused)\n"
                "inputs[1].paths: \"a\" -> \"t.csv\" (refused)\n");
  v = now();
  tm_json_add(tm_json_get(v, "inputs"), tree(NULL, NULL, "{'kind':'files','paths':['c']}"));
  changes_to(v, "inputs[2]: none -> \"c\" (refused)\n");
  v = now();
  tm_json_set(v, "snapshot_hash", tm_json_new_string("1234"));
  changes_to(v, "script: \"00ff\" -> \"1234\" (refused)\n");
}

static void how_it_is_run_may_change(void **state)
{
  changes_to(set_value(now(), "run_max_try", tm_json_new_int(9)), "run_max_try: 3 -> 9\n");
  changes_to(set_value(now(), "process_count_per_node", tm_json_new_int(2)),
             "process_count_per_node: none -> 2\n");
  changes_to(set_value(now(), "error_threshold", tm_json_new_int(2)), "error_threshold: -1 -> 2\n");
  changes_to(
      set_value(now(), "environment_variables", tree(NULL, NULL, "{'names':['A'],'hash':'00'}")),
      "environment_variables: none -> [\"A\"]\n");
}

static void other_values_of_variables_are_a_change_without_values(void **state)
{
  struct tm_json *before =
      set_value(now(), "environment_variables", tree(NULL, NULL, "{'names':['A'],'hash':'00'}"));
  struct tm_json *after =
      set_value(now(), "environment_variables", tree(NULL, NULL, "{'names':['A'],'hash':'01'}"));
  struct tm_changes changes = { 0 };
  tm_resume_compare(before, after, &changes);
  assert_int_equal(changes.len, 1);
  assert_string_equal(changes.at[0].now, "[\"A\"], with other values");
  tm_changes_release(&changes);
  tm_json_free(before);
  tm_json_free(after);
}

static void the_verdict_names_each(void **state)
{
  struct tm_json *before = now(), *after = now();
  struct tm_changes changes = { 0 };
  struct tm_err err = TM_ERR_NONE;
  set_value(after, "run_max_try", tm_json_new_int(9));
  tm_resume_compare(before, after, &changes);
  assert_int_equal(tm_resume_verdict(&changes, "s", &err), 0);
  tm_changes_release(&changes);
  set_value(after, "mini_batch_size", tm_json_new_int(6));
  tm_json_set(after, "arguments", tree(NULL, NULL, "[]"));
  tm_resume_compare(before, after, &changes);
  assert_int_equal(changes.len, 3);
  assert_int_equal(tm_resume_verdict(&changes, "s", &err), TM_ECHANGED);
  assert_string_equal(
      err.text, "step 's' has changed since the job was started: 'mini_batch_size' was 5 and is 6; "
                "'arguments[1]' was "
                "\"x\" and is none; put it back, start a new job, or resume with `accept_changes`");
  tm_changes_release(&changes);
  tm_json_free(before);
  tm_json_free(after);
}

UNIT_TESTS({
    cmocka_unit_test(the_same_definition_is_not_a_change),
    cmocka_unit_test(a_change_that_affects_the_output_is_refused),
    cmocka_unit_test(how_it_is_run_may_change),
    cmocka_unit_test(other_values_of_variables_are_a_change_without_values),
    cmocka_unit_test(the_verdict_names_each),
});
