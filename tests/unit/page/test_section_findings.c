/* test_section_findings.c - what stands out, on the page. */
#include "unit.h"

#include "page_case.h"

static void findings_lead_to_their_section(void **state)
{
  fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  assert_string_equal(fixture_section(&f, "findings"), ""); /* nothing to look at */
  fixture_add_worker(&f, 0, "process000", 0, 2, "stopped");
  expect(fixture_section(&f, "findings"), "Nothing: no try and no worker failed");
  f.models[0].workers.inits_failed = 1;
  expect(fixture_section(&f, "findings"), "Nothing besides the failures");
  f.findings.len = 2;
  f.findings.at[0] = (struct tm_finding) { .letter = 'A',
                                           .weight = TM_WEIGHT_HIGH,
                                           .head = (char *)"A burst:",
                                           .text = (char *)"8 of 9",
                                           .lost_ns = 7200 * TM_S,
                                           .section = "failures" };
  f.findings.at[1] = (struct tm_finding) { .letter = 'B',
                                           .head = (char *)"A tail:",
                                           .text = (char *)"",
                                           .lost_ns = 48 * TM_MS,
                                           .section = "timeline" };
  const char *text = fixture_section(&f, "findings");
  expect(text, "<li class=\"high\" id=\"finding-a\"><b class='letter'>A</b> <a href=\"#failures\">"
               "<b>A burst:</b> 8 of 9</a> <em>2.0 worker hours</em></li>");
  expect(text, "id=\"finding-b\"");
  expect(text, "<em>48 ms of worker time</em>");
  fixture_add_step(&f, "total", TM_FACT_COMPLETED);
  f.findings.at[1].step = 1;
  text = fixture_section(&f, "findings");
  expect(text, "8 of 9 (step <bdi>score</bdi>)</a> <em>2.0 worker hours</em>");
  expect(text, " (step <bdi>total</bdi>)</a> <em>48 ms of worker time</em>");
  (void)state;
}

static void a_pattern_is_shown_as_in_the_failures(void **state)
{
  fixture_add_step(&f, "score", TM_FACT_COMPLETED);
  fixture_add_worker(&f, 0, "process000", 0, 2, "stopped");
  f.findings.len = 1;
  f.findings.at[0] = (struct tm_finding) { .letter = 'A',
                                           .head = (char *)"One error:",
                                           .text = (char *)"page <n> has no title",
                                           .section = "failures" };
  expect(fixture_section(&f, "findings"), "page <var>number</var> has no title");
  (void)state;
}

UNIT_TESTS({
    CASE(findings_lead_to_their_section),
    CASE(a_pattern_is_shown_as_in_the_failures),
});
