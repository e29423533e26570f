/* test_delimited.c - converts text to frames: how each deviation is read, and that a frame does not
 * depend on how its text was split. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/delimited.h"
#include "table.h"

struct rig {
  struct tm_dialect dialect;
  struct tm_schema schema;
  struct tm_arena arena;
  struct tm_delimited *reader;
  struct tm_buf text;
  struct tm_err err;
};

/* columns: "name:type name:type" */
static void rig_init(struct rig *g, const char *columns)
{
  *g = (struct rig) { .err = TM_ERR_NONE };
  tm_dialect_init(&g->dialect);
  table_schema(&g->schema, columns);
}

static void rig_release(struct rig *g)
{
  tm_schema_release(&g->schema);
  tm_arena_release(&g->arena);
  tm_delimited_free(g->reader);
  tm_buf_release(&g->text);
}

static int64_t read_source(struct rig *g, const char *p, size_t n,
                           const struct tm_delimited_source *source)
{
  struct tm_data_frame frame;
  tm_delimited_free(g->reader);
  tm_arena_clear(&g->arena);
  g->reader = tm_delimited_new(&g->dialect, &g->schema, TM_SCAN_BEST);
  tm_delimited_begin(g->reader, &g->arena, source);
  int64_t rc = tm_delimited_add(g->reader, p, n, true, &g->err);
  tm_buf_clear(&g->text);
  if (rc < 0)
    return rc;
  tm_delimited_end(g->reader, &frame);
  table_write(&g->text, &frame);
  return rc;
}

static const char *read_text(struct rig *g, const char *text)
{
  struct tm_delimited_source source = { .at = 1000 };
  assert_int_equal(read_source(g, text, strlen(text), &source), strlen(text));
  return tm_buf_str(&g->text);
}

static const struct tm_row_counts *counts(struct rig *g)
{
  return tm_delimited_counts(g->reader);
}

static void values_have_their_types(void **state)
{
  struct rig g;
  rig_init(&g, "i:long x:double b:bool t:datetime s:string");
  assert_string_equal(
      read_text(&g, "1,2.5,true,1970-01-02,a\n-2,\"1e3\",FALSE,1970-01-01T00:00:01Z,\"b\"\n"),
      "1|2.5|true|86400000000|a\n-2|1000|false|1000000|b\n");
  assert_int_equal(counts(&g)->first.kind, TM_FAULT_NONE);
  assert_int_equal(counts(&g)->rows, 2);
  assert_string_equal(read_text(&g, ",,,,\n"), "-|-|-|-|-\n");
  assert_string_equal(read_text(&g, "\"\",\"\",\"\",\"\",\"\"\n"), "-|-|-|-|\n");
  assert_string_equal(read_text(&g, " , \t,  , , \n"), "-|-|-|-| \n");
  assert_int_equal(counts(&g)->first.kind, TM_FAULT_NONE);
  rig_release(&g);
}

/* Numbers go through in blocks: a row of each kind at every place of a block, with each end of
 * line. */
static void numbers_in_blocks(void **state)
{
  static const struct {
    const char *row, *values;
  } odd[] = {
    { "12345678,9,1234.567,-.5", "12345678|9|1234.567|-0.5\n" },
    { "123456789,9,1234.5678,5.", "123456789|9|1234.5678|5\n" },
    { "1", "1|-|-|-\n" },
    { "1,2,3", "1|2|3|-\n" },
    { "1,2,3,4,5", "1|2|3|4\n" },
    { "\"1\",\"2\",\"3\",\"4.5\"", "1|2|3|4.5\n" },
    { ",,,", "-|-|-|-\n" },
    { " 1 ,+2,1e1,nan", "1|2|10|nan\n" },
    { "1.5,x,y,1.2.3", "-|-|-|-\n" },
    { "-7,8,-0.25,12345678", "-7|8|-0.25|12345678\n" },
  };
  static const char *const ends[] = { "\n", "\r\n" };
  struct rig g;
  struct tm_buf text = TM_BUF_NONE, want = TM_BUF_NONE;
  rig_init(&g, "a:long b:long c:double d:double");
  for (size_t i = 0; i < 2 * 80 * TM_COUNT_OF(odd); i++) {
    const char *end = ends[i & 1];
    size_t at = i / 2 % 80, kind = i / 160;
    tm_buf_clear(&text);
    tm_buf_clear(&want);
    for (size_t k = 0; k < 80; k++) {
      tm_buf_printf(&text, "%s%s", k == at ? odd[kind].row : "7,42,2.5,-1.25", end);
      tm_buf_add_str(&want, k == at ? odd[kind].values : "7|42|2.5|-1.25\n");
    }
    assert_string_equal(read_text(&g, tm_buf_str(&text)), tm_buf_str(&want));
  }
  tm_buf_release(&text);
  tm_buf_release(&want);
  rig_release(&g);
}

