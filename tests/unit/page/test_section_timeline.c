/* test_section_timeline.c - the timeline of a step, on the page. */
#include "unit.h"

#include "page_case.h"

static void sessions_say_how_they_ended(void **state)
{
  const struct tm_step_session sessions[] = {
    { .begin_ns = FIXTURE_BEGIN, .mini_batches = 3 },
    { .begin_ns = FIXTURE_BEGIN + 60 * TM_S, .mini_batches = 4 },
    { .begin_ns = FIXTURE_BEGIN + 120 * TM_S, .mini_batches = 5 },
  };
  fixture_add_step(&f, "score", TM_FACT_FAILED);
  tm_step_model_set_sessions(&f.models[0], sessions, 3);
  for (int i = 0; i < 2; i++) /* a worker without an event: it has no end */
    fixture_add_try(&f, 0, i, "process000", 1 + 30 * i, 25, "", "");
  fixture_add_worker(&f, 0, "process001", 60, 110, "stopped");
  fixture_add_try(&f, 0, 2, "process001", 65, 40, "", "");
  fixture_add_worker(&f, 0, "process002", 120, 180, "stopped");
  fixture_add_try(&f, 0, 3, "process002", 125, 50, "", "");
  tm_step_model_settle(&f.models[0], 0);
  const char *text = fixture_section(&f, "timeline");
  expect(text, "3 mini-batches, Interrupted</title>");
  expect(text, "4 mini-batches</title>");
  expect(text, "5 mini-batches, Failed</title>");
  expect(text, "1 · 3 mini-batches · Interrupted</text>");
  (void)state;
}

UNIT_TESTS({
    CASE(sessions_say_how_they_ended),
});
