/* page_case.h - for each unit test of pages that includes it: a job `f`, made new for each CASE(),
 * and what the text of a page must have. */
#ifndef TM_TESTS_PAGE_CASE_H
#define TM_TESTS_PAGE_CASE_H

#include <string.h>

#include "unit.h"

#include "page_fixture.h"

static struct fixture f;

static int start(void **state)
{
  fixture_start(&f);
  return 0;
}

static int stop(void **state)
{
  fixture_stop(&f);
  return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, start, stop)

static inline size_t count(const char *text, const char *what)
{
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
    n++;
  return n;
}

static inline void expect(const char *text, const char *what)
{
  if (!strstr(text, what))
    fail_msg("'%s' is missing in: %s", what, text);
}

#endif
