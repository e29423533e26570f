/* test_route.c - which page a path means. */
#include "unit.h"

#include <string.h>

#include "portal/request/route.h"

static void expect(const char *path, enum tm_page_kind kind, const char *word, size_t rest)
{
  struct tm_target t;
  assert_int_equal(tm_target_parse(&t, path, NULL), 0);
  struct tm_route r = tm_route_of(&t, 1);
  assert_int_equal(r.kind, kind);
  if (word)
    assert_string_equal(r.words[strcmp(r.words[0], word) == 0 ? 0 : 1], word);
  if (rest)
    assert_int_equal(r.rest, rest);
  tm_target_release(&t);
}

static void each_page_has_its_path(void **state)
{
  expect("/p/", TM_PAGE_JOBS, NULL, 0);
  expect("/p/datasets", TM_PAGE_DATASETS, NULL, 0);
  expect("/p/datasets/a", TM_PAGE_DATASET, "a", 0);
  expect("/p/events", TM_PAGE_EVENTS, NULL, 0);
  expect("/p/metrics", TM_PAGE_METRICS, NULL, 0);
  expect("/p/jobs/a", TM_PAGE_TO_JOB, "a", 0);
  expect("/p/jobs/a/job/", TM_PAGE_JOB, "a", 0);
  expect("/p/jobs/a/job/score/x", TM_PAGE_TO_FILE, "a", 0);
  expect("/p/jobs/a/report.html", TM_PAGE_REPORT, "a", 0);
  expect("/p/jobs/a/steps/s", TM_PAGE_STEP, "s", 0);
  expect("/p/jobs/a/mini-batches/s/7", TM_PAGE_MINI_BATCH, "s", 0);
  expect("/p/jobs/a/workers/s/process000", TM_PAGE_WORKER, "s", 0);
  expect("/p/jobs/a/nodes/0", TM_PAGE_NODE, "0", 0);
  expect("/p/jobs/a/files/", TM_PAGE_FILES, "a", 4);
  expect("/p/jobs/a/files/x/y", TM_PAGE_FILES, "a", 4);
  expect("/p/jobs/a/view/end/x/y", TM_PAGE_VIEW, "end", 6);
  expect("/p/jobs/a/actions/resume", TM_PAGE_ACTION, "resume", 0);
  expect("/p/jobs/a/actions/replay/s/7", TM_PAGE_ACTION, "replay", 0);
  expect("/p/jobs/a/logs", TM_PAGE_LOGS, "a", 4);
  expect("/p/jobs/a/logs/step/s", TM_PAGE_LOGS, "a", 4);
}

static void every_other_path_has_none(void **state)
{
  expect("/p/jobs", TM_PAGE_NONE, NULL, 0);
  expect("/p/jobs/a/b", TM_PAGE_NONE, NULL, 0);
  expect("/p/jobs/a/steps", TM_PAGE_NONE, NULL, 0);
  expect("/p/jobs/a/steps/s/t", TM_PAGE_NONE, NULL, 0);
  expect("/p/jobs/a/mini-batches/7", TM_PAGE_NONE, NULL, 0);
  expect("/p/jobs/a/actions", TM_PAGE_NONE, NULL, 0);
  expect("/p/jobs/a/actions/resume/x", TM_PAGE_NONE, NULL, 0);
  expect("/p/jobs/a/actions/replay/s/7/8", TM_PAGE_NONE, NULL, 0);
  expect("/p/*", TM_PAGE_NONE, NULL, 0);
  expect("/p/events/x", TM_PAGE_NONE, NULL, 0);
}

UNIT_TESTS({
    cmocka_unit_test(each_page_has_its_path),
    cmocka_unit_test(every_other_path_has_none),
});
