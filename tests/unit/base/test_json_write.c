/* test_json_write.c - writes valid JSON, the same on every host, which reads back unchanged. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"

static void assert_written(const struct tm_json *v, struct tm_json_style style,
                           const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_json_write(&b, v, style);
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
}

static void assert_string_written(const char *s, size_t len, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_json_write_string(&b, s, len);
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
}

static void assert_number_written(double n, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_json_write_number(&b, n);
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
}

static void styles(void **state)
{
  const char *text = "{\"b\":[1,{\"z\":[],\"a\":{}}],\"a\":\"x\",\"B\":null,\"ab\":true}";
  struct tm_json *v = tm_json_parse(text, strlen(text), NULL);
  assert_non_null(v);
  assert_written(v, (struct tm_json_style) { 0 }, text);
  assert_written(v, (struct tm_json_style) { .sorted = true },
                 "{\"B\":null,\"a\":\"x\",\"ab\":true,\"b\":[1,{\"a\":{},\"z\":[]}]}");
  assert_written(v, (struct tm_json_style) { .sorted = true, .indent = 2 },
                 "{\n  \"B\": null,\n  \"a\": \"x\",\n  \"ab\": true,\n  \"b\": [\n    1,\n    {\n"
                 "      \"a\": {},\n      \"z\": []\n    }\n  ]\n}");
  assert_string_equal(v->keys[0], "b"); /* sorting affects only the text */
  tm_json_free(v);
}

static void keys_sort_as_unsigned_bytes(void **state)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "\xC3\xA9", tm_json_new_int(1));
  tm_json_set(v, "z", tm_json_new_int(2));
  tm_json_set(v, "", tm_json_new_int(3));
  assert_written(v, (struct tm_json_style) { .sorted = true }, "{\"\":3,\"z\":2,\"\xC3\xA9\":1}");
  tm_json_free(v);
}

