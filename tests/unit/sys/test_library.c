/* test_library.c - a library is loaded once, when it is needed, or the message says what to
 * install. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "sys/library.h"

#define LEN 2

struct math {
  double (*cos)(double);
  double (*floor)(double);
};

static struct tm_library library_of(struct math *functions, const char *file,
                                    const char *const names[LEN])
{
  return (struct tm_library) { .file = file,
                               .package = "libc6",
                               .names = names,
                               .functions = functions,
                               .len = LEN,
                               .gate = TM_MUTEX_STATIC };
}

static const char *const present[LEN] = { "cos", "floor" };
static const char *const partly[LEN] = { "cos", "no_such_function" };

static void its_functions_can_be_called(void **state)
{
  struct math m = { 0 };
  struct tm_library l = library_of(&m, "libm.so.6", present);
  struct tm_err err = TM_ERR_NONE;

  assert_int_equal(tm_library_load(&l, &err), 0);
  assert_true(l.is_loaded);
  assert_true(m.cos(0) == 1 && m.floor(2.5) == 2);
}

static void a_second_call_changes_nothing(void **state)
{
  struct math m = { 0 }, before;
  struct tm_library l = library_of(&m, "libm.so.6", present);

  assert_int_equal(tm_library_load(&l, NULL), 0);
  before = m;
  l.file = "not looked at again";
  assert_int_equal(tm_library_load(&l, NULL), 0);
  assert_memory_equal(&m, &before, sizeof(m));
}

static void a_missing_library_is_named_with_its_package(void **state)
{
  struct math m = { 0 };
  struct tm_library l = library_of(&m, "libnever.so.0", present);
  struct tm_err err = TM_ERR_NONE;

  assert_int_equal(tm_library_load(&l, &err), -ELIBACC);
  assert_non_null(strstr(err.text, "cannot load libnever.so.0: "));
  assert_non_null(strstr(err.text, "; if it is missing, install Debian's package libc6"));
  l.file = "libm.so.6"; /* it has been installed since */
  assert_int_equal(tm_library_load(&l, &err), 0);
}

static void a_library_without_a_function_is_refused(void **state)
{
  struct math m = { 0 };
  struct tm_library l = library_of(&m, "libm.so.6", partly);
  struct tm_err err = TM_ERR_NONE;

  assert_int_equal(tm_library_load(&l, &err), -ELIBACC);
  assert_non_null(strstr(err.text, "no_such_function"));
  assert_false(l.is_loaded);
}

UNIT_TESTS({
    cmocka_unit_test(its_functions_can_be_called),
    cmocka_unit_test(a_second_call_changes_nothing),
    cmocka_unit_test(a_missing_library_is_named_with_its_package),
    cmocka_unit_test(a_library_without_a_function_is_refused),
});
