/* The headers and the library belong together: versions. */
#include "host.h"

#if TIDEMILL_VERSION_NUMBER < TIDEMILL_VERSION_OF(0, 2, 0)
#error "a version cannot be compared in a directive"
#endif

static void test_version(void **state)
{
  char text[64];
  snprintf(text, sizeof text, "%d.%d.%d", TIDEMILL_VERSION_MAJOR, TIDEMILL_VERSION_MINOR,
           TIDEMILL_VERSION_PATCH);
  assert_string_equal(tidemill_version(), text);
  assert_int_equal(tidemill_version_number(), TIDEMILL_VERSION_NUMBER);
  assert_true(TIDEMILL_VERSION_OF(0, 9, 9) < TIDEMILL_VERSION_OF(0, 10, 0));
  assert_true(TIDEMILL_VERSION_OF(0, 999, 999) < TIDEMILL_VERSION_OF(1, 0, 0));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
