/* test_sorter.c - sorting with little memory gives the same order as with much, and leaves nothing
 * behind. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/stream/sorter.h"
#include "sys/fs.h"
#include "tree_fixture.h"

enum { RECORDS = 3000 };

static int count_name(void *data, const char *name, int type)
{
  ++*(int *)data;
  return 0;
}

static int count_files(const char *dir)
{
  int n = 0;
  assert_int_equal(tm_dir_read(dir, count_name, &n), 0);
  return n;
}

/* Keys of 0 to 5 bytes from a small alphabet, so that many are equal; the bytes identify each
 * record. */
static void add_all(struct tm_sorter *s)
{
  uint32_t random = 17;
  for (uint32_t i = 0; i < RECORDS; i++) {
    char key[5], bytes[64] = { 0 };
    random = random * 1103515245u + 12345u;
    size_t n = random >> 16 & 7;
    n = n > 5 ? 0 : n;
    for (size_t j = 0; j < n; j++)
      key[j] = (char)("\0ab\xff"[random >> (18 + 2 * j) & 3]);
    memcpy(bytes, &i, sizeof(i));
    assert_int_equal(tm_sorter_add(s, key, n, bytes, sizeof(i) + i % 50, NULL), 0);
  }
}

static void expect_sorted(struct tm_sorter *s)
{
  struct tm_sorted r;
  struct tm_err err = TM_ERR_NONE;
  char key[5] = { 0 };
  size_t key_len = 0, n = 0;
  uint32_t last = 0;
  bool seen[RECORDS] = { false };
  for (; tm_sorter_next(s, &r, &err) > 0; n++) {
    uint32_t i;
    memcpy(&i, r.at, sizeof(i));
    assert_true(i < RECORDS && !seen[i]);
    seen[i] = true;
    assert_int_equal(r.len, sizeof(i) + i % 50);
    size_t least = r.key_len < key_len ? r.key_len : key_len;
    int order = memcmp(key, r.key, least);
    order = order ? order : (int)key_len - (int)r.key_len;
    assert_true(n == 0 || order < 0 ||
                (order == 0 && last < i)); /* equal ones in their old order */
    memcpy(key, r.key, r.key_len);
    key_len = r.key_len;
    last = i;
  }
  assert_int_equal(err.code, 0);
  assert_int_equal(n, RECORDS);
  assert_int_equal(tm_sorter_next(s, &r, &err), 0);
}

static void little_memory_sorts_as_much_does(void **state)
{
  static const size_t memories[] = { 1, 200, 5000, 1 << 20 };
  for (size_t i = 0; i < 4; i++) {
    struct tm_sorter *s = tm_sorter_new(tm_fs_real(), *state, memories[i]);
    add_all(s);
    assert_int_equal(count_files(*state), 0); /* the file has no name */
    expect_sorted(s);
    tm_sorter_free(s);
  }
}

static void nothing_comes_of_nothing(void **state)
{
  struct tm_sorter *s = tm_sorter_new(tm_fs_real(), *state, 100);
  struct tm_sorted r;
  assert_int_equal(tm_sorter_next(s, &r, NULL), 0);
  tm_sorter_free(s);
  tm_sorter_free(NULL);
}

static void a_missing_folder_is_reported(void **state)
{
  struct tm_sorter *s = tm_sorter_new(tm_fs_real(), "/no/such/folder", 1);
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_sorter_add(s, "a", 1, "", 0, &err), 0);
  assert_true(tm_sorter_add(s, "b", 1, "", 0, &err) < 0);
  assert_non_null(strstr(err.text, "/no/such/folder/sort.tmp"));
  tm_sorter_free(s);
}

UNIT_HOOKS(.setup = tree_setup, .teardown = tree_teardown);
UNIT_TESTS({
    cmocka_unit_test(little_memory_sorts_as_much_does),
    cmocka_unit_test(nothing_comes_of_nothing),
    cmocka_unit_test(a_missing_folder_is_reported),
});
