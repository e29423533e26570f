/* test_limits.c - tables that claim too much: columns and records beyond the limits are refused
 * during the read, in files that never end. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/frame/fault_list.h"
#include "data/rows/row_boundaries.h"
#include "data/rows/reader.h"
#include "data/rows/sample.h"
#include "params/params.h"
#include "table.h"

/* A file: the text, then `again` for ever (or `tail` after `size` bytes). Counts the bytes read. */
struct endless {
  struct tm_stream stream;
  const char *text, *again, *tail;
  int64_t size, got;
};

static char byte_at(const struct endless *e, int64_t at, int64_t text, size_t again)
{
  if (at < text)
    return e->text[at];
  if (e->tail != NULL && at >= text + e->size)
    return e->tail[at - text - e->size];
  return e->again[(size_t)(at - text) % again];
}

static int64_t read_endless(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct endless *e = (struct endless *)s;
  if (e->tail != NULL) {
    int64_t end = (int64_t)(strlen(e->text) + strlen(e->tail)) + e->size;
    n = at >= end ? 0 : (int64_t)n < end - at ? n : (size_t)(end - at);
  }
  int64_t text = (int64_t)strlen(e->text);
  size_t again = strlen(e->again);
  for (size_t i = 0; i < n; i++)
    ((char *)p)[i] = byte_at(e, at + (int64_t)i, text, again);
  e->got += (int64_t)n;
  return (int64_t)n;
}

static struct tm_rows_options options_of(enum tm_rows_format format)
{
  struct tm_rows_options o = { .format = format };
  tm_dialect_init(&o.dialect);
  o.dialect.limits = (struct tm_row_limits) { .columns = 100000, .record = 1000000 };
  return o;
}

/* The message about the beginning of the file; "" if it is accepted. */
static const char *find(struct endless *e, const struct tm_rows_options *o,
                        struct tm_schema *schema)
{
  static struct tm_err err;
  struct tm_rows_file file = { .path = "/t", .stream = &e->stream, .is_first = true };
  err = (struct tm_err)TM_ERR_NONE;
  e->stream.read = read_endless;
  e->got = 0;
  int rc = tm_rows_find_schema(o, &file, true, NULL, 0, schema, &err);
  assert_int_equal(rc, rc < 0 ? TM_EINPUT : 0);
  return err.text;
}

