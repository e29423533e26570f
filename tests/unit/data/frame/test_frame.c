/* test_frame.c - the frame has what the builder got: values, nulls, strings of any bytes; rows that
 * were taken back leave nothing behind. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/frame/frame.h"

static const char *const names[] = { "flag", "id", "price", "name", "at" };
static const enum tm_column_type types[] = { TM_COLUMN_BOOL, TM_COLUMN_LONG, TM_COLUMN_DOUBLE,
                                             TM_COLUMN_STRING, TM_COLUMN_DATETIME };

static size_t word_of(char *to, int64_t i) /* 0 to 12 bytes, some of them NUL */
{
  size_t n = (size_t)(i * 7 % 13);
  memset(to, 'a' + (int)(i % 26), n);
  if (n > 3)
    to[2] = '\0';
  return n;
}

static void add_row(struct tm_frame_builder *b, int64_t i)
{
  char word[16];
  for (size_t c = 0; c < b->n; c++) {
    struct tm_column_builder *to = &b->columns[c];
    if ((i + (int64_t)c) % 11 == 0 && i > 500) {
      tm_builder_add_null(to);
      continue;
    }
    tm_builder_reserve(to, 1);
    switch (to->type) {
    case TM_COLUMN_BOOL: to->b8[to->len++] = i & 1; break;
    case TM_COLUMN_LONG: to->i64[to->len++] = i * 3; break;
    case TM_COLUMN_DOUBLE: to->f64[to->len++] = (double)i / 4; break;
    case TM_COLUMN_STRING: tm_builder_add_string(to, word, word_of(word, i)); break;
    case TM_COLUMN_DATETIME: to->i64[to->len++] = -i; break;
    }
  }
}

static void check_row(const struct tm_data_frame *f, int64_t i)
{
  char word[16];
  size_t n, want = word_of(word, i);
  for (size_t c = 0; c < f->n; c++)
    assert_int_equal(tm_column_is_null(&f->columns[c], i), (i + (int64_t)c) % 11 == 0 && i > 500);
  if (!tm_column_is_null(&f->columns[0], i))
    assert_int_equal(f->columns[0].b8[i], i & 1);
  if (!tm_column_is_null(&f->columns[1], i))
    assert_true(f->columns[1].i64[i] == i * 3);
  if (!tm_column_is_null(&f->columns[2], i))
    assert_true(f->columns[2].f64[i] == (double)i / 4);
  const char *s = tm_column_string(&f->columns[3], i, &n);
  assert_int_equal(n, tm_column_is_null(&f->columns[3], i) ? 0 : want);
  if (n > 0)
    assert_memory_equal(s, word, n);
  if (!tm_column_is_null(&f->columns[4], i))
    assert_true(f->columns[4].i64[i] == -i);
}

static void a_frame_holds_the_added_values(void **state)
{
  struct tm_arena arena = { 0 };
  struct tm_frame_builder b;
  struct tm_data_frame f;
  for (int round = 0; round < 3;
       round++) { /* from the second frame on, the arena's memory is not clean */
    tm_frame_builder_init(&b, &arena, names, types, 5);
    for (int64_t i = 0; i < 20000; i++)
      add_row(&b, i);
    tm_frame_builder_end(&b, &f);
    assert_true(f.n == 5 && f.len == 20000);
    for (size_t c = 0; c < 5; c++) {
      assert_string_equal(f.names[c], names[c]);
      assert_true(f.columns[c].type == (int32_t)types[c] && f.columns[c].len == 20000);
    }
    for (int64_t i = 0; i < f.len; i++)
      check_row(&f, i);
    tm_arena_clear(&arena);
  }
  tm_arena_release(&arena);
}

static void a_frame_may_have_no_rows_and_no_columns(void **state)
{
  struct tm_arena arena = { 0 };
  struct tm_frame_builder b;
  struct tm_data_frame f;
  tm_frame_builder_init(&b, &arena, names, types, 5);
  tm_frame_builder_end(&b, &f);
  assert_true(f.n == 5 && f.len == 0 && f.columns[3].off32[0] == 0);
  tm_frame_builder_init(&b, &arena, NULL, NULL, 0);
  tm_frame_builder_end(&b, &f);
  assert_true(f.n == 0 && f.len == 0);
  tm_arena_release(&arena);
}

/* Beyond 2 GB, offsets take 64 bits. The test reserves the bytes but never touches them, so they
 * need no memory. */
static void offsets_widen_before_they_overflow(void **state)
{
  struct tm_arena arena = { 0 };
  struct tm_frame_builder b;
  struct tm_data_frame f;
  size_t n;
  tm_frame_builder_init(&b, &arena, &names[3], &types[3], 1);
  struct tm_column_builder *c = &b.columns[0];
  tm_builder_add_string(c, "one", 3);
  tm_builder_add_string(c, "three", 5);
  assert_false(c->is_wide);
  tm_builder_reserve_bytes(c, (int64_t)INT32_MAX);
  assert_true(c->is_wide);
  tm_builder_add_null(c);
  for (int i = 0; i < 1000; i++)
    tm_builder_add_string(c, "x", 1);
  tm_frame_builder_end(&b, &f);
  assert_memory_equal(tm_column_string(&f.columns[0], 1, &n), "three", 5);
  assert_int_equal(n, 5);
  assert_true(tm_column_is_null(&f.columns[0], 2) && f.columns[0].is_wide);
  assert_memory_equal(tm_column_string(&f.columns[0], 1002, &n), "x", 1);
  tm_arena_release(&arena);
}

static void types_have_names(void **state)
{
  for (int type = TM_COLUMN_BOOL; type <= TM_COLUMN_DATETIME; type++)
    assert_int_equal(tm_column_type_of(tm_column_type_name(type)), type);
  assert_int_equal(tm_column_type_of("int"), 0);
  assert_string_equal(tm_column_type_name(0), "?");
  assert_string_equal(tm_column_type_name(6), "?");
}

UNIT_TESTS({
    cmocka_unit_test(a_frame_holds_the_added_values),

    cmocka_unit_test(a_frame_may_have_no_rows_and_no_columns),
    cmocka_unit_test(offsets_widen_before_they_overflow),
    cmocka_unit_test(types_have_names),
});
