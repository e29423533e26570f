/* test_ort_runtime.c - versions of the library. Loading it is tested by the specs of tests/lua. */
#include "unit.h"

#include "model/ort_runtime.h"

static void a_version_is_read_or_refused(void **state)
{
  assert_int_equal(tm_runtime_minor("1.17.0"), 17);
  assert_int_equal(tm_runtime_minor("1.30.0"), 30);
  assert_int_equal(tm_runtime_minor("1.31.0-dev"), 31);
  assert_int_equal(tm_runtime_minor("2.1.0"), -1);
  assert_int_equal(tm_runtime_minor("1.17"), -1);
  assert_int_equal(tm_runtime_minor(""), -1);
}

UNIT_TESTS({
    cmocka_unit_test(a_version_is_read_or_refused),
});
