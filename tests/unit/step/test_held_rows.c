/* test_held_rows.c - held rows come back complete, in the requested order, from memory and from
 * files.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "folder.h"
#include "step/held_rows.h"

static struct tm_held_rows held_rows_in(const char *dir)
{
  struct tm_held_rows s;
  char *path = tm_xprintf("%s/held", dir);

  tm_held_rows_init(&s, tm_fs_real(), path);
  free(path);
  return s;
}

static bool is_there(const char *dir, const char *name)
{
  char *path = tm_xprintf("%s/%s", dir, name);
  bool there = tm_fs_exists(tm_fs_real(), path);

  free(path);
  return there;
}

static void test_few_rows_touch_no_file(void **state)
{
  struct folder f;
  folder_init(&f);
  const char *dir = f.path;
  struct tm_held_rows s = held_rows_in(dir);
  struct tm_held_range r[3];
  struct tm_joined joined;

  assert_int_equal(tm_held_rows_add(&s, "third\n", 6, &r[2], NULL), 0);
  assert_int_equal(tm_held_rows_add(&s, "", 0, &r[1], NULL), 0);
  assert_int_equal(tm_held_rows_add(&s, "first\n", 6, &r[0], NULL), 0);
  assert_int_equal(tm_held_rows_join(&s, r, 3, &joined, NULL), 0);
  assert_null(joined.path);
  assert_int_equal(joined.rows.len, 12);
  assert_memory_equal(joined.rows.data, "first\nthird\n", 12);
  assert_false(is_there(dir, "held"));
  tm_buf_release(&joined.rows);
  tm_held_rows_release(&s);
  folder_release(&f);
}

static void fill(char *p, size_t n, char c)
{
  memset(p, c, n);
  p[n - 1] = '\n';
}

static void test_many_rows_go_through_a_file_and_memory_stays_small(void **state)
{
  enum { PARTS = 7, LEN = 100 << 10 };
  struct folder f;
  folder_init(&f);
  const char *dir = f.path;
  struct tm_held_rows s = held_rows_in(dir);
  struct tm_held_range r[PARTS];
  struct tm_joined joined;
  struct tm_buf text = TM_BUF_NONE;
  char *rows = tm_xmalloc(LEN);

  for (int i = PARTS - 1; i >= 0; i--) {
    fill(rows, LEN, (char)('a' + i));
    assert_int_equal(tm_held_rows_add(&s, rows, LEN, &r[i], NULL), 0);
    assert_true(s.rows.pending.len <= TM_HELD_ROWS_MEMORY);
  }
  assert_int_equal(tm_held_rows_join(&s, r, PARTS, &joined, NULL), 0);
  assert_int_equal(joined.len, PARTS * LEN);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), joined.path, PARTS * LEN, &text, NULL), 0);
  assert_int_equal(tm_hash64(text.data, text.len), joined.hash);
  for (int i = 0; i < PARTS; i++) {
    fill(rows, LEN, (char)('a' + i));
    assert_memory_equal(text.data + i * LEN, rows, LEN);
  }
  tm_held_rows_release(&s);
  assert_false(is_there(dir, "held"));
  assert_false(is_there(dir, "held.joined"));
  tm_buf_release(&text);
  free(rows);
  folder_release(&f);
}

static void write_file(const char *path, const char *text)
{
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
}

static void test_a_file_that_differs_from_its_record_adds_nothing(void **state)
{
  struct folder f;
  folder_init(&f);
  const char *dir = f.path;
  char *path = tm_xprintf("%s/spilled", dir);
  struct tm_held_rows s = held_rows_in(dir);
  struct tm_held_range r[2], bad;
  struct tm_joined joined;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;

  assert_int_equal(tm_held_rows_add(&s, "one\n", 4, &r[0], NULL), 0);
  write_file(path, "rubbish\n");
  assert_int_equal(tm_held_rows_add_file(&s, path, 8, 1, &bad, &err), TM_EDAMAGE);
  assert_false(is_there(dir, "spilled"));
  assert_int_equal(tm_held_rows_add_file(&s, path, 8, 1, &bad, &err), TM_EDAMAGE); /* missing */
  write_file(path, "two\n");
  assert_int_equal(tm_held_rows_add_file(&s, path, 4, tm_hash64("two\n", 4), &r[1], &err), 0);
  assert_int_equal(tm_held_rows_join(&s, r, 2, &joined, NULL), 0);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), joined.path, 100, &text, NULL), 0);
  assert_string_equal(tm_buf_str(&text), "one\ntwo\n");
  tm_buf_release(&text);
  tm_held_rows_release(&s);
  free(path);
  folder_release(&f);
}