static void strings_are_escaped(void **state)
{
  assert_string_written("", 0, "\"\"");
  assert_string_written(NULL, 0, "\"\"");
  assert_string_written("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
  assert_string_written("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
  assert_string_written("\0\x1F\x7F", 3, "\"\\u0000\\u001f\x7F\"");
  assert_string_written("\xE2\x82\xAC\xF0\x9F\x98\x80", 7, "\"\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

static void bad_bytes_become_replacements(void **state)
{
  assert_string_written("a\xFF"
                        "b",
                        3,
                        "\"a\xEF\xBF\xBD"
                        "b\"");
  assert_string_written("\xE2\x82", 2, "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  assert_string_written("\xC3\"", 2, "\"\xEF\xBF\xBD\\\"\""); /* it does not swallow the quote */
}

static void whole_numbers_have_no_point(void **state)
{
  assert_number_written(0, "0");
  assert_number_written(-3, "-3");
  assert_number_written(1e15, "1000000000000000");
  assert_number_written(9007199254740991.0, "9007199254740991");
  assert_number_written(-9007199254740991.0, "-9007199254740991");
  assert_number_written(0x1p53, "9007199254740992"); /* %.16g */
  assert_number_written(1e17, "1e+17");
  assert_number_written(-0.0, "-0");
}

static void fractions_are_as_short_as_reads_back(void **state)
{
  assert_number_written(0.1, "0.1");
  assert_number_written(2.5, "2.5");
  assert_number_written(1e-7, "1e-07");
  assert_number_written(0.1 + 0.2, "0.30000000000000004");
  assert_number_written(1.0 / 3, "0.3333333333333333");
  assert_number_written(5e-324, "4.94065645841247e-324");
  assert_number_written(1.7976931348623157e308, "1.7976931348623157e+308");
}

static void not_finite_is_null(void **state)
{
  assert_number_written((double)NAN, "null");
  assert_number_written((double)INFINITY, "null");
  assert_number_written(-(double)INFINITY, "null");
}

static void doubles_read_back(void **state)
{
  uint64_t bits = UINT64_C(0x9E3779B97F4A7C15);
  for (int i = 0; i < 20000; i++) {
    double n;
    struct tm_buf b = TM_BUF_NONE;
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    memcpy(&n, &bits, sizeof n);
    if (!isfinite(n))
      continue;
    tm_json_write_number(&b, n);
    struct tm_json *v = tm_json_parse(b.data, b.len, NULL);
    assert_non_null(v);
    double back = v->type == TM_JSON_INT ? (double)v->integer : v->number;
    if (memcmp(&back, &n, sizeof n) != 0)
      fail_msg("%s is not %a", b.data, n);
    tm_json_free(v);
    tm_buf_release(&b);
  }
}

/* What the standard library would write, computed the slow way. */
static void first_that_reads_back(char text[64], double n)
{
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 64, "%.*g", digits, n);
    if (strtod(text, NULL) == n)
      break;
  }
}

static void numbers_of_few_digits_are_written_as_printf_does(void **state)
{
  uint64_t bits = UINT64_C(0x2545F4914F6CDD1D);
  for (int i = 0; i < 200000; i++) {
    char expected[64];
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int digits = 1 + i % 17, places = (int)(bits % 20);
    double whole = (double)((bits >> 8) % (uint64_t)pow(10, digits));
    double n = (i % 3 == 0 ? -whole : whole) / pow(10, places) + (i % 2 == 0 ? 0.5 : 0);
    if (i % 5 == 0)
      n = nextafter(n, i % 2 == 0 ? 0 : 1e300); /* and its neighbours by one bit */
    if (n == floor(n))
      continue; /* whole numbers follow different rules */
    first_that_reads_back(expected, n);
    assert_number_written(n, expected);
  }
}

static void numbers_of_any_digits_are_written_as_printf_does(void **state)
{
  uint64_t bits = UINT64_C(0x9E3779B97F4A7C15);
  for (int i = 0; i < 200000; i++) {
    char expected[64];
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double n = ldexp((double)(bits >> 11), (int)(bits % 70) - 53 - 15);
    if (i % 4 == 0) /* a power of two, or a neighbour by one bit */
      n = nextafter(ldexp(1, (int)(bits >> 20) % 30 - 15), i % 3 == 0 ? 0 : i % 3 == 1 ? 1e300 : n);
    if (n == floor(n))
      continue;
    first_that_reads_back(expected, n);
    assert_number_written(n, expected);
  }
}

static void integers_read_back(void **state)
{
  static const int64_t cases[] = { INT64_MIN, INT64_MIN + 1, -1, 0, INT64_C(9007199254740993),
                                   INT64_MAX };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_buf b = TM_BUF_NONE;
    struct tm_json *v = tm_json_new_int(cases[i]);
    tm_json_write(&b, v, (struct tm_json_style) { 0 });
    struct tm_json *back = tm_json_parse(b.data, b.len, NULL);
    assert_int_equal(back->type, TM_JSON_INT);
    assert_true(back->integer == cases[i]);
    tm_json_free(v);
    tm_json_free(back);
    tm_buf_release(&b);
  }
}

static void every_byte_pair_reads_back(void **state)
{
  for (int i = 0; i < 0x10000; i++) {
    char s[2] = { (char)(i >> 8), (char)i };
    struct tm_buf b = TM_BUF_NONE;
    tm_json_write_string(&b, s, 2);
    struct tm_json *v = tm_json_parse(b.data, b.len, NULL);
    if (!v || v->type != TM_JSON_STRING)
      fail_msg("bytes %04x", (unsigned)i);
    if (i >> 8 < 0x80 && (i & 0xFF) < 0x80) {
      assert_int_equal(v->string.len, 2);
      assert_memory_equal(v->string.at, s, 2);
    }
    tm_json_free(v);
    tm_buf_release(&b);
  }
}

static void host_locale_changes_nothing(void **state)
{
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
    skip();
  assert_number_written(0.5, "0.5");
  setlocale(LC_ALL, "C");
}

static void a_tree_becomes_a_text_and_a_text_a_tree(void **state)
{
  struct tm_json *v = tm_json_of("{ \"b\": [1, true] }");
  char *text = tm_json_text(v);
  assert_string_equal(text, "{\"b\":[1,true]}");
  assert_null(tm_json_of("{"));
  assert_null(tm_json_of(NULL));
  assert_null(tm_json_text(NULL));
  free(text);
  tm_json_free(v);
}

UNIT_TESTS({
    cmocka_unit_test(a_tree_becomes_a_text_and_a_text_a_tree),
    cmocka_unit_test(styles),
    cmocka_unit_test(keys_sort_as_unsigned_bytes),
    cmocka_unit_test(strings_are_escaped),
    cmocka_unit_test(bad_bytes_become_replacements),
    cmocka_unit_test(whole_numbers_have_no_point),
    cmocka_unit_test(fractions_are_as_short_as_reads_back),
    cmocka_unit_test(not_finite_is_null),
    cmocka_unit_test(doubles_read_back),
    cmocka_unit_test(numbers_of_few_digits_are_written_as_printf_does),
    cmocka_unit_test(numbers_of_any_digits_are_written_as_printf_does),
    cmocka_unit_test(integers_read_back),
    cmocka_unit_test(every_byte_pair_reads_back),
    cmocka_unit_test(host_locale_changes_nothing),
});
