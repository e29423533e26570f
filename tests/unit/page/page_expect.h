/* page_expect.h - what the text of a page must have, for unit tests. */
#ifndef TM_TESTS_PAGE_EXPECT_H
#define TM_TESTS_PAGE_EXPECT_H

#include <string.h>

#include "unit.h"

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
