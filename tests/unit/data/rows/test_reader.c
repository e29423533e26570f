/* test_reader.c - reads ranges of files through streams: plain files, packed files, changed files;
 * and the messages about them. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "data/frame/fault_list.h"
#include "data/rows/infer.h"
#include "data/rows/open.h"
#include "data/rows/reader.h"
#include "data/rows/sample.h"
#include "folder.h"
#include "table.h"

struct rig {
  struct tm_rows_options options;
  struct tm_schema schema;
  struct tm_arena arena;
  struct tm_rows_reader *reader;
  struct tm_rows_file file;
  struct tm_buf text;
  struct tm_err err;
};

/* Infers the schema from the file, as a job does. */
static void rig_init(struct rig *g, const struct tm_rows_options *o, const char *text, size_t n)
{
  *g = (struct rig) { .options = *o, .err = TM_ERR_NONE };
  g->file = (struct tm_rows_file) { .path = "/d/t.csv",
                                    .stream = tm_stream_of_bytes(text, n),
                                    .is_first = true };
  assert_int_equal(tm_rows_find_schema(&g->options, &g->file, true, NULL, 0, &g->schema, &g->err),
                   0);
  g->reader = tm_rows_reader_new(&g->options, &g->schema);
}

static void rig_release(struct rig *g)
{
  tm_rows_reader_free(g->reader);
  tm_stream_close(g->file.stream);
  tm_schema_release(&g->schema);
  tm_arena_release(&g->arena);
  tm_buf_release(&g->text);
}

static int read_range(struct rig *g, int64_t begin, int64_t end)
{
  struct tm_range range = { begin, end, -1, -1 };
  struct tm_data_frame frame;
  tm_arena_clear(&g->arena);
  tm_buf_clear(&g->text);
  int rc = tm_rows_reader_read(g->reader, &g->file, &range, &g->arena, &frame, &g->err);
  if (rc == 0)
    table_write(&g->text, &frame);
  return rc;
}

/* The warnings, joined. */
static void add_words(struct tm_rows_reader *r, const struct tm_rows_file *file, struct tm_buf *out)
{
  struct tm_buf list = TM_BUF_NONE;
  tm_rows_reader_faults(r, file, &list);
  tm_fault_list_words(out, &list);
  tm_buf_release(&list);
}

static struct tm_rows_options delimited(void)
{
  struct tm_rows_options o = { .format = TM_ROWS_DELIMITED };
  tm_dialect_init(&o.dialect);
  return o;
}

static void ranges_are_read(void **state)
{
  struct rig g;
  struct tm_rows_options o = delimited();
  static const char text[] = "a,b\n1,x\n2,y\n3,z";
  rig_init(&g, &o, text, strlen(text));
  assert_int_equal(read_range(&g, 4, 12), 0);
  assert_string_equal(g.text.data, "1|x\n2|y\n");
  assert_int_equal(read_range(&g, 12, 15), 0);
  assert_string_equal(g.text.data, "3|z\n");
  assert_int_equal(read_range(&g, 4, 4), 0);
  assert_int_equal(g.text.len, 0);
  assert_int_equal(read_range(&g, 12, 16), TM_EDAMAGE);
  assert_string_equal(g.err.text, "'/d/t.csv' ends at byte 15; it was longer when it was listed");
  rig_release(&g);
}

static void messages_name_file_line_byte_and_column(void **state)
{
  struct rig g;
  struct tm_rows_options o = delimited();
  static const char text[] = "a,b\n1,x\n2,y\n3z,z\n4q,\n";
  struct tm_buf words = TM_BUF_NONE;
  rig_init(&g, &o, text, 12);
  tm_stream_close(g.file.stream);
  g.file.stream = tm_stream_of_bytes(text, strlen(text));
  assert_int_equal(read_range(&g, 8, 21), 0);
  assert_string_equal(g.text.data, "2|y\n-|z\n-|-\n");
  add_words(g.reader, &g.file, &words);
  assert_string_equal(
      words.data, "values that do not fit the type of their column, and are null: 2; "
                  "set_column_types gives the column another type, on_misfit = \"error\" refuses "
                  "such values; the first: "
                  "'/d/t.csv', line 4 (byte 12), column 'a': '3z' is not a valid long");
  tm_buf_release(&words);
  tm_rows_reader_free(g.reader);
  g.options.dialect.misfit = TM_MISFIT_ERROR;
  g.reader = tm_rows_reader_new(&g.options, &g.schema);
  assert_int_equal(read_range(&g, 8, 21), TM_EDAMAGE);
  assert_string_equal(g.err.text,
                      "'/d/t.csv', line 4 (byte 12): column 'a': '3z' is not a valid long");
  rig_release(&g);
}