static void formats_are_tried_in_turn(void **state)
{
  struct rig g;
  static const char *const formats[] = { "%d.%m.%Y", "%Y%m%d" };
  rig_init(&g, "t:datetime");
  tm_schema_set_type(&g.schema.columns[0], TM_COLUMN_DATETIME, formats, 2);
  assert_string_equal(read_text(&g, "2.1.1970\n19700102\n1970-01-02\n"),
                      "86400000000\n86400000000\n-\n");
  assert_int_equal(counts(&g)->faults[TM_FAULT_VALUE], 1);
  rig_release(&g);
}

/* The table of README.md. */
static void deviations(void **state)
{
  static const struct {
    const char *text, *rows;
  } cases[] = {
    { "", "" },
    { "a,b\r\nc,d\r\n", "a|b\nc|d\n" },
    { "a,b\nc,d", "a|b\nc|d\n" },
    { "a,b\nc,", "a|b\nc|-\n" },
    { "a,b\r\nc,d\r", "a|b\nc|d\n" },
    { "a,b\n\n\r\nc,d\n\n", "a|b\nc|d\n" },
    { "a\n", "a|-\n" },
    { "a,b,c\n", "a|b\n" },
    { "12\" lcd,a\"b\"\n", "12\" lcd|a\"b\"\n" },
    { "\"a\"b,\"c\"\"\"\n", "ab|c\"\n" },
    { "\"a\"b\"c,d\n", "ab\"c|d\n" },
    { "\"a,b\",c\n", "a,b|c\n" },
    { " \"a\",b\n", " \"a\"|b\n" },
    { "a,\"b\nc,d\n", "a|b\nc|d\n" },
    { "a\rb,c\n", "a\rb|c\n" },
    { "\xc3\xa9,\xe2\x82\xac\n", "\xc3\xa9|\xe2\x82\xac\n" },
    { "\xff,b\n", "\xef\xbf\xbd|b\n" },
  };
  struct rig g;
  rig_init(&g, "a:string b:string");
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    if (strcmp(read_text(&g, cases[i].text), cases[i].rows) != 0)
      fail_msg("case %zu: '%s', not '%s'", i, tm_buf_str(&g.text), cases[i].rows);
  rig_release(&g);
}

static void deviations_are_counted(void **state)
{
  struct rig g;
  rig_init(&g, "a:long b:string");
  read_text(&g, "1,x\n\n2\n3,y,z\nq,\xff\n5,\"open\n");
  const struct tm_row_counts *c = counts(&g);
  assert_int_equal(c->rows, 5);
  assert_int_equal(c->empty_lines, 1);
  assert_int_equal(c->faults[TM_FAULT_SHORT], 1);
  assert_int_equal(c->faults[TM_FAULT_LONG], 1);
  assert_int_equal(c->faults[TM_FAULT_VALUE], 1);
  assert_int_equal(c->faults[TM_FAULT_TEXT], 1);
  assert_int_equal(c->faults[TM_FAULT_UNCLOSED], 1);
  assert_int_equal(c->first.kind, TM_FAULT_SHORT);
  assert_int_equal(c->first.at, 1005);
  rig_release(&g);
}

