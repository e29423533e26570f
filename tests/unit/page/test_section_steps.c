/* test_section_steps.c - the steps of a job, on the page. */
#include "unit.h"

#include "page_case.h"

static void steps_are_a_graph_or_a_list(void **state)
{
  fixture_add_step(&f, "first", TM_FACT_COMPLETED);
  assert_string_equal(fixture_section(&f, "steps"), "");
  struct tm_fact_step *s = fixture_add_step(&f, "second", TM_FACT_FAILED);
  *TM_ARRAY_ADD(&s->after) = 0;
  s->cause = "boom";
  const char *text = fixture_section(&f, "steps");
  expect(text, "aria-label=\"Steps: first (Completed); second (Failed), after first\"");
  expect(text, "<span class=\"of-bad\">✗ Failed</span>");
  expect(text, "boom");
  fixture_stop(&f);
  fixture_start(&f);
  f.page.steps = NULL;
  for (int i = 0; i < 61; i++)
    *TM_ARRAY_ADD(&f.job.steps) =
        (struct tm_fact_step) { .name = "x", .state = TM_FACT_WAITING, .damage_at_byte = -1 };
  text = fixture_section(&f, "steps");
  assert_null(strstr(text, "<svg"));
  assert_int_equal(count(text, "<th scope='row'>"), 61);
  f.job.steps.len = 0;
  (void)state;
}

static void a_skipped_step_names_what_it_needs(void **state)
{
  fixture_add_step(&f, "load", TM_FACT_COMPLETED);
  fixture_add_step(&f, "score", TM_FACT_FAILED);
  struct tm_fact_step *s = fixture_add_step(&f, "publish", TM_FACT_SKIPPED);
  *TM_ARRAY_ADD(&s->after) = 0;
  *TM_ARRAY_ADD(&s->after) = 1;
  const char *text = fixture_section(&f, "steps");
  expect(text, ">Skipped · needs score</text>");
  expect(text, "<td class='path'>needs <bdi>score</bdi>, which did not complete</td>");
  (void)state;
}

static void a_box_has_room_for_the_longest_state(void **state)
{
  fixture_add_step(&f, "load", TM_FACT_COMPLETED);
  struct tm_fact_step *s = fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  s->counts = (struct tm_fact_counts) { 19900, 17400, 2500, true, 19900, 17400, 2500 };
  expect(fixture_section(&f, "steps"), ">Completed with failures · 17,400 of 19,900</text>");
  (void)state;
}

UNIT_TESTS({
    CASE(steps_are_a_graph_or_a_list),
    CASE(a_skipped_step_names_what_it_needs),
    CASE(a_box_has_room_for_the_longest_state),
});
