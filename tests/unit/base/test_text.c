/* test_text.c - parsers accept the whole text or refuse it; escaped text is safe at its
 * destination. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <locale.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

static void integers(void **state)
{
  static const char *const refused[] = {
    "",
    "-",
    "+",
    " 1",
    "1 ",
    "1.0",
    "0x10",
    "--1",
    "1e3",
    "9223372036854775808",
    "-9223372036854775809",
    "99999999999999999999999",
  };
  int64_t n;
  assert_true(tm_text_int("-12", &n) && n == -12);
  assert_true(tm_text_int("+7", &n) && n == 7);
  assert_true(tm_text_int("-0", &n) && n == 0);
  assert_true(tm_text_int("007", &n) && n == 7);
  assert_true(tm_text_int("9223372036854775807", &n) && n == INT64_MAX);
  assert_true(tm_text_int("-9223372036854775808", &n) && n == INT64_MIN);
  n = 55;
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    assert_false(tm_text_int(refused[i], &n));
  assert_int_equal(n, 55);
}

static void numbers(void **state)
{
  static const char *const refused[] = {
    "",    ".",   "-",  "e3", "1e",    "1e+",   "0x1p3",  "inf",
    "nan", "1,5", " 1", "1 ", "1.2.3", "1e400", "-1e400",
  };
  double n;
  assert_true(tm_text_number("0.5", &n) && n == 0.5);
  assert_true(tm_text_number("1e3", &n) && n == 1000);
  assert_true(tm_text_number("-.25E-1", &n) && n == -0.025);
  assert_true(tm_text_number("5.", &n) && n == 5);
  assert_true(tm_text_number("1e-400", &n) && n == 0);
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    if (tm_text_number(refused[i], &n))
      fail_msg("'%s' was taken", refused[i]);
}

static void seconds(void **state)
{
  static const char *const refused[] = { "",    "m",  "5x",    "5 ",   "5  m",
                                         "5ms", "m5", "1h30m", "none", "inf" };
  static const struct {
    const char *text;
    double seconds;
  } accepted[] = { { "90", 90 },   { "0.5", 0.5 },   { "1e3", 1000 }, { "90s", 90 },  { "5m", 300 },
                   { "5 m", 300 }, { "1.5min", 90 }, { "2h", 7200 },  { "1d", 86400 } };
  double n;
  for (size_t i = 0; i < TM_COUNT_OF(accepted); i++)
    if (!tm_text_seconds(accepted[i].text, &n) || n != accepted[i].seconds)
      fail_msg("'%s' was not taken, or as %g", accepted[i].text, n);
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    if (tm_text_seconds(refused[i], &n))
      fail_msg("'%s' was taken", refused[i]);
}

static void sizes(void **state)
{
  static const char *const refused[] = {
    "",
    "KB",
    "10 ",
    "10  KB",
    "10K",
    "10kib",
    "1.5GB",
    "-1KB",
    "10PB",
    "10B",
    "10KBx",
    " 10",
    "8388608TB",
    "9007199254740992KB",
    "9223372036854775808",
  };
  int64_t n;
  assert_true(tm_text_size("1024", &n) && n == 1024);
  assert_true(tm_text_size("1024KB", &n) && n == 1048576);
  assert_true(tm_text_size("10mb", &n) && n == 10485760);
  assert_true(tm_text_size("1 Gb", &n) && n == 1073741824);
  assert_true(tm_text_size("2TB", &n) && n == INT64_C(2199023255552));
  assert_true(tm_text_size("0", &n) && n == 0);
  assert_true(tm_text_size("9223372036854775807", &n) && n == INT64_MAX);
  assert_true(tm_text_size("8388607TB", &n) && n == INT64_C(8388607) << 40);
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++)
    if (tm_text_size(refused[i], &n))
      fail_msg("'%s' was taken", refused[i]);
}

static void nearest(void **state)
{
  static const char *const names[] = { "mini_batch_size", "error_threshold", "run_max_try", "nodes",
                                       "a" };
  size_t n = TM_COUNT_OF(names);
  assert_string_equal(tm_text_nearest("mini_batchsize", names, n), "mini_batch_size");
  assert_string_equal(tm_text_nearest("Mini-Batch-Size", names, n), "mini_batch_size");
  assert_string_equal(tm_text_nearest("ndoes", names, n), "nodes");
  assert_string_equal(tm_text_nearest("nodes", names, n), "nodes");
  assert_string_equal(tm_text_nearest("run_max_tries", names, n), "run_max_try");
  assert_string_equal(tm_text_nearest("b", names, n), "a"); /* at least 1 is allowed */
  assert_null(tm_text_nearest("bc", names, n));
  assert_null(tm_text_nearest("output", names, n));
  static const char *const one[] = { "append_row_file_name" };
  assert_null(
      tm_text_nearest("append_row_line_break", one, 1)); /* a third of it, and yet another thing */
  assert_null(tm_text_nearest("nodes", names, 0));
  assert_string_equal(tm_text_nearest("", names, n), "a");
}