static void ragged_rows_can_be_dropped(void **state)
{
  struct rig g;
  rig_init(&g, "a:long b:long");
  g.dialect.ragged = TM_RAGGED_DROP;
  assert_string_equal(read_text(&g, "1,2\n3\n4,5,6\n7,8\n"), "1|2\n7|8\n");
  assert_int_equal(counts(&g)->dropped, 2);
  assert_int_equal(counts(&g)->rows, 2);
  rig_release(&g);
}

static void expect_error(struct rig *g, const char *text, const char *words, int64_t at)
{
  struct tm_delimited_source source = { .at = 1000 };
  assert_int_equal(read_source(g, text, strlen(text), &source), TM_EDAMAGE);
  assert_string_equal(g->err.text, words);
  assert_int_equal(tm_delimited_fault(g->reader)->at, at);
}

static void deviations_can_be_errors(void **state)
{
  struct rig g;
  rig_init(&g, "a:long b:string");
  g.dialect.ragged = TM_RAGGED_ERROR;
  g.dialect.misfit = TM_MISFIT_ERROR;
  expect_error(&g, "1,2\n3\n", "a row of 1 field in a table of 2 columns", 1004);
  expect_error(&g, "1,2\n3,4,5\n", "a row of 3 fields in a table of 2 columns", 1004);
  expect_error(&g, "1,2\n3x,4\n", "column 'a': '3x' is not a valid long", 1004);
  expect_error(&g, "1,2\n\"3x\",4\n", "column 'a': '3x' is not a valid long", 1004);
  expect_error(&g, "1,2\n3,\xff\n", "column 'b': '\\xFF' is not text in the given encoding", 1006);
  expect_error(
      &g, "1,2\n3,\"x\n",
      "column 'b': a quote is not closed where its row ends; for line breaks within quotes set "
      "support_multi_line = true",
      1006);
  g.dialect.encoding = TM_ENCODING_UTF16; /* the text is UTF-8, the offsets are those of the file */
  expect_error(&g, "1,\xe2\x82\xac\n3x,4\n", "column 'a': '3x' is not a valid long", 1008);
  rig_release(&g);
}

/* The second field has a line break in quotes: the row is cut in two, and too short. */
static void torn_rows_are_known_by_their_quote(void **state)
{
  static const char text[] = "1,\"x\ny\",2\n1,2,3,\"x\ny\"\n";
  struct rig g;
  rig_init(&g, "a:string b:string c:string");
  read_text(&g, text);
  assert_int_equal(counts(&g)->faults[TM_FAULT_UNCLOSED], 2);
  assert_int_equal(counts(&g)->first_of[TM_FAULT_UNCLOSED].at, 1016);
  assert_int_equal(counts(&g)->faults[TM_FAULT_SHORT], 3);
  assert_int_equal(counts(&g)->faults[TM_FAULT_LONG], 1);
  g.dialect.ragged = TM_RAGGED_DROP;
  read_text(&g, text);
  assert_int_equal(counts(&g)->rows, 0);
  assert_int_equal(counts(&g)->faults[TM_FAULT_UNCLOSED], 2);
  g.dialect.ragged = TM_RAGGED_NULL;
  g.schema.columns[1].is_unread = true; /* nobody reads the field with the quote */
  read_text(&g, text);
  assert_int_equal(counts(&g)->faults[TM_FAULT_UNCLOSED], 2);
  g.dialect.ragged = TM_RAGGED_ERROR;
  expect_error(&g, text,
               "column 'b': a quote is not closed where its row ends; for line breaks within "
               "quotes set support_multi_line = true",
               1002);
  rig_release(&g);
}

static void line_breaks_in_quotes(void **state)
{
  struct rig g;
  rig_init(&g, "a:string b:string");
  g.dialect.multi_line = true;
  assert_string_equal(read_text(&g, "\"a\r\nb\",\"\n\"\n"), "a\r\nb|\n\n");
  assert_string_equal(read_text(&g, "a,b\nc,\"d\n"), "a|b\nc|d\n\n");
  assert_int_equal(counts(&g)->faults[TM_FAULT_UNCLOSED], 1);
  g.dialect.ragged = TM_RAGGED_ERROR;
  expect_error(&g, "a,b\nc,\"d\n",
               "column 'b': a quote is not closed: all up to the end of the file is in its field",
               1006);
  rig_release(&g);
}

