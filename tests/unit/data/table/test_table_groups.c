/* test_table_groups.c - rows of frames in groups: all rows come out, grouped; wrong files and
 * damage are noticed. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/frame/frame_text.h"
#include "data/key.h"
#include "data/table/table_groups.h"
#include "tree_fixture.h"

static char *const city[] = { (char *)"city" };

/* id, price (null for each fifth), day, good, city: "c0" .. "c2" or null. */
static void make_frame(struct tm_arena *arena, struct tm_data_frame *out, int from, int to)
{
  static const char *const names[] = { "id", "price", "day", "good", "city" };
  static const enum tm_column_type types[] = { TM_COLUMN_LONG, TM_COLUMN_DOUBLE, TM_COLUMN_DATETIME,
                                               TM_COLUMN_BOOL, TM_COLUMN_STRING };
  struct tm_frame_builder b;
  tm_frame_builder_init(&b, arena, names, types, 5);
  for (int i = from; i < to; i++) {
    char text[16];
    int len = snprintf(text, sizeof(text), "c%d", i % 4);
    for (int c = 0; c < 4; c++)
      tm_builder_reserve(&b.columns[c], 1);
    b.columns[0].i64[b.columns[0].len++] = i;
    if (i % 5 == 0)
      tm_builder_add_null(&b.columns[1]);
    else
      b.columns[1].f64[b.columns[1].len++] = i / 2.0;
    b.columns[2].i64[b.columns[2].len++] = i * INT64_C(86400000000);
    b.columns[3].b8[b.columns[3].len++] = i % 2;
    if (i % 4 == 3)
      tm_builder_add_null(&b.columns[4]);
    else
      tm_builder_add_string(&b.columns[4], text, (size_t)len);
  }
  tm_frame_builder_end(&b, out);
}

static struct tm_table_groups *begin(const char *dir, int64_t size)
{
  char *path = tm_path_join(dir, "groups");
  struct tm_table_groups *g = tm_table_groups_new(tm_fs_real(), path, dir, city, 1);
  struct tm_item file = { .path = "/a.csv", .path_len = 6, .size = size, .mtime_ns = 1 };
  tm_table_groups_note(g, &file);
  free(path);
  return g;
}

static void write_all(const char *dir)
{
  struct tm_table_groups *g = begin(dir, 100);
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_table_groups_open(g, &err), 0);
  for (int from = 0; from < 40; from += 10) {
    struct tm_arena arena = { 0 };
    struct tm_data_frame f;
    make_frame(&arena, &f, from, from + 10);
    if (tm_table_groups_add(g, &f, &err) < 0)
      fail_msg("%s", err.text);
    tm_arena_release(&arena);
  }
  if (tm_table_groups_finish(g, &err) < 0)
    fail_msg("%s", err.text);
  tm_table_groups_close(g);
}

/* "city=c0 10: 0 4 8 ...\n" for each group in the file; or the error message. */
static char *read_all(const char *dir, struct tm_err *err)
{
  struct tm_table_groups *g = begin(dir, 100);
  struct tm_buf out = TM_BUF_NONE, bytes = TM_BUF_NONE;
  struct tm_arena arena = { 0 };
  uint32_t items;
  int rc = tm_table_groups_open(g, err);
  while (rc > 0 && (rc = tm_table_groups_next(g, &items, &bytes, err)) > 0) {
    struct tm_reader r;
    struct tm_item item;
    struct tm_data_frame f;
    assert_true(tm_keys_find(bytes.data, bytes.len, &r));
    tm_keys_describe(&out, r);
    tm_reader_init(&r, bytes.data, bytes.len);
    assert_true(tm_item_next(&r, &item));
    assert_true(item.is_rows && item.is_group && item.rows == (int64_t)items);
    tm_arena_clear(&arena);
    if ((rc = tm_table_groups_load(tm_fs_real(), &item, &arena, &f, err)) < 0)
      break;
    assert_int_equal(f.len, items);
    tm_buf_printf(&out, " %u:", items);
    for (int64_t i = 0; i < f.len; i++) {
      tm_buf_add_char(&out, ' ');
      tm_frame_add_value(&out, &f.columns[0], i);
      int64_t id = f.columns[0].i64[i];
      assert_int_equal(tm_column_is_null(&f.columns[1], i), id % 5 == 0);
      assert_true(id % 5 == 0 || f.columns[1].f64[i] == (double)id / 2);
      assert_int_equal(f.columns[2].i64[i], id * INT64_C(86400000000));
      assert_int_equal(f.columns[3].b8[i], id % 2);
    }
    tm_buf_add_char(&out, '\n');
    tm_buf_clear(&bytes);
    rc = 1;
  }
  tm_arena_release(&arena);
  tm_buf_release(&bytes);
  tm_table_groups_close(g);
  if (rc < 0)
    tm_buf_release(&out);
  return rc < 0 ? NULL : tm_buf_take(&out);
}