static void nearest_prefers_the_closer_one(void **state)
{
  static const char *const names[] = { "abcdefgh", "abcdefgx", "abcdefxh" };
  assert_string_equal(tm_text_nearest("abcdefgx", names, 3), "abcdefgx");
  assert_string_equal(tm_text_nearest("abcdefgz", names, 3), "abcdefgh"); /* the first of equals */
  assert_string_equal(tm_text_nearest("abcdefhx", names, 3), "abcdefgx");
  assert_string_equal(tm_text_nearest("abcdefhx", names + 2, 1), "abcdefxh");
}

static void utf8_is_checked_strictly(void **state)
{
  static const struct {
    const char *s;
    size_t n;
    bool ok;
  } cases[] = {
    { "", 0, true },
    { "a\0b", 3, true },
    { "\xC2\x80", 2, true },
    { "\xED\x9F\xBF", 3, true },
    { "\xEE\x80\x80", 3, true },
    { "\xEF\xBF\xBF", 3, true },
    { "\xF0\x90\x80\x80", 4, true },
    { "\xF4\x8F\xBF\xBF", 4, true },
    { "\x80", 1, false },
    { "\xC0\x80", 2, false },         /* overlong NUL */
    { "\xC1\xBF", 2, false },         /* overlong */
    { "\xE0\x9F\xBF", 3, false },     /* overlong */
    { "\xF0\x8F\xBF\xBF", 4, false }, /* overlong */
    { "\xED\xA0\x80", 3, false },     /* surrogate */
    { "\xED\xBF\xBF", 3, false },     /* surrogate */
    { "\xF4\x90\x80\x80", 4, false }, /* beyond U+10FFFF */
    { "\xF5\x80\x80\x80", 4, false },
    { "\xFF", 1, false },
    { "\xE2\x82", 2, false },     /* cut */
    { "\xE2\x82\xAC", 2, false }, /* the third byte is out of bounds */
    { "\xC3(", 2, false },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    if (tm_text_is_utf8(cases[i].s, cases[i].n) != cases[i].ok)
      fail_msg("case %zu", i);
  assert_int_equal(tm_text_utf8_len("", 0), 0);
  assert_int_equal(tm_text_utf8_len("\0", 1), 1);
  assert_int_equal(tm_text_utf8_len("\xE2\x82\xAC"
                                    "x",
                                    4),
                   3);
}

static void assert_one_line(const char *s, size_t n, size_t max, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_buf_add_str(&b, ">");
  tm_text_one_line(&b, s, n, max);
  assert_string_equal(b.data + 1, expected);
  tm_buf_release(&b);
}

static void one_line_escapes_control_characters(void **state)
{
  assert_one_line("a\nb\tc\rd", 7, 0, "a\\nb\\tc\\rd");
  assert_one_line("\0\x1B[1m\x7F", 6, 0, "\\x00\\x1B[1m\\x7F");
  assert_one_line("\xC2\x9B"
                  "1",
                  3, 0, "\\xC2\\x9B1"); /* an 8-bit CSI */
  assert_one_line("\xE2\x80\xA8", 3, 0, "\\xE2\\x80\\xA8");
  assert_one_line("\xFFgr\xC3\xBC\xC3\x9F", 7, 0, "\\xFFgr\xC3\xBC\xC3\x9F");
  assert_one_line("", 0, 5, "");
}

static void one_line_cuts_between_characters(void **state)
{
  assert_one_line("abcdef", 6, 6, "abcdef");
  assert_one_line("abcdefg", 7, 6, "abc...");
  assert_one_line("ab\xE2\x82\xAC"
                  "def",
                  8, 7, "ab...");
  assert_one_line("ab\xE2\x82\xAC"
                  "def",
                  8, 8,
                  "ab\xE2\x82\xAC"
                  "def");
  assert_one_line("ab\ncdef", 7, 6, "ab..."); /* not half of an escape */
  assert_one_line("abcdef", 6, 2, "..");
}

static void one_line_of_much_is_read_no_further(void **state)
{
  size_t n = 1 << 20;
  char *s = tm_xmalloc(n);
  struct tm_buf b = TM_BUF_NONE;
  memset(s, 'x', n);
  tm_text_one_line(&b, s, n, 100);
  assert_int_equal(b.len, 100);
  assert_true(b.cap < 1000);
  tm_buf_release(&b);
  free(s);
}

static void assert_csv(const char *s, size_t n, char separator, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_text_csv(&b, s, n, separator);
  assert_int_equal(b.len, strlen(expected));
  assert_string_equal(tm_buf_str(&b), expected);
  tm_buf_release(&b);
}

static void csv_quotes_only_where_needed(void **state)
{
  assert_csv("", 0, ',', "");
  assert_csv("abc", 3, ',', "abc");
  assert_csv("a b", 3, ',', "a b");
  assert_csv("a,b", 3, ',', "\"a,b\"");
  assert_csv("a,b", 3, ';', "a,b");
  assert_csv("a;b", 3, ';', "\"a;b\"");
  assert_csv("a\tb", 3, '\t', "\"a\tb\"");
  assert_csv("\"", 1, ',', "\"\"\"\"");
  assert_csv("say \"x\"", 7, ',', "\"say \"\"x\"\"\"");
  assert_csv("a\nb", 3, ',', "\"a\nb\"");
  assert_csv("a\r", 2, ',', "\"a\r\"");
  assert_csv(" a", 2, ',', "\" a\"");
  assert_csv("a\t", 2, ',', "\"a\t\"");
}

static void csv_keeps_nul(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_text_csv(&b, "\0", 1, ',');
  assert_int_equal(b.len, 1);
  tm_text_csv(&b, "\0,", 2, ',');
  assert_memory_equal(b.data, "\0\"\0,\"", 5);
  tm_buf_release(&b);
}

static void assert_grouped(int64_t n, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_text_grouped(&b, n);
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
}

static void seconds_of_tables_are_exact(void **state)
{
  static const struct {
    const char *text;
    int64_t ns; /* -1: refused */
  } cases[] = {
    { "0.000057", 57000 }, { "12", 12000000000 },  { "999999999.999999999", 999999999999999999 },
    { "1.", 1000000000 },  { ".5", 500000000 },    { "", -1 },
    { ".", -1 },           { "-1", -1 },           { "1e3", -1 },
    { " 1", -1 },          { "1.0000000000", -1 }, { "1234567890", -1 }
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    int64_t ns = -1;
    assert_int_equal(tm_text_ns(cases[i].text, &ns), cases[i].ns >= 0);
    assert_true(ns == cases[i].ns);
  }
}

static void nouns_agree_with_their_number(void **state)
{
  assert_string_equal(tm_text_article("OutputFileDatasetConfig"), "an");
  assert_string_equal(tm_text_article("Pipeline"), "a");
  assert_string_equal(tm_text_article(""), "a");
  assert_string_equal(tm_text_counted(1, "item", "items"), "item");
  assert_string_equal(tm_text_counted(0, "item", "items"), "items");
  assert_string_equal(tm_text_counted(2, "item", "items"), "items");
  assert_string_equal(tm_text_counted(-1, "item", "items"), "items");
}

static void grouped(void **state)
{
  assert_grouped(0, "0");
  assert_grouped(999, "999");
  assert_grouped(1000, "1,000");
  assert_grouped(1234567, "1,234,567");
  assert_grouped(-100, "-100");
  assert_grouped(-123456, "-123,456");
  assert_grouped(INT64_MIN, "-9,223,372,036,854,775,808");
}

static void a_number_is_followed_by_its_words(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_text_count(&b, 1234, " items, ");
  tm_text_count(&b, 0, "");
  assert_string_equal(b.data, "1,234 items, 0");
  tm_buf_release(&b);
}

static void assert_shell(const char *s, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_text_shell(&b, s);
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
}

static void shell(void **state)
{
  assert_shell("a/b-c_d.lua", "a/b-c_d.lua");
  assert_shell("", "''");
  assert_shell("a b", "'a b'");
  assert_shell("it's", "'it'\\''s'");
  assert_shell("~", "'~'");
  assert_shell("--name=x", "--name=x");
  assert_shell("=ls", "'=ls'");
  assert_shell("$x;`y`", "'$x;`y`'");
  assert_shell("gr\xC3\xBC", "'gr\xC3\xBC'");
  assert_shell("a\n2 it's \\gr\xC3\xBC", "$'a\\0122 it\\'s \\\\gr\xC3\xBC'");
  assert_shell("gr\xFC\x7F", "$'gr\\374\\177'");
}

static void assert_wrapped(const char *begin, const char *text, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_buf_add_str(&b, begin);
  tm_text_wrap(&b, text, 2, 12);
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
}

static void wraps_between_words(void **state)
{
  assert_wrapped("", "", "\n");
  assert_wrapped("", "one", "one\n");
  assert_wrapped("", "twelve chars", "twelve chars\n");
  assert_wrapped("", "thirteen chars", "thirteen\n  chars\n");
  assert_wrapped("line\n-- ", "one two three", "line\n-- one two\n  three\n");
  assert_wrapped("", "a word-that-does-not-fit b", "a\n  word-that-does-not-fit\n  b\n");
}

static void a_front_ends_between_characters(void **state)
{
  assert_int_equal(tm_text_front("", 3), 0);
  assert_int_equal(tm_text_front("abc", 3), 3);
  assert_int_equal(tm_text_front("abcd", 3), 3);
  assert_int_equal(tm_text_front("ab\u00e9d", 3), 2);
  assert_int_equal(tm_text_front("a\U0001f600", 4), 1);
  assert_int_equal(tm_text_front("\x80\x80\x80\x80\x80\x80", 5), 2); /* not a character */
}

static void host_locale_changes_nothing(void **state)
{
  double n;
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
    skip();
  assert_true(tm_text_number("0.5", &n) && n == 0.5);
  assert_false(tm_text_number("0,5", &n));
  setlocale(LC_ALL, "C");
}

/* Whoever shows a number of bytes shows it by this: pages, findings, `clean` and logs. */
static void bytes_have_units_of_1024(void **state)
{
  static const struct {
    int64_t bytes;
    const char *text;
  } cases[] = {
    { 0, "0 bytes" },
    { 1, "1 byte" },
    { 999, "999 bytes" },
    { 1000, "1.0 KB" },
    { 2048, "2.0 KB" },
    { 102348, "99.9 KB" },
    { 102400, "100 KB" },
    { 5872025, "5.6 MB" },
    { 124000000, "118 MB" },
    { INT64_C(3) << 40, "3.0 TB" },
    { INT64_C(3) << 52, "12288 TB" },
  };
  struct tm_buf b = TM_BUF_NONE;
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    tm_buf_clear(&b);
    tm_text_bytes(&b, cases[i].bytes);
    assert_string_equal(tm_buf_str(&b), cases[i].text);
  }
  tm_buf_release(&b);
}

UNIT_TESTS({
    cmocka_unit_test(integers),
    cmocka_unit_test(numbers),
    cmocka_unit_test(seconds),
    cmocka_unit_test(sizes),
    cmocka_unit_test(nearest),
    cmocka_unit_test(nearest_prefers_the_closer_one),
    cmocka_unit_test(utf8_is_checked_strictly),
    cmocka_unit_test(one_line_escapes_control_characters),
    cmocka_unit_test(one_line_cuts_between_characters),
    cmocka_unit_test(one_line_of_much_is_read_no_further),
    cmocka_unit_test(csv_quotes_only_where_needed),
    cmocka_unit_test(csv_keeps_nul),
    cmocka_unit_test(seconds_of_tables_are_exact),
    cmocka_unit_test(nouns_agree_with_their_number),
    cmocka_unit_test(grouped),
    cmocka_unit_test(bytes_have_units_of_1024),
    cmocka_unit_test(a_number_is_followed_by_its_words),
    cmocka_unit_test(shell),
    cmocka_unit_test(wraps_between_words),
    cmocka_unit_test(a_front_ends_between_characters),
    cmocka_unit_test(host_locale_changes_nothing),
});