static void empty_as_string(void **state)
{
  struct rig g;
  rig_init(&g, "a:string b:string c:long");
  g.dialect.empty_as_string = true;
  assert_string_equal(read_text(&g, ",,\na\n"), "||-\na|-|-\n");
  rig_release(&g);
}

static void quotes_can_be_characters(void **state)
{
  struct rig g;
  rig_init(&g, "a:string b:string");
  g.dialect.no_quotes = true;
  assert_string_equal(read_text(&g, "\"a,b\"\n"), "\"a|b\"\n");
  rig_release(&g);
}

static void encodings(void **state)
{
  struct rig g;
  rig_init(&g, "a:string b:string");
  g.dialect.encoding = TM_ENCODING_LATIN1;
  assert_string_equal(read_text(&g, "\xe9,\"\x80\"\n"), "\xc3\xa9|\xc2\x80\n");
  g.dialect.encoding = TM_ENCODING_WINDOWS1252;
  assert_string_equal(read_text(&g, "\xe9,\"\x80\"\n"), "\xc3\xa9|\xe2\x82\xac\n");
  assert_int_equal(counts(&g)->first.kind, TM_FAULT_NONE);
  assert_string_equal(read_text(&g, "\x81,b\n"), "\xef\xbf\xbd|b\n");
  assert_int_equal(counts(&g)->faults[TM_FAULT_TEXT], 1);
  g.dialect.encoding = TM_ENCODING_ASCII;
  assert_string_equal(read_text(&g, "\xc3\xa9,b\n"), "\xef\xbf\xbd\xef\xbf\xbd|b\n");
  rig_release(&g);
}

static void nul_bytes_are_text(void **state)
{
  struct rig g;
  struct tm_delimited_source source = { .at = 0 };
  rig_init(&g, "a:string b:long");
  assert_int_equal(read_source(&g, "a\0b,1\0\n", 7, &source), 7);
  assert_int_equal(g.text.len, 6);
  assert_memory_equal(g.text.data, "a\0b|-\n", 6);
  assert_int_equal(counts(&g)->faults[TM_FAULT_VALUE], 1);
  rig_release(&g);
}

static void fields_go_to_columns(void **state)
{
  struct rig g;
  static const int32_t fields[] = { 2, -1, 0 };
  static const char *const values[] = { NULL, NULL, NULL, "/a \"path\",\r", "7" };
  rig_init(&g, "a:string b:long c:long path:string part:long");
  g.schema.columns[3].of_file = g.schema.columns[4].of_file = true;
  struct tm_delimited_source source = { .fields = fields, .fields_len = 3, .values = values };
  assert_int_equal(read_source(&g, "1,2,3\n4,5,6\n", 12, &source), 12);
  assert_string_equal(tm_buf_str(&g.text), "3|-|1|/a \"path\",\r|7\n6|-|4|/a \"path\",\r|7\n");
  source.fields = NULL;
  assert_int_equal(read_source(&g, "1,2,3\n", 6, &source), 6);
  assert_string_equal(tm_buf_str(&g.text), "1|2|3|/a \"path\",\r|7\n");
  rig_release(&g);
}

