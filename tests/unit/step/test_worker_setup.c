/* What a step's definition says to whatever calls its script. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "plan/settings.h"
#include "step/worker_setup.h"

static struct tm_json *parse(const char *text)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = tm_json_parse(text, strlen(text), &err);
  assert_non_null(v);
  return v;
}

static void a_setup_has_what_the_settings_say(void **state)
{
  struct tm_json *settings = parse("{\"output_action\":{\"value\":\"summary_only\"},"
                                   "\"append_row_line_break\":{\"value\":\"escape\"},"
                                   "\"append_row_file_name\":{\"value\":\"rows.tsv\"},"
                                   "\"logging_level\":{\"value\":\"DEBUG\"},"
                                   "\"interruptible\":{\"value\":\"true\"},"
                                   "\"max_result_size\":{\"value\":7},"
                                   "\"worker_memory_limit\":{\"value\":8},"
                                   "\"run_invocation_timeout\":{\"value\":2},"
                                   "\"init_timeout\":{\"value\":0.5}}");
  struct tm_dataset named = { .name = (char *)"images" }, unnamed = { .name = NULL };
  struct tm_dataset *inputs[] = { &named, &unnamed };
  struct tm_step_output output = { .name = (char *)"scores" };
  char *arguments[] = { (char *)"--model", (char *)"m.bin" };
  struct tm_step step = { .inputs = inputs,
                          .inputs_len = 2,
                          .outputs = &output,
                          .outputs_len = 1,
                          .arguments = arguments,
                          .arguments_len = 2 };
  struct tm_setup s;
  tm_config_read(&step.config, settings);
  tm_setup_of_step(&s, &step);
  assert_string_equal(s.datasets[0], "images");
  assert_string_equal(s.datasets[1], "");
  assert_int_equal(s.datasets_len, 2);
  assert_string_equal(s.outputs[0], "scores");
  assert_string_equal(s.arguments[1], "m.bin");
  assert_string_equal(s.tables, "");
  assert_false(s.append_row);
  assert_true(s.escapes_line_breaks);
  assert_true(s.is_interruptible);
  assert_int_equal(s.separator, '\t');
  assert_int_equal(s.logging_level, TM_DEBUG);
  assert_int_equal(s.max_result_size, 7);
  assert_int_equal(s.memory_limit, 8);
  assert_int_equal(s.run_timeout_ns, 2 * TM_S);
  assert_int_equal(s.init_timeout_ns, TM_S / 2);
  tm_setup_release_step(&s);
  tm_setup_release_step(&s); /* does nothing */
  tm_config_release(&step.config);
  tm_json_free(settings);
}

static void workers_of_a_node_share_its_cores(void **state)
{
  assert_int_equal(tm_setup_cores(8, 2), 4);
  assert_int_equal(tm_setup_cores(8, 3), 2);
  assert_int_equal(tm_setup_cores(8, 1), 8);
  assert_int_equal(tm_setup_cores(2, 5), 1);
  assert_int_equal(tm_setup_cores(0, 0), 1);
}

/* The record of a job may be older than a setting, or damaged. */
static void settings_of_a_record_may_be_missing_or_wrong(void **state)
{
  static const char *const records[] = {
    "{}",
    "{\"returns\":{},\"logging_level\":{\"value\":3},\"max_result_size\":{\"value\":\"x\"}}",
    "{\"init_timeout\":{\"value\":1e300},\"run_invocation_timeout\":{\"value\":-1}}",
    "{\"append_row_separator\":{\"value\":\"\"},\"append_row_header\":{\"value\":\"x\"}}",
    "[]",
  };
  for (size_t i = 0; i < TM_COUNT_OF(records); i++) {
    struct tm_json *settings = parse(records[i]);
    struct tm_config c = { 0 };
    tm_config_read(&c, settings);
    assert_int_equal(c.returns, TM_RETURNS_ROWS);
    assert_int_equal(c.logging_level, TM_INFO);
    assert_int_equal(c.max_result_size, 0);
    assert_int_equal(c.init_timeout_ns, 0);
    assert_int_equal(c.run_invocation_timeout_ns, 0);
    assert_false(c.append_row_header);
    tm_config_release(&c);
    tm_json_free(settings);
  }
}

/* "none" is the most that a parameter accepts. */
static void the_longest_durations_are_kept(void **state)
{
  struct tm_json *settings = parse("{\"progress_update_timeout\":{\"value\":1e9},"
                                   "\"first_task_creation_timeout\":{\"value\":1e9},"
                                   "\"resource_monitor_interval\":{\"value\":2147483647}}");
  struct tm_config c = { 0 };
  tm_config_read(&c, settings);
  assert_true(c.progress_timeout_ns == 1000000000 * TM_S);
  assert_true(c.first_timeout_ns == 1000000000 * TM_S);
  assert_true(c.monitor_interval_ns == 2147483647 * TM_S);
  tm_config_release(&c);
  tm_json_free(settings);
}

UNIT_TESTS({
    cmocka_unit_test(a_setup_has_what_the_settings_say),
    cmocka_unit_test(workers_of_a_node_share_its_cores),
    cmocka_unit_test(settings_of_a_record_may_be_missing_or_wrong),
    cmocka_unit_test(the_longest_durations_are_kept),
});
