/* test_section_figures.c - the few numbers of a job, on the page. */
#include "unit.h"

#include "page_case.h"

static void figures_of_one_mini_batch_have_no_speed(void **state)
{
  fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  f.job.counts = (struct tm_fact_counts) { 1, 1, 0, true, 5, 5, 0 };
  fixture_add_worker(&f, 0, "process000", 0, 2, "stopped");
  fixture_add_try(&f, 0, 0, "process000", 0.5, 1, "", "");
  tm_step_model_settle(&f.models[0], 0);
  const char *text = fixture_section(&f, "figures");
  expect(text, "<dt>of 1 mini-batch done</dt>");
  expect(text, "<dd class='v'>50 %</dd> <dd>25 % in init()</dd>");
  expect(text, "<dd class='v'>8.2 MB</dd>");
  assert_null(strstr(text, "/s<"));
  (void)state;
}

static void figures_of_a_moment_have_no_speed(void **state)
{
  fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  f.job.counts = (struct tm_fact_counts) { 12, 12, 0, true, 12, 12, 0 };
  fixture_add_worker(&f, 0, "process000", 0, 0.02, "stopped");
  for (int i = 0; i < 12; i++)
    fixture_add_try(&f, 0, i, "process000", 0.001 * i, 0.001, "", "");
  tm_step_model_settle(&f.models[0], 0);
  assert_null(strstr(fixture_section(&f, "figures"), "/s<"));
  (void)state;
}

static void figures_of_many_have_median_and_peak(void **state)
{
  fixture_add_step(&f, "score", TM_FACT_FAILED)->error_threshold = 3;
  f.job.counts = (struct tm_fact_counts) { 1000, 58, 1, true, 5000, 290, 5 };
  fixture_add_worker(&f, 0, "process000", 0, 60, "stopped");
  for (int i = 0; i < 59; i++)
    fixture_add_try(&f, 0, i, "process000", 0.5 + i, 0.9, i == 30 ? "error" : "", "x");
  tm_step_model_settle(&f.models[0], 0);
  const char *text = fixture_section(&f, "figures");
  expect(text, "<dd>1 failed · 941 not done</dd>");
  expect(text, "<dd class='v'>1.7 %</dd> <dd>5 of 295 · tolerated: 3 (0.06 %)</dd>");
  expect(text, "<dt>items, median</dt>");
  f.job.steps.at[0].error_threshold = -1;
  expect(fixture_section(&f, "figures"), "5 of 295 · any number is tolerated</dd>");
  f.job.steps.at[0].error_threshold = 0;
  expect(fixture_section(&f, "figures"), "5 of 295 · tolerated: 0</dd>");
  expect(text, "<dd class='v'>4.9/s</dd>");
  (void)state;
}

/* The threshold is that of a step. */
static void the_tolerated_share_of_several_steps_names_the_step(void **state)
{
  for (int i = 0; i < 2; i++) {
    struct tm_fact_step *s = fixture_add_step(&f, i == 0 ? "load" : "score", TM_FACT_COMPLETED);
    s->error_threshold = 10;
    s->counts = (struct tm_fact_counts) { 40, 40, 0, true, 200, 200, 0 };
  }
  f.job.counts = (struct tm_fact_counts) { 80, 80, 0, true, 400, 395, 5 };
  f.job.steps.at[1].counts.items_failed = 5;
  assert_null(strstr(fixture_section(&f, "figures"), "tolerated"));
  f.page.step = 1;
  expect(fixture_section(&f, "figures"),
         "5 of 400 · 5 in step <bdi>score</bdi>, which tolerates 10 (5 %)</dd>");
  expect(fixture_section(&f, "result"), " error_threshold of step <bdi>score</bdi> tolerates 10.");
  f.job.steps.at[1].error_threshold = -1;
  expect(fixture_section(&f, "figures"), ", which tolerates any number</dd>");
  f.job.steps.at[1].error_threshold = 10;
  f.job.state = TM_FACT_RUNNING;
  expect(fixture_section(&f, "figures"),
         " · 5 in step <bdi>score</bdi>, which tolerates 10 (5 %)</dd>");
  (void)state;
}

UNIT_TESTS({
    CASE(figures_of_one_mini_batch_have_no_speed),
    CASE(figures_of_a_moment_have_no_speed),
    CASE(figures_of_many_have_median_and_peak),
    CASE(the_tolerated_share_of_several_steps_names_the_step),
});