static void nothing_wrong_says_nothing(void **state)
{
  struct rig g;
  struct tm_rows_options o = delimited();
  struct tm_buf words = TM_BUF_NONE;
  rig_init(&g, &o, "a\n1\n", 4);
  assert_int_equal(read_range(&g, 2, 4), 0);
  add_words(g.reader, &g.file, &words);
  assert_int_equal(words.len, 0);
  rig_release(&g);
}

static void utf16_of_both_orders(void **state)
{
  struct rig g;
  struct tm_rows_options o = delimited();
  static const char little[] = "\xff\xfe"
                               "a\0,\0b\0\n\0"
                               "1\0,\0\xac\x20\n\0"
                               "q\0,\0\x3d\xd8\x0b\xdc\n\0";
  char big[sizeof little - 1];
  for (size_t i = 0; i < sizeof big; i++)
    big[i] = little[i ^ 1];
  o.dialect.encoding = TM_ENCODING_UTF16;
  for (int k = 0; k < 2; k++) {
    rig_init(&g, &o, k == 0 ? little : big, sizeof big);
    tm_infer_set(&g.schema, (struct tm_column_setting[]) { { "a", TM_COLUMN_LONG, NULL, 0 } }, 1,
                 &g.err);
    tm_rows_reader_free(g.reader);
    g.options.dialect.misfit = TM_MISFIT_ERROR;
    g.reader = tm_rows_reader_new(&g.options, &g.schema);
    assert_int_equal(read_range(&g, 10, 18), 0);
    assert_string_equal(g.text.data, "1|\xe2\x82\xac\n");
    assert_int_equal(read_range(&g, 10, 28), TM_EDAMAGE);
    assert_string_equal(g.err.text,
                        "'/d/t.csv', line 3 (byte 18): column 'a': 'q' is not a valid long");
    rig_release(&g);
  }
}

/* Each file has its own header, and the range may start anywhere in it. */
static void headers_of_their_own(void **state)
{
  struct rig g;
  struct tm_rows_options o = delimited();
  static const char second[] = "c,b,a\n3,2,1\n6,5,4\n";
  o.dialect.header = TM_HEADER_DIFFERENT;
  rig_init(&g, &o, "a,b\n1,2\n", 8);
  tm_stream_close(g.file.stream);
  g.file = (struct tm_rows_file) { .path = "/d/u.csv",
                                   .stream = tm_stream_of_bytes(second, strlen(second)) };
  assert_int_equal(read_range(&g, 12, 18), 0);
  assert_string_equal(g.text.data, "4|5\n");
  rig_release(&g);
}

static void rows_longer_than_a_piece(void **state)
{
  struct rig g;
  struct tm_rows_options o = delimited();
  size_t n = 5 << 20;
  char *text = tm_xmalloc(n + 16);
  memcpy(text, "a,b\n1,", 6);
  memset(text + 6, 'x', n);
  memcpy(text + 6 + n, "\n2,y\n", 5);
  rig_init(&g, &o, "a,b\n1,x\n", 8);
  tm_stream_close(g.file.stream);
  g.file.stream = tm_stream_of_bytes(text, n + 11);
  assert_int_equal(read_range(&g, 4, (int64_t)n + 11), 0);
  assert_int_equal(g.text.len, 2 + n + 1 + 4);
  assert_string_equal(g.text.data + 2 + n + 1, "2|y\n");
  free(text);
  rig_release(&g);
}

