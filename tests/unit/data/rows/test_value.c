/* test_value.c - fields as values: what is accepted, what is refused; decimals round as in
 * strtod(). */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "base/mem.h"
#include "data/rows/value.h"
#include "random.h"

/* In memory of exact size, so that a sanitizer sees a read beyond it. */
static char *exactly(const char *s, size_t n)
{
  char *p = tm_xmalloc(n);
  memcpy(p, s, n);
  return p;
}

#define READ(name, type)                                                                           \
  static bool read_##name(const char *s, type *out)                                                \
  {                                                                                                \
    size_t n = strlen(s);                                                                          \
    char *p = exactly(s, n);                                                                       \
    bool ok = tm_value_##name(p, n, out);                                                          \
    free(p);                                                                                       \
    return ok;                                                                                     \
  }

READ(long, int64_t)
READ(double, double)
READ(bool, uint8_t)
READ(datetime, int64_t)

static void integers(void **state)
{
  static const struct {
    const char *text;
    int64_t value;
  } taken[] = {
    { "0", 0 },
    { "-0", 0 },
    { "+7", 7 },
    { "12345678", 12345678 },
    { "123456789012", 123456789012 },
    { " 42\t", 42 },
    { "007", 7 },
    { "9223372036854775807", INT64_MAX },
    { "-9223372036854775808", INT64_MIN },
    { "00000000000000000000000000012", 12 },
  };
  static const char *const refused[] = {
    "",
    "-",
    "+",
    "1.0",
    "1e3",
    "0x10",
    "9223372036854775808",
    "-9223372036854775809",
    "1 2",
    "12345678a",
    "a12345678",
    "18446744073709551616",
    "99999999999999999999",
    " ",
    "1-",
    "1234567:",
    "1234567/",
  };
  int64_t n = 5;
  for (size_t i = 0; i < TM_COUNT_OF(taken); i++) {
    assert_true(read_long(taken[i].text, &n));
    assert_true(n == taken[i].value);
  }
  n = 5;
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    if (read_long(refused[i], &n))
      fail_msg("'%s' was taken", refused[i]);
  assert_int_equal(n, 5);
}

static void integers_of_any_length(void **state)
{
  struct random r = { 3 };
  for (int i = 0; i < 200000; i++) {
    int64_t want = (int64_t)(random_next(&r) >> random_below(&r, 64)), got = 0;
    char text[32];
    want = random_below(&r, 2) ? want : -want;
    snprintf(text, sizeof text, "%lld", (long long)want);
    assert_true(read_long(text, &got));
    assert_true(got == want);
  }
}

static bool is_same(double a, double b)
{
  return memcmp(&a, &b, sizeof a) == 0;
}

static void check_double(const char *text)
{
  double got = 5, want = strtod(text, NULL);
  if (!read_double(text, &got) || !is_same(got, want))
    fail_msg("'%s' is %.17g, not %.17g", text, want, got);
}

static void decimals(void **state)
{
  static const char *const taken[] = {
    "0",
    "-0",
    "1",
    "-1.5",
    ".5",
    "5.",
    "1e3",
    "1E-3",
    "-2.5e+10",
    "0.1",
    "0.30000000000000004",
    "9007199254740993",
    "9007199254740992.5",
    "9007199254740993.0000000000000000000001",
    "1.7976931348623157e308",
    "4.9e-324",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "123456789012345678901234567890",
    "0.000000000000000000000000000000123",
    "1e22",
    "1e23",
    "8.5e-27",
    "18446744073709551615e27",
    "18446744073709551615e-27",
    "18446744073709551616",
    "0.00000000000000000000000000000000000000000000000001",
    "1e-400",
    "0e999999999",
    "6.9294956446009195e15",
    "3.7455744005952583e15",
    "9214843084008499",
    "1000000000000000.5",
  };
  static const char *const refused[] = {
    "",      ".",     "-",      "e3",   "1e",   "1e+", "0x1p3", "1,5",
    "1.2.3", "1e400", "-1e400", "nano", "infi", "1 2", "--1",   "+-1",
  };
  double x = 5;
  for (size_t i = 0; i < TM_COUNT_OF(taken); i++)
    check_double(taken[i]);
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    if (read_double(refused[i], &x))
      fail_msg("'%s' was taken", refused[i]);
  assert_true(x == 5);
  assert_true(read_double("-inf", &x) && x == -INFINITY);
  assert_true(read_double("Infinity", &x) && x == INFINITY);
  assert_true(read_double("NaN", &x) && isnan(x));
  assert_true(read_double(" 2.5 ", &x) && x == 2.5);
}

static void decimals_of_random_digits(void **state)
{
  struct random r = { 11 };
  for (int i = 0; i < 400000; i++) {
    char text[80];
    size_t n = 0, digits = 1 + random_below(&r, 24), point = random_below(&r, 26);
    if (random_below(&r, 2))
      text[n++] = '-';
    for (size_t k = 0; k < digits; k++) {
      if (k == point)
        text[n++] = '.';
      text[n++] = (char)('0' + random_below(&r, 10));
    }
    text[n] = '\0';
    if (random_below(&r, 2))
      snprintf(text + n, sizeof text - n, "e%d", (int)random_below(&r, 70) - 35);
    check_double(text);
  }
}

