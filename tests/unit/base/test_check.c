/* test_check.c - the listener gets every fault; only a required condition is fatal. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "fault.h"

struct heard {
  char text[256];
  bool fatal;
  int count;
};

static void hear(const char *text, bool fatal, void *data)
{
  struct heard *h = data;
  strncpy(h->text, text, sizeof h->text - 1);
  h->fatal = fatal;
  h->count++;
}

static void check_reports_and_answers_false(void **state)
{
  struct heard h = { { 0 }, true, 0 };
  tm_set_on_fault(hear, &h);
  assert_true(tm_check(1 + 1 == 2));
  assert_int_equal(h.count, 0);
  assert_false(tm_check(1 + 1 == 3));
  assert_int_equal(h.count, 1);
  assert_false(h.fatal);
  assert_non_null(strstr(h.text, "'1 + 1 == 3' does not hold"));
  assert_non_null(strstr(h.text, "test_check.c:"));
  tm_set_on_fault(NULL, NULL);
}

static void check_without_listener_is_silent(void **state)
{
  assert_false(tm_check(state == (void *)1));
}

static void require_is_fatal(void **state)
{
  tm_require(1 == 1);
  expect_fault(tm_require(1 == 2));
}

UNIT_TESTS({
    cmocka_unit_test(check_reports_and_answers_false),
    cmocka_unit_test(check_without_listener_is_silent),
    cmocka_unit_test(require_is_fatal),
});
