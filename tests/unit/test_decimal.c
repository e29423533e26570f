/* test_decimal.c - doubles are written as printf would, only faster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "base/decimal.h"
#include "random.h"

/* What the standard library would write, the slow way. */
static void first_that_reads_back(char text[64], double n)
{
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 64, "%.*g", digits, n);
    if (strtod(text, NULL) == n)
      break;
  }
}

static void assert_written(double n)
{
  char expected[64];
  struct tm_buf b = TM_BUF_NONE;
  first_that_reads_back(expected, n);
  if (tm_decimal_add(&b, n))
    assert_string_equal(expected, b.data);
  else if (fabs(n) >= 1e-4 && fabs(n) < 1e15)
    fail_msg("%.17g is not written", n);
  tm_buf_release(&b);
}

static void numbers_that_people_write_are_as_printf_writes_them(void **state)
{
  struct random r = { 1 };
  for (int i = 0; i < 200000; i++) {
    int digits = 1 + i % 17, places = (int)random_below(&r, 20);
    double whole = (double)random_below(&r, (size_t)pow(10, digits));
    double n = (i % 3 == 0 ? -whole : whole) / pow(10, places) + (i % 2 == 0 ? 0.5 : 0);
    assert_written(i % 5 == 0 ? nextafter(n, i % 2 == 0 ? 0 : 1e300)
                              : n); /* or one bit beside it */
  }
}

static void all_other_numbers_too(void **state)
{
  struct random r = { 2 };
  for (int i = 0; i < 200000; i++) {
    double m = (double)(((uint64_t)1 << 52) | random_next(&r) >> 12);
    assert_written(ldexp(m, (int)random_below(&r, 70) - 67));
  }
}

static void borders_are_as_printf_writes_them(void **state)
{
  for (int e = -16; e < 52; e++)
    for (double n = ldexp(1, e), i = -40; i < 40; i++, n = nextafter(n, 1e300))
      assert_written(i < 0 ? nextafter(ldexp(1, e), 0) * (1 + i * 0x1p-52) : n);
  for (int e = -5; e < 17; e++)
    for (double n = pow(10, e), i = 0; i < 80; i++, n = nextafter(n, i < 40 ? 0 : 1e300))
      assert_written(n);
}

static void what_is_out_of_range_is_refused(void **state)
{
  static const double refused[] = { 0, 1e15, -1e15, 9e-5, 1e300, 5e-324, NAN, INFINITY };
  struct tm_buf b = TM_BUF_NONE;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    assert_false(tm_decimal_add(&b, refused[i]));
  assert_int_equal(0, b.len);
  tm_buf_release(&b);
}

int main(void)
{
  static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_that_people_write_are_as_printf_writes_them),
    cmocka_unit_test(all_other_numbers_too),
    cmocka_unit_test(borders_are_as_printf_writes_them),
    cmocka_unit_test(what_is_out_of_range_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
