/* test_section_settings.c - inputs, outputs and settings, on the page. */
#include "unit.h"

#include "page_case.h"

static void settings_show_what_is_not_default_first(void **state)
{
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  *TM_ARRAY_ADD(&s->settings) =
      (struct tm_fact_setting) { "run_max_try", "3", "default", true, NULL, false };
  *TM_ARRAY_ADD(&s->settings) =
      (struct tm_fact_setting) { "mini_batch_size", "5", "file pipeline.lua:6", false, "4", false };
  const char *text = fixture_section(&f, "settings");
  expect(text, "In the last completed job");
  expect(text, "1 setting has its default");
  assert_true(strstr(text, "mini_batch_size") < strstr(text, "run_max_try"));
  (void)state;
}

static void bytes_are_also_shown_as_a_size(void **state)
{
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  *TM_ARRAY_ADD(&s->settings) =
      (struct tm_fact_setting) { "worker_memory_limit", "209715200", "file", false,
                                 "104857600",           true };
  const char *text = fixture_section(&f, "settings");
  expect(text, "<code>209715200</code> <small>200 MB</small>");
  expect(text, "<code>104857600</code> <small>100 MB</small>");
  (void)state;
}

static void a_script_has_its_hash_and_that_of_the_last_job(void **state)
{
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  *TM_ARRAY_ADD(&s->settings) = (struct tm_fact_setting) { "a", "1", "file", false, NULL, false };
  s->script = "/x/score.lua";
  s->script_hash = "1351ce77";
  const char *text = fixture_section(&f, "settings");
  expect(text, "Entry script: <code>/x/score.lua</code> · hash of the files of its folder: "
               "<code>1351ce77</code></p>");
  s->script_hash_before = "999";
  expect(fixture_section(&f, "settings"), "</code> (in the last completed job: <code>999</code>)");
  (void)state;
}

static void inputs_and_outputs_show_what_is_known(void **state)
{
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  *TM_ARRAY_ADD(&s->inputs) = (struct tm_fact_input) { "a", "files", "a/*", NULL, -1, -1 };
  *TM_ARRAY_ADD(&s->outputs) =
      (struct tm_fact_output) { "rows", "/x/rows.csv", NULL, NULL, -1, -1 };
  const char *text = fixture_section(&f, "settings");
  assert_null(strstr(text, "Files</th>"));
  assert_null(strstr(text, "Rows</th>"));
  assert_null(strstr(text, "Registered as"));
  *TM_ARRAY_ADD(&s->inputs) = (struct tm_fact_input) { "b", "files", "b/*", "3", -1, -1 };
  s->input_files = 1200;
  s->input_bytes = 2048;
  s->outputs.at[0].rows = 18000;
  s->outputs.at[0].registered = "totals:2";
  text = fixture_section(&f, "settings");
  expect(text, "All inputs together: 1,200 files, 2.0 KB.");
  expect(text, "Version</th>");
  expect(text, "<td class='num'>18,000</td>");
  expect(text, "Registered as</th>");
  expect(text, "<td>totals:2</td>");
  (void)state;
}

UNIT_TESTS({
    CASE(settings_show_what_is_not_default_first),
    CASE(bytes_are_also_shown_as_a_size),
    CASE(a_script_has_its_hash_and_that_of_the_last_job),
    CASE(inputs_and_outputs_show_what_is_known),
});