static void json_lines_of_an_encoding(void **state)
{
  struct rig g;
  struct tm_rows_options o = { .format = TM_ROWS_JSON_LINES };
  static const char text[] = "{\"a\":\"\xe9\"}\n{\"a\":\"b\"}\nx\n";
  o.dialect.encoding = TM_ENCODING_LATIN1;
  rig_init(&g, &o, text, strlen(text));
  assert_int_equal(read_range(&g, 0, 20), 0);
  assert_string_equal(g.text.data, "\xc3\xa9\nb\n");
  assert_int_equal(read_range(&g, 0, 22), TM_EDAMAGE);
  assert_string_equal(g.err.text, "'/d/t.csv', line 3 (byte 20): 'x' is not a JSON object; "
                                  "invalid_lines = \"drop\" leaves such lines out");
  rig_release(&g);
}

static void a_file_without_rows_gives_no_columns(void **state)
{
  struct rig g;
  struct tm_rows_options o = delimited();
  rig_init(&g, &o, "\n\n", 2);
  assert_int_equal(g.schema.len, 0);
  rig_release(&g);
}

static void write_packed(const char *path, const char *text, int (*add_filter)(struct archive *))
{
  struct archive *a = archive_write_new();
  struct archive_entry *e = archive_entry_new();
  archive_entry_set_filetype(e, AE_IFREG);
  archive_entry_set_pathname(e, "data");
  assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
  assert_int_equal(add_filter(a), ARCHIVE_OK);
  assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
  assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
  assert_int_equal(archive_write_data(a, text, strlen(text)), strlen(text));
  archive_entry_free(e);
  archive_write_close(a);
  archive_write_free(a);
}

static void packed_files(void **state)
{
  static int (*const filters[])(
      struct archive *) = { archive_write_add_filter_zstd, archive_write_add_filter_xz,
                            archive_write_add_filter_bzip2, archive_write_add_filter_lz4 };
  struct folder folder;
  folder_init(&folder);
  for (size_t i = 0; i < TM_COUNT_OF(filters); i++) {
    const char *path = folder_file(&folder, "t.csv.packed");
    struct tm_rows_pack pack = { .index_dir = NULL };
    struct tm_err err = TM_ERR_NONE;
    char got[32];
    write_packed(path, "a,b\n1,x\n2,y\n", filters[i]);
    struct tm_stream *s = tm_rows_open(tm_fs_real(), path, &pack, true, &err);
    assert_int_equal(s->size, -1);
    assert_int_equal(s->read(s, got, 4, 8, &err), 4);
    assert_memory_equal(got, "2,y\n", 4);
    assert_int_equal(s->read(s, got, 20, 4, &err), 8);
    assert_memory_equal(got, "1,x\n2,y\n", 8);
    assert_int_equal(s->read(s, got, 20, 30, &err), 0);
    tm_stream_close(s);
    assert_int_equal(truncate(path, folder_size(&folder, "t.csv.packed") / 2), 0);
    s = tm_rows_open(tm_fs_real(), folder_file(&folder, "t.csv.packed"), &pack, true, &err);
    assert_int_equal(s->read(s, got, 20, 0, &err), TM_EDAMAGE);
    assert_non_null(strstr(err.text, "t.csv.packed' cannot be unpacked: "));
    tm_stream_close(s);
  }
  folder_release(&folder);
}

static void text_is_not_taken_for_a_packed_file(void **state)
{
  static const char *const text[] = {
    "", "a", "BZh", "BZh9,name,x", "BZh91AY&S,b", "7zXZ,a,b,c,d", "PK,a", "(a/b"
  };
  for (size_t i = 0; i < TM_COUNT_OF(text); i++)
    assert_int_equal(tm_stream_packing(text[i], strlen(text[i])), TM_PACKED_NOT);
  assert_int_equal(tm_stream_packing("BZh91AY&SY", 10), TM_PACKED_OTHER);
  assert_int_equal(tm_stream_packing("\x1f\x8b\x08", 3), TM_PACKED_GZIP);
}

UNIT_TESTS({
    cmocka_unit_test(ranges_are_read),
    cmocka_unit_test(messages_name_file_line_byte_and_column),
    cmocka_unit_test(nothing_wrong_says_nothing),
    cmocka_unit_test(utf16_of_both_orders),
    cmocka_unit_test(headers_of_their_own),
    cmocka_unit_test(rows_longer_than_a_piece),
    cmocka_unit_test(json_lines_of_an_encoding),
    cmocka_unit_test(a_file_without_rows_gives_no_columns),
    cmocka_unit_test(packed_files),
    cmocka_unit_test(text_is_not_taken_for_a_packed_file),
});
