/* route.c - see route.h. */
#include "portal/request/route.h"

#include <string.h>

#include "base/mem.h"

/* "*" is a word; "**" at the end any number of them. */
static const struct {
  enum tm_page_kind kind;
  const char *pattern[7];
} routes[] = {
  { TM_PAGE_JOBS, { NULL } },
  { TM_PAGE_DATASETS, { "datasets" } },
  { TM_PAGE_DATASET, { "datasets", "*" } },
  { TM_PAGE_METRICS, { "metrics" } },
  { TM_PAGE_EVENTS, { "events" } },
  { TM_PAGE_TO_JOB, { "jobs", "*" } },
  { TM_PAGE_JOB, { "jobs", "*", "job" } },
  { TM_PAGE_TO_FILE, { "jobs", "*", "job", "**" } },
  { TM_PAGE_REPORT, { "jobs", "*", "report.html" } },
  { TM_PAGE_STEP, { "jobs", "*", "steps", "*" } },
  { TM_PAGE_MINI_BATCH, { "jobs", "*", "mini-batches", "*", "*" } },
  { TM_PAGE_TO_MINI_BATCH, { "jobs", "*", "mini-batch" } },
  { TM_PAGE_WORKER, { "jobs", "*", "workers", "*", "*" } },
  { TM_PAGE_NODE, { "jobs", "*", "nodes", "*" } },
  { TM_PAGE_FILES, { "jobs", "*", "files", "**" } },
  { TM_PAGE_VIEW, { "jobs", "*", "view", "*", "*", "**" } },
  { TM_PAGE_ACTION, { "jobs", "*", "actions", "*" } },
  { TM_PAGE_ACTION, { "jobs", "*", "actions", "*", "*", "*" } },
  { TM_PAGE_LOGS, { "jobs", "*", "logs", "**" } },
};

static bool matches(const char *const *pattern, const struct tm_target *t, size_t from,
                    struct tm_route *out)
{
  size_t words = 0, i;
  for (i = 0; pattern[i]; i++) {
    if (strcmp(pattern[i], "**") == 0) {
      out->rest = from + i;
      return true;
    }
    if (from + i >= t->len)
      return false;
    if (strcmp(pattern[i], "*") == 0)
      out->words[words++] = t->segments[from + i];
    else if (strcmp(pattern[i], t->segments[from + i]) != 0)
      return false;
  }
  out->rest = t->len;
  return from + i == t->len;
}

struct tm_route tm_route_of(const struct tm_target *t, size_t from)
{
  for (size_t i = 0; i < TM_COUNT_OF(routes); i++) {
    struct tm_route route = { .kind = routes[i].kind };
    if (matches(routes[i].pattern, t, from, &route))
      return route;
  }
  return (struct tm_route) { .kind = TM_PAGE_NONE };
}