/* Doubles as programs print them, and texts half way between two doubles. */
static void decimals_that_are_doubles(void **state)
{
  struct random r = { 12 };
  for (int i = 0; i < 200000; i++) {
    char text[64];
    double x;
    uint64_t bits = random_next(&r);
    if (random_below(&r, 2)) /* of ordinary size */
      bits = (bits & UINT64_C(0x800fffffffffffff)) | (uint64_t)(1023 - 40 + random_below(&r, 80))
                                                         << 52;
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x))
      continue;
    snprintf(text, sizeof text, "%.*g", 15 + (int)random_below(&r, 4), x);
    check_double(text);
    uint64_t odd = (UINT64_C(1) << 53) + 1 + 2 * random_below(&r, 1u << 30);
    snprintf(text, sizeof text, "%llu", (unsigned long long)odd << random_below(&r, 10));
    check_double(text);
  }
}

static void truth(void **state)
{
  uint8_t b = 7;
  assert_true(read_bool("true", &b) && b == 1);
  assert_true(read_bool("FALSE", &b) && b == 0);
  assert_true(read_bool("True ", &b) && b == 1);
  assert_true(read_bool("0", &b) && b == 0);
  assert_true(read_bool("1", &b) && b == 1);
  b = 7;
  assert_false(read_bool("yes", &b) || read_bool("", &b) || read_bool("2", &b) ||
               read_bool("truee", &b));
  assert_false(read_bool("\x11", &b));
  assert_int_equal(b, 7);
}

static void moments(void **state)
{
  static const struct {
    const char *text;
    int64_t us;
  } taken[] = {
    { "1970-01-01", 0 },
    { "2000-02-29", INT64_C(951782400000000) },
    { "1969-12-31T23:59:59.999999", -1 },
    { "2026-01-31 23:59", INT64_C(1769903940000000) },
    { "2026-01-31T23:59:58.123456789Z", INT64_C(1769903998123456) },
    { "2026-01-31T23:59:58+02:00", INT64_C(1769896798000000) },
    { "2026-01-31 23:59:58 -0130", INT64_C(1769909398000000) },
    { "2026-01-31T23:59:58.5+02", INT64_C(1769896798500000) },
    { "0001-01-01", INT64_C(-62135596800000000) },
    { "9999-12-31T23:59:59.999999", INT64_C(253402300799999999) },
  };
  static const char *const refused[] = {
    "",
    "2026",
    "2026-1-1",
    "2026-13-01",
    "2026-02-29",
    "1900-02-29",
    "0000-01-01",
    "2026-01-01T24:00",
    "2026-01-01T1:00",
    "2026-01-01T10:60",
    "2026-01-01T10:00:60",
    "2026-01-01T10:00:00.",
    "2026-01-01T",
    "2026-01-01x",
    "2026-01-00",
    "2026-01-01T10:00+25",
    "2026-01-01T10:00+2",
    "20260101",
  };
  int64_t us = 5;
  for (size_t i = 0; i < TM_COUNT_OF(taken); i++) {
    assert_true(read_datetime(taken[i].text, &us));
    if (us != taken[i].us)
      fail_msg("'%s' is %lld, not %lld", taken[i].text, (long long)taken[i].us, (long long)us);
  }
  us = 5;
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    if (read_datetime(refused[i], &us))
      fail_msg("'%s' was taken", refused[i]);
  assert_int_equal(us, 5);
}

static void moments_by_format(void **state)
{
  static const struct {
    const char *format, *text;
    int64_t us; /* -1: refused */
  } cases[] = {
    { "%d.%m.%Y", "31.1.2026", INT64_C(1769817600000000) },
    { "%m/%d/%y %I:%M %p", "01/31/26 11:59 PM", INT64_C(1769903940000000) },
    { "%d %b %Y", "31 JAN 2026", INT64_C(1769817600000000) },
    { "%B %d, %Y", "january 31, 2026", INT64_C(1769817600000000) },
    { "%Y%m%dT%H%M%S.%f%z", "20260131T235958.5+0200", INT64_C(1769896798500000) },
    { "%H:%M", "12:30", INT64_C(45000000000) },
    { "%I %p", "12 am", 0 },
    { "100%%%d", "100%2", INT64_C(86400000000) },
    { "%d.%m.%Y", "31.2.2026", -1 },
    { "%d.%m.%Y", "31.1.2026 ", INT64_C(1769817600000000) },
    { "%d.%m.%Y", "31.1.2026x", -1 },
    { "%d.%m.%Y", "31.1.", -1 },
    { "%I", "13", -1 },
    { "%b", "foo", -1 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    int64_t us = 0;
    size_t n = strlen(cases[i].text);
    char *p = exactly(cases[i].text, n);
    bool ok = tm_value_datetime_by(cases[i].format, p, n, &us);
    if (ok != (cases[i].us != -1) || (ok && us != cases[i].us))
      fail_msg("'%s' by '%s' is %lld", cases[i].text, cases[i].format, (long long)us);
    free(p);
    assert_null(tm_value_bad_format(cases[i].format));
  }
  const char *bad = "%Y-%q";
  assert_ptr_equal(tm_value_bad_format(bad), bad + 4);
  assert_non_null(tm_value_bad_format("%"));
}

UNIT_TESTS({
    cmocka_unit_test(integers),
    cmocka_unit_test(integers_of_any_length),
    cmocka_unit_test(decimals),
    cmocka_unit_test(decimals_of_random_digits),
    cmocka_unit_test(decimals_that_are_doubles),
    cmocka_unit_test(truth),
    cmocka_unit_test(moments),
    cmocka_unit_test(moments_by_format),
});
