/* test_json_parse.c - parses good and hostile JSON text. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "base/json.h"
#include "base/mem.h"

static struct tm_json *parsed(const char *text, size_t len)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = tm_json_parse(text, len, &err);
  if (!v)
    fail_msg("%s", err.text);
  assert_int_equal(err.code, 0);
  return v;
}

/* Parses the text and writes it back, compact and with sorted keys. */
static void assert_read(const char *text, const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_json *v = parsed(text, strlen(text));
  tm_json_write(&b, v, (struct tm_json_style) { 0 });
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
  tm_json_free(v);
}

static void assert_refused(const char *text, size_t len, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = tm_json_parse(text, len, &err);
  if (v)
    fail_msg("'%s' was taken", text);
  assert_true(err.code < 0);
  if (!strstr(err.text, words))
    fail_msg("'%s' does not say '%s'", err.text, words);
  assert_null(tm_json_parse(text, len, NULL)); /* the caller may ignore the error */
}

static void good_text(void **state)
{
  assert_read("null", "null");
  assert_read(" [ ] ", "[]");
  assert_read("{ }", "{}");
  assert_read("12", "12"); /* it ends without a byte after it */
  assert_read("[1,-2.5,\"x\",true,false,null,{\"a\":[{}]}]",
              "[1,-2.5,\"x\",true,false,null,{\"a\":[{}]}]");
  assert_read("\"\\u00e9\\ud83d\\ude00\\/\\n\"", "\"\xC3\xA9\xF0\x9F\x98\x80/\\n\"");
  assert_read("{\"\":1}", "{\"\":1}");
}

