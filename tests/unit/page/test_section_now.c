/* test_section_now.c - what workers do right now, on the page. */
#include "unit.h"

#include "page_case.h"

static void add_activity(size_t step, const char *worker, const char *phase, int64_t mini_batch,
                         int64_t seconds)
{
  *TM_ARRAY_ADD(&f.job.steps.at[step].running) =
      (struct tm_fact_activity) { .worker = worker,
                                  .phase = phase,
                                  .first_item = "in/<b>.txt",
                                  .elapsed_ns = seconds * TM_S,
                                  .begun_ns = mini_batch < 0 ? 0 : FIXTURE_BEGIN,
                                  .mini_batch = mini_batch,
                                  .try_number = 2 };
}

/* `what` come one behind the other. */
static void expect_order(const char *text, const char *const *what, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const char *at = strstr(text, what[i]);
    if (!at)
      fail_msg("'%s' is missing, or too early, in: %s", what[i], text);
    text = at;
  }
}

static void right_now_shows_the_longest_of_all_steps_first(void **state)
{
  static const char *const order[] = {
    "longest first",       "process003</bdi></td><td><bdi>second</bdi>",
    "41.0 s of 60 s</td>", "<time datetime=\"2026-11-21T22:26:40.000000Z\">",
    "<td>stopped</td>",    "412,871</td><td class='num'>2</td><td class='path'><bdi>in/&lt;b&gt;",
    "process001</bdi>",    "9.00 s</td><td></td><td>init</td><td class='num'></td>",
    "process000</bdi>",    "3.00 s of 300 s</td>",
  };
  f.job.state = TM_FACT_RUNNING;
  fixture_add_step(&f, "first", TM_FACT_RUNNING)->run_invocation_timeout_s = 300;
  fixture_add_step(&f, "second", TM_FACT_RUNNING)->run_invocation_timeout_s = 60;
  assert_string_equal(fixture_section(&f, "now"), "");
  add_activity(0, "process000", "run", 7, 3);
  add_activity(1, "process003", "run", 412871, 41);
  add_activity(1, "process001", "init", -1, 9);
  f.job.steps.at[1].running.at[0].is_stopped = true;
  const char *text = fixture_section(&f, "now");
  expect_order(text, order, TM_COUNT_OF(order));
  assert_int_equal(count(text, "class=\"long\""), 1);
  f.page.is_live = true;
  expect(fixture_section(&f, "now"), "<a href=\"../mini-batches/second/412871\">412,871</a>");
  expect(fixture_section(&f, "now"), "<a href=\"../workers/first/process000\">");
  f.job.state = TM_FACT_INTERRUPTED;
  assert_string_equal(fixture_section(&f, "now"), "");
  (void)state;
}

static void right_now_is_limited(void **state)
{
  f.job.state = TM_FACT_RUNNING;
  fixture_add_step(&f, "score", TM_FACT_RUNNING);
  for (int i = 1; i <= 51; i++)
    add_activity(0, i == 1 ? "shortest" : "process000", "run", i, i);
  const char *text = fixture_section(&f, "now");
  assert_int_equal(count(text, "<tr>"), 1 + 50); /* and the head; without a timeout none is long */
  assert_null(strstr(text, "shortest"));
  expect(text, "1 more worker for a shorter time.");
  (void)state;
}

UNIT_TESTS({
    CASE(right_now_shows_the_longest_of_all_steps_first),
    CASE(right_now_is_limited),
});