static void endless_headers_are_refused(void **state)
{
  static const struct {
    const char *text, *again, *words;
    int64_t most; /* bytes read */
  } cases[] = {
    { "", "a,", "'/t', line 1 (byte 200000): column 100001 is beyond the limit; ", 1 << 19 },
    { "\r\n\n\xff", ",", "'/t', line 3 (byte 100004): column 100001", 1 << 19 },
    { "x", "a", "'/t', line 1 (byte 0): a header or first row of more than 1000000 bytes; ",
      2 << 20 },
    { "\xef\xbb\xbf\n\"", "a,\n", "'/t', line 2 (byte 4): a header", 2 << 20 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct endless e = { .text = cases[i].text, .again = cases[i].again };
    struct tm_rows_options o = options_of(TM_ROWS_DELIMITED);
    struct tm_schema schema = { 0 };
    o.dialect.multi_line = true;
    const char *words = find(&e, &o, &schema);
    if (strncmp(words, cases[i].words, strlen(cases[i].words)) != 0)
      fail_msg("case %zu: %s", i, words);
    assert_true(e.got <= cases[i].most);
    assert_int_equal(schema.len, 0);
    tm_schema_release(&schema);
  }
}

/* The lister reads the headers of further files, and does not keep them either. */
static void endless_headers_are_refused_by_the_lister(void **state)
{
  static const char *const again[] = { "a,", "a" };
  for (size_t i = 0; i < 2; i++) {
    struct endless e = { .stream.read = read_endless, .text = "", .again = again[i] };
    struct tm_rows_options o = options_of(TM_ROWS_DELIMITED);
    struct tm_row_boundaries_options boundaries = { .dialect = &o.dialect,
                                                    .read = tm_stream_read,
                                                    .data = &e.stream,
                                                    .size = INT64_MAX,
                                                    .range_bytes = 1000,
                                                    .has_header = true };
    struct tm_row_boundaries *b = tm_row_boundaries_new(&boundaries);
    struct tm_range range;
    struct tm_err err = TM_ERR_NONE;
    assert_int_equal(tm_row_boundaries_next(b, &range, &err), TM_EINPUT);
    assert_non_null(strstr(err.text, i == 0 ? "column 100001" : "a header or first row"));
    assert_true(e.got <= 2 << 20);
    tm_row_boundaries_free(b);
  }
}

static void as_many_columns_as_the_limit_are_read(void **state)
{
  struct tm_rows_options o = options_of(TM_ROWS_DELIMITED);
  struct tm_schema schema = { 0 };
  struct endless e = { .text = "", .again = "a,", .tail = "a\n1\n", .size = 2 * 99999 };
  assert_string_equal(find(&e, &o, &schema), "");
  assert_int_equal(schema.len, 100000);
  tm_schema_release(&schema);
  e.size += 2;
  assert_non_null(strstr(find(&e, &o, &schema), "column 100001"));
  tm_schema_release(&schema);
}

static void objects_with_too_many_keys_are_refused(void **state)
{
  struct tm_rows_options o = options_of(TM_ROWS_JSON_LINES);
  struct tm_schema schema = { 0 };
  struct endless e = {
    .text = "{}\n{\"a\":1,\"b\":2,\"c\":3}\n", .again = "\n", .tail = "", .size = 1
  };
  o.dialect.limits.columns = 3;
  assert_string_equal(find(&e, &o, &schema), "");
  assert_int_equal(schema.len, 3);
  tm_schema_release(&schema);
  o.dialect.limits.columns = 2;
  assert_non_null(
      strstr(find(&e, &o, &schema), "'/t', line 2 (byte 3): column 3 is beyond the limit"));
  tm_schema_release(&schema);
}

/* Reads the whole file as one range. Returns the error or warning. */
/* The warnings, joined. */
static void add_words(struct tm_rows_reader *r, const struct tm_rows_file *file, struct tm_buf *out)
{
  struct tm_buf list = TM_BUF_NONE;
  tm_rows_reader_faults(r, file, &list);
  tm_fault_list_words(out, &list);
  tm_buf_release(&list);
}

static char *read_all(struct endless *e, const struct tm_rows_options *o,
                      const struct tm_schema *schema, struct tm_buf *out)
{
  struct tm_rows_reader *r = tm_rows_reader_new(o, schema);
  struct tm_rows_file file = { .path = "/t", .stream = &e->stream, .is_first = true };
  int64_t size = e->tail != NULL ? (int64_t)(strlen(e->text) + strlen(e->tail)) + e->size : 1 << 30;
  struct tm_range range = { .end = size, .first_row = -1, .rows = -1 };
  struct tm_arena arena = { 0 };
  struct tm_data_frame frame;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf words = TM_BUF_NONE;
  e->got = 0;
  if (tm_rows_reader_read(r, &file, &range, &arena, &frame, &err) == 0) {
    table_write(out, &frame);
    add_words(r, &file, &words);
  } else {
    tm_buf_add_str(&words, err.text);
  }
  tm_rows_reader_free(r);
  tm_arena_release(&arena);
  return tm_buf_take(&words);
}

static void long_records_are_refused(void **state)
{
  struct tm_rows_options o = options_of(TM_ROWS_DELIMITED);
  struct tm_schema schema = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  struct endless e = { .stream.read = read_endless, .text = "1,2\n\"", .again = "x\n" };
  table_schema(&schema, "a:string b:string");
  o.dialect.multi_line = true;
  char *words = read_all(&e, &o, &schema, &out);
  assert_string_equal(words, "'/t', line 2 (byte 4): a record of more than 1000000 bytes; "
                             "max_record_size raises the limit, to 2GB at most");
  assert_true(e.got < 4 << 20);
  free(words);
  /* Exact to the byte: the quote, its text, ",z" */
  e = (struct endless) {
    .stream.read = read_endless, .text = "\"", .again = "x", .tail = "\",z\r\n", .size = 1000000 - 4
  };
  free(read_all(&e, &o, &schema, &out));
  assert_int_equal(out.len, e.size + 3);
  e.size++;
  words = read_all(&e, &o, &schema, &out);
  assert_non_null(strstr(words, "line 1 (byte 0): a record of more than 1000000 bytes"));
  free(words);
  tm_buf_release(&out);
  tm_schema_release(&schema);
}

static void long_lines_are_refused_or_dropped(void **state)
{
  struct tm_rows_options o = options_of(TM_ROWS_JSON_LINES);
  struct tm_schema schema = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  struct endless e = { .stream.read = read_endless, .text = "{\"a\":\"", .again = "x" };
  assert_non_null(strstr(find(&e, &o, &schema), "'/t', line 1 (byte 0): a line of more than "));
  assert_true(e.got < 3 << 20);
  e = (struct endless) {
    .text = "{\"a\":\"", .again = "x", .tail = "\"}\n{\"a\":7}\r\n", .size = 20000000
  };
  o.drop_invalid = true;
  assert_string_equal(find(&e, &o, &schema), "");
  assert_int_equal(schema.len, 1);
  char *words = read_all(&e, &o, &schema, &out);
  assert_string_equal(out.data, "7\n");
  assert_non_null(
      strstr(words, "records longer than max_record_size, left out: 1; a larger max_record_size "
                    "reads them; the first: '/t', line 1 (byte 0), a record of more than"));
  free(words);
  o.drop_invalid = false;
  words = read_all(&e, &o, &schema, &out);
  assert_non_null(strstr(words, "'/t', line 1 (byte 0): a record of more than"));
  free(words);
  tm_buf_release(&out);
  tm_schema_release(&schema);
}

/* With many columns, none takes much memory before it holds values. */
static void columns_are_cheap(void **state)
{
  struct tm_schema schema = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_frame_builder b;
  struct tm_data_frame frame;
  for (int i = 0; i < TM_MAX_COLUMNS; i++)
    tm_schema_add(&schema, "a", 1);
  tm_schema_begin_frame(&schema, &b, &arena);
  for (int i = 0; i < TM_MAX_COLUMNS; i++)
    tm_builder_add_string(&b.columns[i], "1", 1);
  tm_frame_builder_end(&b, &frame);
  size_t used = 0;
  for (size_t i = 0; i < arena.len; i++)
    used += arena.blocks[i].used;
  assert_true(used < TM_MAX_COLUMNS * (size_t)256);
  tm_arena_release(&arena);
  tm_schema_release(&schema);
}

static void types_are_of_the_first_rows_also_where_they_are_long(void **state)
{
  struct tm_rows_options o = options_of(TM_ROWS_DELIMITED);
  struct tm_schema schema = { 0 };
  struct endless e;
  struct tm_buf text = TM_BUF_NONE;
  for (int i = 0; i < 80000; i++)
    tm_buf_add_str(&text, i > 0 ? ",a" : "a");
  for (int row = 0; row < 3; row++)
    for (int i = 0; i < 80000; i++)
      tm_buf_add_str(&text, i == 0 ? "\n12.5" : row < 2 ? ",7" : ",x");
  e = (struct endless) { .text = tm_buf_str(&text), .again = "\n", .tail = "", .size = 1 };
  assert_string_equal(find(&e, &o, &schema), "");
  assert_int_equal(schema.columns[0].type, TM_COLUMN_DOUBLE);
  assert_int_equal(schema.columns[79999].type, TM_COLUMN_STRING);
  tm_buf_release(&text);
  tm_schema_release(&schema);
}

UNIT_TESTS({
    cmocka_unit_test(endless_headers_are_refused),
    cmocka_unit_test(endless_headers_are_refused_by_the_lister),
    cmocka_unit_test(as_many_columns_as_the_limit_are_read),
    cmocka_unit_test(objects_with_too_many_keys_are_refused),
    cmocka_unit_test(long_records_are_refused),
    cmocka_unit_test(long_lines_are_refused_or_dropped),
    cmocka_unit_test(columns_are_cheap),
    cmocka_unit_test(types_are_of_the_first_rows_also_where_they_are_long),
});