/* Its values are not read, but its row is checked. */
static void unread_columns_are_left_out(void **state)
{
  struct rig g;
  static const char *const values[] = { NULL, NULL, NULL, "/a" };
  struct tm_delimited_source source = { .at = 1000, .values = values };
  static const char text[] = "x,\xff,\"a\"\n2,y\n";
  rig_init(&g, "a:long b:string c:string path:string");
  g.schema.columns[3].of_file = true;
  g.dialect.misfit = TM_MISFIT_ERROR;
  g.schema.columns[0].is_unread = g.schema.columns[1].is_unread = true;
  assert_int_equal(read_source(&g, text, strlen(text), &source), strlen(text));
  assert_string_equal(tm_buf_str(&g.text), "a|/a\n-|/a\n");
  assert_int_equal(counts(&g)->faults[TM_FAULT_SHORT], 1);
  assert_int_equal(counts(&g)->faults[TM_FAULT_TEXT], 0);
  g.schema.columns[2].is_unread = g.schema.columns[3].is_unread = true;
  assert_string_equal(read_text(&g, "1,2,3\n"), "");
  assert_int_equal(counts(&g)->rows, 1);
  g.dialect.ragged = TM_RAGGED_ERROR;
  expect_error(&g, "1,2,3\n1,2,\"x\n",
               "column 'c': a quote is not closed where its row ends; for line breaks within "
               "quotes set support_multi_line = true",
               1010);
  rig_release(&g);
}

static void a_row_is_taken_whole_or_not(void **state)
{
  struct rig g;
  struct tm_delimited_source source = { .at = 0 };
  struct tm_data_frame frame;
  rig_init(&g, "a:string b:string");
  g.reader = tm_delimited_new(&g.dialect, &g.schema, TM_SCAN_BEST);
  tm_delimited_begin(g.reader, &g.arena, &source);
  assert_int_equal(tm_delimited_add(g.reader, "a,b", 3, false, &g.err), 0);
  assert_int_equal(tm_delimited_add(g.reader, "a,b\nc,", 6, false, &g.err), 4);
  assert_int_equal(tm_delimited_add(g.reader, "c,d", 3, true, &g.err), 3);
  tm_delimited_end(g.reader, &frame);
  assert_int_equal(frame.len, 2);
  rig_release(&g);
}

/* A field much larger than a block, between small ones. */
static void long_fields(void **state)
{
  struct rig g;
  size_t n = 100 << 20;
  char *text = tm_xmalloc(n + 64);
  struct tm_data_frame frame;
  struct tm_delimited_source source = { .at = 0 };
  rig_init(&g, "a:long b:string");
  g.dialect.multi_line = true;
  g.dialect.limits.record = (size_t)128 << 20;
  size_t at = (size_t)sprintf(text, "1,x\n2,\"");
  memset(text + at, 'y', n);
  memset(text + at + n / 2, '\n', 10);
  sprintf(text + at + n, "\"\n3,z\n");
  g.reader = tm_delimited_new(&g.dialect, &g.schema, TM_SCAN_BEST);
  tm_delimited_begin(g.reader, &g.arena, &source);
  assert_int_equal(tm_delimited_add(g.reader, text, at + n + 6, false, &g.err), at + n + 6);
  tm_delimited_end(g.reader, &frame);
  assert_int_equal(frame.len, 3);
  size_t len;
  const char *p = tm_column_string(&frame.columns[1], 1, &len);
  assert_int_equal(len, n);
  assert_memory_equal(p, text + at, n);
  assert_int_equal(frame.columns[0].i64[2], 3);
  free(text);
  rig_release(&g);
}

UNIT_TESTS({
    cmocka_unit_test(values_have_their_types),
    cmocka_unit_test(numbers_in_blocks),
    cmocka_unit_test(formats_are_tried_in_turn),
    cmocka_unit_test(deviations),
    cmocka_unit_test(deviations_are_counted),
    cmocka_unit_test(torn_rows_are_known_by_their_quote),
    cmocka_unit_test(ragged_rows_can_be_dropped),
    cmocka_unit_test(deviations_can_be_errors),
    cmocka_unit_test(line_breaks_in_quotes),
    cmocka_unit_test(empty_as_string),
    cmocka_unit_test(quotes_can_be_characters),
    cmocka_unit_test(encodings),
    cmocka_unit_test(nul_bytes_are_text),
    cmocka_unit_test(fields_go_to_columns),
    cmocka_unit_test(unread_columns_are_left_out),
    cmocka_unit_test(a_row_is_taken_whole_or_not),
    cmocka_unit_test(long_fields),
});