static void integers_keep_all_digits(void **state)
{
  static const struct {
    const char *text;
    int64_t n;
  } cases[] = {
    { "9223372036854775807", INT64_MAX },
    { "-9223372036854775808", INT64_MIN },
    { "9007199254740993", INT64_C(9007199254740993) },
    { "0", 0 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_json *v = parsed(cases[i].text, strlen(cases[i].text));
    assert_int_equal(v->type, TM_JSON_INT);
    assert_true(v->integer == cases[i].n);
    tm_json_free(v);
  }
}

static void other_numbers_are_doubles(void **state)
{
  static const struct {
    const char *text;
    double n;
  } cases[] = {
    { "9223372036854775808", 0x1p63 },
    { "-9223372036854775809", -0x1p63 },
    { "1.0", 1 },
    { "1e2", 100 },
    { "1E-2", 0.01 },
    { "123456789012345678901234567890", 123456789012345678901234567890.0 },
    { "0.1000000000000000055511151231257827021181583404541015625000000000000000000", 0.1 },
    { "5e-324", 0x1p-1074 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_json *v = parsed(cases[i].text, strlen(cases[i].text));
    assert_int_equal(v->type, TM_JSON_NUMBER);
    assert_true(v->number == cases[i].n);
    tm_json_free(v);
  }
  struct tm_json *zero = parsed("-0", 2);
  assert_true(zero->type == TM_JSON_NUMBER && signbit(zero->number));
  tm_json_free(zero);
}

static void nul_is_kept_in_strings(void **state)
{
  const char *text = "[\"a\\u0000b\"]";
  struct tm_json *v = parsed(text, strlen(text));
  assert_int_equal(v->list.at[0]->string.len, 3);
  assert_memory_equal(v->list.at[0]->string.at, "a\0b", 4);
  tm_json_free(v);
  assert_refused("\"a\0b\"", 5, "line 1");
  assert_refused("{\"a\\u0000b\":1}", 14, "a key holds a NUL");
}

static void last_of_equal_keys_wins(void **state)
{
  assert_read("{\"a\":1,\"b\":2,\"a\":[3]}", "{\"a\":[3],\"b\":2}");
  assert_read("{\"a\":1,\"\\u0061\":2}", "{\"a\":2}");
  assert_read("{\"a\":{\"x\":1,\"x\":2},\"a\":{\"y\":1,\"y\":2,\"y\":3},\"c\":0}",
              "{\"a\":{\"y\":3},\"c\":0}");
}

static void last_of_equal_keys_wins_among_many(void **state)
{
  enum { KEYS = 5000 };
  struct tm_buf b = TM_BUF_NONE;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < KEYS; i++)
      tm_buf_printf(&b, "%s\"k%d\":%d", b.len ? "," : "{", i, round * KEYS + i);
  tm_buf_add_str(&b, ",\"last\":true}");
  struct tm_json *v = parsed(b.data, b.len);
  assert_int_equal(v->list.len, KEYS + 1);
  for (int i = 0; i < KEYS; i++)
    assert_int_equal(v->list.at[i]->integer, KEYS + i);
  assert_string_equal(v->keys[KEYS], "last");
  tm_json_free(v);
  tm_buf_release(&b);
}

static void depth_has_a_limit(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  for (int i = 0; i < 50; i++)
    tm_buf_add_str(&b, "[{\"a\":");
  tm_buf_add_str(&b, "1");
  for (int i = 0; i < 50; i++)
    tm_buf_add_str(&b, "}]");
  tm_json_free(parsed(b.data, b.len)); /* 100 */
  tm_buf_clear(&b);
  for (int i = 0; i < 101; i++)
    tm_buf_add_char(&b, '[');
  assert_null(tm_json_parse(b.data, b.len, &err));
  assert_int_equal(err.code, TM_ELIMIT);
  assert_string_equal(err.text,
                      "line 1, column 102: arrays and objects are nested deeper than 100");
  memset(tm_buf_extend(&b, 1000000), '[', 1000000);
  assert_refused(b.data, b.len, "deeper than 100");
  tm_buf_release(&b);
}

static void bad_utf8_is_refused(void **state)
{
  assert_refused("\"\xFF\"", 3, "line 1");
  assert_refused("\"\xC3\"", 3, "line 1");
  assert_refused("\"\xC0\x80\"", 4, "UTF-8");     /* overlong */
  assert_refused("\"\xED\xA0\x80\"", 5, "UTF-8"); /* surrogate */
  assert_refused("{\"\xC0\x80\":1}", 8, "a key is not valid UTF-8");
  assert_refused("\"\xF4\x90\x80\x80\"", 6, "UTF-8");
}

static void half_a_pair_is_replaced(void **state)
{
  assert_read("\"a\\ud83dz\"", "\"a\xEF\xBF\xBDz\"");
  assert_read("\"\\ude00\"", "\"\xEF\xBF\xBD\"");
  assert_read("\"\\ud83d\\u0041\"", "\"\xEF\xBF\xBD"
                                    "A\"");
  assert_read("\"\\ud83d\\ud83d\\ude00\"", "\"\xEF\xBF\xBD\xF0\x9F\x98\x80\"");
  assert_read("\"\\\\ud83d\"", "\"\\\\ud83d\""); /* a backslash, not an escape */
  assert_read("{\"\\uD83D\":1}", "{\"\xEF\xBF\xBD\":1}");
}

static void bad_text_is_refused_with_its_place(void **state)
{
  static const char *const texts[] = {
    "",     " ",       "[",        "[1,]",    "{\"a\"}",   "{\"a\":1,}", "{a:1}",    "'x'",
    "nul",  "01",      "1.",       ".5",      "+1",        "1e",         "[1 2]",    "[1][2]",
    "1 2",  "\"x",     "\"\n\"",   "\"\\x\"", "\"\\u12\"", "\\",         "\\u",      "\\ud83d",
    "[1]]", "{\"a\":", "{\"a\":1", "NaN",     "Infinity",  "// x\n1",    "[\"\\ud8",
  };
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++)
    assert_refused(texts[i], strlen(texts[i]), "line ");
  assert_refused("[1,\n 2,\n x]", 11, "line 3, column ");
  assert_refused("[1,\n 2", 6, "line 2, column 3: premature EOF");
  assert_refused("[1e400]", 7, "a number is too large");
  assert_refused(NULL, 0, "line 1, column 1");
}

static void every_cut_of_good_text_is_refused(void **state)
{
  const char *text = "{\"a\":[1,-2.5e3,\"x\\u00e9\\ud83d\\ude00\",true,null],\"b\":{\"c\":\"\"}}";
  size_t len = strlen(text);
  for (size_t n = 0; n < len; n++) {
    char *exact = tm_xmalloc(n); /* so that a sanitizer sees a read beyond the end */
    memcpy(exact, text, n);
    assert_null(tm_json_parse(exact, n, NULL));
    free(exact);
  }
  tm_json_free(parsed(text, len));
}

UNIT_TESTS({
    cmocka_unit_test(good_text),
    cmocka_unit_test(integers_keep_all_digits),
    cmocka_unit_test(other_numbers_are_doubles),
    cmocka_unit_test(nul_is_kept_in_strings),
    cmocka_unit_test(last_of_equal_keys_wins),
    cmocka_unit_test(last_of_equal_keys_wins_among_many),
    cmocka_unit_test(depth_has_a_limit),
    cmocka_unit_test(bad_utf8_is_refused),
    cmocka_unit_test(half_a_pair_is_replaced),
    cmocka_unit_test(bad_text_is_refused_with_its_place),
    cmocka_unit_test(every_cut_of_good_text_is_refused),
});