enum { BIG = 5 << 20 };

/* Two files of one letter each, the first one copied ahead. */
static void hold_two(struct tm_held_rows *s, const char *dir, struct tm_held_range r[2])
{
  char *path = tm_xprintf("%s/spilled", dir), *rows = tm_xmalloc(BIG);

  for (int i = 0; i < 2; i++) {
    int pieces = 0;
    fill(rows, BIG, (char)('a' + i));
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, rows, BIG, 0600, NULL), 0);
    assert_false(tm_held_rows_copy_ahead(s, path, TM_HELD_ROWS_PIECE, 1)); /* few */
    if (i == 0)
      assert_true(tm_held_rows_copy_ahead(s, path, BIG, tm_hash64(rows, BIG)));
    while (tm_held_rows_copy_more(s))
      pieces++;
    assert_int_equal(pieces, i == 0);
    assert_int_equal(tm_held_rows_add_file(s, path, BIG, tm_hash64(rows, BIG), &r[i], NULL), 0);
  }
  free(rows);
  free(path);
}

static void expect_joined(const struct tm_joined *joined, const char *letters)
{
  struct tm_buf text = TM_BUF_NONE;

  assert_int_equal(joined->len, BIG * (int64_t)strlen(letters));
  assert_int_equal(tm_fs_read_file(tm_fs_real(), joined->path, 1 << 30, &text, NULL), 0);
  assert_int_equal(tm_hash64(text.data, text.len), joined->hash);
  for (size_t i = 0; letters[i]; i++) {
    assert_int_equal(text.data[i * BIG], letters[i]);
    assert_int_equal(text.data[(i + 1) * BIG - 2], letters[i]);
  }
  tm_buf_release(&text);
}

static void test_many_rows_are_joined_in_pieces(void **state)
{
  struct folder f;
  folder_init(&f);
  struct tm_held_rows s = held_rows_in(f.path);
  struct tm_held_range r[2];
  struct tm_joined joined, again;
  int pieces = 1;

  assert_false(tm_held_rows_join_ahead(&s, r, 0)); /* all are in memory */
  hold_two(&s, f.path, r);
  assert_true(tm_held_rows_join_ahead(&s, r, 2));
  assert_false(tm_held_rows_joined(&s, &joined));
  while (tm_held_rows_join_more(&s))
    pieces++;
  assert_int_equal(pieces, 3);
  assert_true(tm_held_rows_joined(&s, &joined));
  expect_joined(&joined, "ab");
  assert_int_equal(tm_held_rows_join(&s, r, 2, &again, NULL), 0);
  assert_string_equal(again.path, joined.path);
  expect_joined(&again, "ab");
  assert_false(tm_held_rows_join_more(&s));
  assert_true(tm_held_rows_join_ahead(&s, r, 2));
  assert_int_equal(tm_held_rows_join(&s, &r[1], 1, &again, NULL), 0); /* others than expected */
  expect_joined(&again, "b");
  assert_true(tm_held_rows_join_ahead(&s, r, 2)); /* and release drops it */
  tm_held_rows_release(&s);
  assert_false(is_there(f.path, "held.joined"));
  folder_release(&f);
}

static void test_a_full_disk_is_reported(void **state)
{
  struct tm_held_rows s = held_rows_in("/dev/null");
  struct tm_held_range r;
  struct tm_err err = TM_ERR_NONE;
  char *rows = tm_xcalloc(1, TM_HELD_ROWS_MEMORY + 1);

  assert_true(tm_held_rows_add(&s, rows, TM_HELD_ROWS_MEMORY + 1, &r, &err) < 0);
  assert_non_null(strstr(err.text, "held"));
  tm_held_rows_release(&s);
  free(rows);
}

UNIT_TESTS({
    cmocka_unit_test(test_few_rows_touch_no_file),
    cmocka_unit_test(test_many_rows_go_through_a_file_and_memory_stays_small),
    cmocka_unit_test(test_a_file_that_differs_from_its_record_adds_nothing),
    cmocka_unit_test(test_many_rows_are_joined_in_pieces),
    cmocka_unit_test(test_a_full_disk_is_reported),
});
