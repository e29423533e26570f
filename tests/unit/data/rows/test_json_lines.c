/* test_json_lines.c - reads lines of JSON objects as frames. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/rows/json_infer.h"
#include "table.h"

static struct tm_err err;

static void infer(const char *text, bool is_whole, struct tm_schema *s)
{
  struct tm_json_lines_options o = { .drop_invalid = false };
  struct tm_json_infer *f = tm_json_infer_new(&o, 200, s);
  assert_true(tm_json_infer_add(f, text, strlen(text), is_whole, &err) >= 0);
  tm_json_infer_end(f);
}

/* The lines as a table; with `drop`, without the bad ones. NULL columns are inferred. */
static char *read_lines(const char *columns, const char *text, bool drop,
                        struct tm_row_counts *counts)
{
  struct tm_json_lines_options o = { .drop_invalid = drop };
  struct tm_schema schema = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_data_frame frame;
  struct tm_buf out = TM_BUF_NONE;
  if (columns != NULL)
    table_schema(&schema, columns);
  else
    infer(text, true, &schema);
  struct tm_json_lines *j = tm_json_lines_new(&o, &schema);
  tm_json_lines_begin(j, &arena, 100, NULL);
  int64_t rc = tm_json_lines_add(j, text, strlen(text), true, &err);
  if (rc >= 0) {
    tm_json_lines_end(j, &frame);
    table_write(&out, &frame);
  }
  *counts = *tm_json_lines_counts(j);
  if (rc < 0)
    counts->first = *tm_json_lines_fault(j);
  tm_json_lines_free(j);
  tm_arena_release(&arena);
  tm_schema_release(&schema);
  return rc < 0 ? NULL : tm_buf_take(&out);
}

static void check(const char *columns, const char *text, const char *want)
{
  struct tm_row_counts counts;
  char *got = read_lines(columns, text, true, &counts);
  assert_string_equal(got, want);
  free(got);
}

static void values_go_to_their_columns(void **state)
{
  check("a:long b:string c:double d:bool t:datetime",
        "{\"a\":1,\"b\":\"x\",\"c\":2.5,\"d\":true,\"t\":\"1970-01-02\"}\r\n"
        "{\"t\":1.5,\"d\":false,\"c\":3,\"b\":\"\",\"a\":-2}\n"
        "\n{\"z\":{\"a\":9},\"b\":null}\n"
        "{}",
        "1|x|2.5|true|86400000000\n-2||3|false|1500000\n-|-|-|-|-\n-|-|-|-|-\n");
  check("a:long", "{\"a\":3.0}\n{\"a\":3e2}\n{\"a\":1,\"a\":2}\n{\"\\u0061\":7}\n",
        "3\n300\n2\n7\n");
  check("a:long", "{\"a\":9223372036854775807}\n{\"a\":3.5}\n{\"a\":\"3\"}\n{\"a\":1e300}\n",
        "9223372036854775807\n-\n-\n-\n");
}

static void strings_are_decoded_and_other_values_are_their_text(void **state)
{
  check("s:string", "{\"s\":\"a\\n\\\"\\\\\\/\\u20ac\\ud83d\\udc0b\\ud83d\"}\n",
        "a\n\"\\/\xe2\x82\xac\xf0\x9f\x90\x8b\xef\xbf\xbd\n");
  check("s:string", "{\"s\": [1, {\"a\":\"b\"}]}\n{\"s\":1.50}\n{\"s\":true}\n",
        "[1, {\"a\":\"b\"}]\n1.50\ntrue\n");
}

