/* test_splits.c - cuts a table's files into ranges and reads each range as rows, as a lister and
 * its workers do. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/rows/splits.h"
#include "folder.h"
#include "table.h"

struct rig {
  struct folder folder;
  struct tm_rows_options rows;
  struct tm_rows_pack pack;
  struct tm_schema schema;
  struct tm_buf out; /* "0:4-8" for each range, and its rows */
  struct tm_err err;
};

static int setup(void **state)
{
  struct rig *g = TM_NEW(struct rig);
  folder_init(&g->folder);
  tm_dialect_init(&g->rows.dialect);
  table_schema(&g->schema, "a:long b:string");
  *state = g;
  return 0;
}

static int teardown(void **state)
{
  struct rig *g = *state;
  folder_release(&g->folder);
  tm_schema_release(&g->schema);
  tm_buf_release(&g->out);
  free(g);
  return 0;
}

static void write_range(struct rig *g, struct tm_rows_reader *reader,
                        const struct tm_range_item *item)
{
  struct tm_arena arena = { 0 };
  struct tm_data_frame frame;
  struct tm_rows_file file = { .path = item->path, .is_first = item->file == 0 };
  file.stream = tm_rows_open(tm_fs_real(), item->path, &g->pack, false, &g->err);
  assert_non_null(file.stream);
  assert_int_equal(tm_rows_reader_read(reader, &file, &item->range, &arena, &frame, &g->err), 0);
  tm_buf_printf(&g->out, "%u:%lld-%lld#%lld ", item->file, (long long)item->range.begin,
                (long long)item->range.end, (long long)item->range.first_row);
  table_write(&g->out, &frame);
  tm_stream_close(file.stream);
  tm_arena_release(&arena);
}

/* The files "0", "1", ... of the folder. */
static int list(struct rig *g, uint32_t files, int64_t bytes, bool with_rows)
{
  struct tm_splits_options o = { .fs = tm_fs_real(),
                                 .rows = &g->rows,
                                 .pack = &g->pack,
                                 .schema = &g->schema,
                                 .range_bytes = bytes,
                                 .with_rows = with_rows };
  struct tm_splits *ranges = tm_splits_new(&o);
  struct tm_rows_reader *reader = tm_rows_reader_new(&g->rows, &g->schema);
  struct tm_range_item item;
  int rc = 0;
  tm_buf_clear(&g->out);
  for (uint32_t i = 0; i < files && rc == 0; i++) {
    char name[16];
    snprintf(name, sizeof name, "%u", i);
    rc = tm_splits_begin(ranges, folder_file(&g->folder, name), i, &g->err);
    while (rc == 0 && (rc = tm_splits_next(ranges, &item, &g->err)) > 0) {
      write_range(g, reader, &item);
      rc = 0;
    }
  }
  tm_rows_reader_free(reader);
  tm_splits_free(ranges);
  return rc;
}

static void make_file(struct rig *g, const char *name, const char *text)
{
  const char *path = folder_file(&g->folder, name);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, &g->err), 0);
}

static void a_range_never_crosses_a_file(void **state)
{
  struct rig *g = *state;
  make_file(g, "0", "a,b\n1,x\n2,y\n3,z\n");
  make_file(g, "1", "a,b\n");
  make_file(g, "2", "");
  make_file(g, "3", "a,b\r\n4,u");
  assert_int_equal(list(g, 4, 8, false), 0);
  assert_string_equal(g->out.data, "0:4-12#-1 1|x\n2|y\n0:12-16#-1 3|z\n3:5-8#-1 4|u\n");
  assert_int_equal(list(g, 4, 8, true), 0);
  assert_string_equal(g->out.data, "0:4-12#0 1|x\n2|y\n0:12-16#2 3|z\n3:5-8#0 4|u\n");
  assert_int_equal(list(g, 4, 1 << 20, false), 0);
  assert_string_equal(g->out.data, "0:4-16#-1 1|x\n2|y\n3|z\n3:5-8#-1 4|u\n");
}

static void headers_follow_their_mode(void **state)
{
  struct rig *g = *state;
  make_file(g, "0", "a,b\n1,x\n");
  make_file(g, "1", "2,y\n");
  g->rows.dialect.header = TM_HEADER_FIRST_FILE;
  assert_int_equal(list(g, 2, 8, false), 0);
  assert_string_equal(g->out.data, "0:4-8#-1 1|x\n1:0-4#-1 2|y\n");
  g->rows.dialect.header = TM_HEADER_NONE;
  assert_int_equal(list(g, 2, 8, false), 0);
  assert_string_equal(g->out.data, "0:0-8#-1 -|b\n1|x\n1:0-4#-1 2|y\n");
  make_file(g, "1", "c,b,a\n9,y,2\n");
  g->rows.dialect.header = TM_HEADER_DIFFERENT;
  assert_int_equal(list(g, 2, 8, false), 0);
  assert_string_equal(g->out.data, "0:4-8#-1 1|x\n1:6-12#-1 2|y\n");
  g->rows.dialect.header = TM_HEADER_ALL_SAME;
  assert_int_equal(list(g, 2, 8, false), TM_EUSAGE);
  assert_non_null(
      strstr(g->err.text,
             "/1': the header has 3 columns, that of the first file 2; for files with headers "
             "of their own set header = \"all_files_different\""));
}

static void lines_of_json_have_no_header(void **state)
{
  struct rig *g = *state;
  make_file(g, "0", "{\"a\":1,\"b\":\"x\\\"\"}\n{\"a\":2}\n");
  g->rows.format = TM_ROWS_JSON_LINES;
  g->rows.dialect.multi_line = true;
  assert_int_equal(list(g, 1, 8, false), 0);
  assert_string_equal(g->out.data, "0:0-18#-1 1|x\"\n0:18-26#-1 2|-\n");
}

static void an_unreadable_one_is_named(void **state)
{
  struct rig *g = *state;
  assert_true(list(g, 1, 8, false) < 0);
  assert_non_null(strstr(g->err.text, "/0': no such file"));
  make_file(g, "0", "\x1f\x8b\x08 this is not gzip");
  assert_int_equal(list(g, 1, 8, false), TM_EDAMAGE);
  assert_non_null(strstr(g->err.text, "/0': "));
}

#define IN_RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS({
    IN_RIG(a_range_never_crosses_a_file),
    IN_RIG(headers_follow_their_mode),
    IN_RIG(lines_of_json_have_no_header),
    IN_RIG(an_unreadable_one_is_named),
});