static void rows_come_back_in_groups(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  write_all(*state);
  char *text = read_all(*state, &err);
  assert_non_null(text);
  assert_string_equal(text, "city=null 10: 3 7 11 15 19 23 27 31 35 39\n"
                            "city=c0 10: 0 4 8 12 16 20 24 28 32 36\n"
                            "city=c1 10: 1 5 9 13 17 21 25 29 33 37\n"
                            "city=c2 10: 2 6 10 14 18 22 26 30 34 38\n");
  free(text);
}

static void other_files_are_noticed(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  write_all(*state);
  struct tm_table_groups *g = begin(*state, 101);
  assert_int_equal(tm_table_groups_open(g, &err), TM_ECHANGED);
  assert_non_null(strstr(err.text, "the input has changed"));
  tm_table_groups_close(g);
}

static void a_key_that_is_not_a_column_is_refused(void **state)
{
  static char *const keys[] = { (char *)"ctiy" };
  struct tm_arena arena = { 0 };
  struct tm_data_frame f;
  struct tm_err err = TM_ERR_NONE;
  struct tm_table_groups *g = tm_table_groups_new(tm_fs_real(), "/no/where", "/no", keys, 1);
  make_frame(&arena, &f, 0, 1);
  assert_int_equal(tm_table_groups_add(g, &f, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "did you mean 'city'?"));
  tm_table_groups_close(g);
  tm_arena_release(&arena);
}

static void a_key_that_is_too_long_is_refused(void **state)
{
  static const char *const names[] = { "city" };
  static const enum tm_column_type types[] = { TM_COLUMN_STRING };
  static char text[70000];
  struct tm_arena arena = { 0 };
  struct tm_frame_builder b;
  struct tm_data_frame f;
  struct tm_err err = TM_ERR_NONE;
  struct tm_table_groups *g = tm_table_groups_new(tm_fs_real(), "/no/where", "/no", city, 1);
  memset(text, 'x', sizeof(text));
  tm_frame_builder_init(&b, &arena, names, types, 1);
  tm_builder_add_string(&b.columns[0], text, sizeof(text));
  tm_frame_builder_end(&b, &f);
  assert_int_equal(tm_table_groups_add(g, &f, &err), TM_EINPUT);
  assert_non_null(strstr(err.text, "'city' is longer than 64 KB"));
  tm_table_groups_close(g);
  tm_arena_release(&arena);
}

/* Changes every byte of the file in turn: each change is noticed. */
static void damage_is_noticed(void **state)
{
  struct tm_buf whole = TM_BUF_NONE;
  char *path = tm_path_join(*state, "groups");
  struct tm_err err = TM_ERR_NONE;
  write_all(*state);
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1 << 20, &whole, &err) >= 0);
  int64_t place;
  assert_int_equal(tm_table_groups_check(tm_fs_real(), path, &place, &err), 0);
  for (size_t i = 0; i < whole.len; i++) {
    struct tm_table_groups *g = begin(*state, 100);
    struct tm_buf bytes = TM_BUF_NONE;
    struct tm_arena arena = { 0 };
    uint32_t items;
    char was = whole.data[i];
    whole.data[i] = (char)(was ^ 0x55);
    tree_file(*state, "groups", whole.data, whole.len);
    whole.data[i] = was;
    int64_t at;
    assert_true(tm_table_groups_check(tm_fs_real(), path, &at, &err) < 0);
    int rc = tm_table_groups_open(g, &err);
    while (rc > 0 && (rc = tm_table_groups_next(g, &items, &bytes, &err)) > 0) {
      struct tm_reader r;
      struct tm_item item;
      struct tm_data_frame f;
      tm_reader_init(&r, bytes.data, bytes.len);
      tm_arena_clear(&arena);
      if (!tm_item_next(&r, &item) ||
          (rc = tm_table_groups_load(tm_fs_real(), &item, &arena, &f, &err)) < 0)
        break;
      tm_buf_clear(&bytes);
      rc = 1;
    }
    if (rc >= 0)
      fail_msg("a change of byte %zu is not noticed", i);
    assert_true(err.text[0] != '\0');
    tm_buf_release(&bytes);
    tm_arena_release(&arena);
    tm_table_groups_close(g);
  }
  tm_buf_release(&whole);
  free(path);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(rows_come_back_in_groups, tree_setup, tree_teardown),
    cmocka_unit_test_setup_teardown(other_files_are_noticed, tree_setup, tree_teardown),
    cmocka_unit_test(a_key_that_is_not_a_column_is_refused),
    cmocka_unit_test(a_key_that_is_too_long_is_refused),
    cmocka_unit_test_setup_teardown(damage_is_noticed, tree_setup, tree_teardown),
});