static void bad_lines(void **state)
{
  static const char *const bad[] = {
    "nope",
    "[1]",
    "1",
    "null",
    "{\"a\":1",
    "{\"a\":1,}",
    "{\"a\" 1}",
    "{a:1}",
    "{\"a\":01}",
    "{\"a\":1}x",
    "{\"a\":1} {}",
    "{\"a\":.5}",
    "{\"a\":1.}",
    "{\"a\":\"\\x\"}",
    "{\"a\":\"\\u12\"}",
    "{\"a\":\"\t\"}",
    "{\"a\":\"\xff\"}",
    "{\"a\":tru}",
    "{\"a\":[1}",
    "{\"a\":{]}",
    "{,\"a\":1}",
    "{\"a\":1{\"b\":2}",
    "{\"a\":-}",
    "{\"a\":1e}",
    "{\"a\":[,]}",
    "{\"a\":[1,]}",
  };
  struct tm_row_counts counts;
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    char *text = tm_xprintf("{\"a\":1}\n%s\n{\"a\":2}\n", bad[i]);
    char *got = read_lines("a:long", text, true, &counts);
    if (strcmp(got, "1\n2\n") != 0)
      fail_msg("'%s' was taken", bad[i]);
    assert_int_equal(counts.dropped, 1);
    assert_int_equal(counts.first.at, 108);
    free(got);
    assert_null(read_lines("a:long", text, false, &counts));
    assert_int_equal(counts.first.at, 108);
    assert_non_null(
        strstr(err.text, "is not a JSON object; invalid_lines = \"drop\" leaves such lines out"));
    free(text);
  }
}

static void deep_lines(void **state)
{
  struct tm_buf text = TM_BUF_NONE;
  for (int depth = 99; depth <= 101; depth++) {
    struct tm_row_counts counts;
    tm_buf_clear(&text);
    tm_buf_add_str(&text, "{\"a\":");
    for (int i = 0; i < depth * 2; i++)
      tm_buf_add_char(&text, i < depth ? '[' : ']');
    tm_buf_add_str(&text, "}");
    free(read_lines("a:string", text.data, true, &counts));
    assert_int_equal(counts.dropped, depth > 100);
  }
  tm_buf_release(&text);
}

/* Keys after the first objects, with "" and names that C cannot have among them. */
static void keys_that_are_not_columns_are_counted(void **state)
{
  struct tm_row_counts counts;
  struct tm_buf words = TM_BUF_NONE;
  free(read_lines("a:long", "{\"a\":1}\n{\"b\\n\":2,\"a\":2,\"\":3}\n{\"z\":1\n{\"a\\u0000\":4}\n",
                  true, &counts));
  assert_int_equal(counts.rows, 3);
  assert_int_equal(counts.faults[TM_FAULT_KEY], 3);
  assert_int_equal(counts.first.kind, TM_FAULT_KEY);
  assert_int_equal(counts.first.at, 108);
  tm_row_counts_words(&words, &counts, TM_FAULT_KEY);
  assert_non_null(strstr(words.data, "do not have their keys: 3 (the first key is 'b"));
  assert_non_null(strstr(words.data, "columns = {"));
  tm_buf_release(&words);
  char *got = read_lines(NULL, "{\"a\":1,\"\":7}", true, &counts);
  assert_string_equal(got, "1|7\n");
  assert_int_equal(counts.faults[TM_FAULT_KEY], 0);
  free(got);
}

static void types_are_those_of_the_values(void **state)
{
  static const char text[] =
      "{\"i\":1,\"x\":1,\"s\":\"a\",\"n\":null}\n"
      "bad\n"
      "{\"x\":2.5,\"i\":2,\"b\":true,\"o\":{},\"t\":\"2026-01-31\",\"m\":1}\n"
      "{\"n\":3,\"m\":\"x\",\"\":1,\"u\":null}";
  struct tm_schema s = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  infer(text, true, &s);
  table_write_schema(&out, &s);
  assert_string_equal(
      out.data,
      "i:long x:double s:string n:long b:bool o:string t:datetime m:string :long u:string");
  tm_buf_release(&out);
  tm_schema_release(&s);
  infer(text, false, &s);
  assert_int_equal(s.len, 8);
  tm_schema_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(values_go_to_their_columns),
    cmocka_unit_test(strings_are_decoded_and_other_values_are_their_text),
    cmocka_unit_test(bad_lines),
    cmocka_unit_test(keys_that_are_not_columns_are_counted),
    cmocka_unit_test(deep_lines),
    cmocka_unit_test(types_are_those_of_the_values),
});
