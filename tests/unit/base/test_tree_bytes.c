/* test_tree_bytes.c - a folder survives its way as bytes, and bytes that are cut, hostile or too
 * many are refused. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/tree_bytes.h"

struct reading {
  struct tm_buf in;
  size_t at;
  struct tm_buf seen; /* "d lib;f lib/a x 3;l up>..;" */
  size_t bytes;
  int refuses; /* the call with this number, from 1 */
};

static bool read_bytes(void *data, char *p, size_t n)
{
  struct reading *r = data;
  if (n > r->in.len - r->at)
    return false;
  memcpy(p, r->in.data + r->at, n);
  r->at += n;
  return true;
}

static int next(struct reading *r, struct tm_err *err)
{
  return --r->refuses == 0 ? tm_err_set(err, TM_ELIMIT, "no more") : 0;
}

static int on_folder(void *data, const char *name, struct tm_err *err)
{
  struct reading *r = data;
  tm_buf_printf(&r->seen, "d %s;", name);
  return next(r, err);
}

static int on_file(void *data, const char *name, bool is_program, struct tm_err *err)
{
  struct reading *r = data;
  r->bytes = 0;
  tm_buf_printf(&r->seen, "f %s %c", name, is_program ? 'x' : '-');
  return next(r, err);
}

static int on_piece(void *data, const char *p, size_t n, struct tm_err *err)
{
  struct reading *r = data;
  r->bytes += n;
  if (n == 0)
    tm_buf_printf(&r->seen, " %zu;", r->bytes);
  return next(r, err);
}

static int on_link(void *data, const char *name, const char *target, struct tm_err *err)
{
  struct reading *r = data;
  tm_buf_printf(&r->seen, "l %s>%s;", name, target);
  return next(r, err);
}

static int read_tree(struct reading *r, char hash[17], struct tm_err *err)
{
  struct tm_tree_reader reader = { r, read_bytes, on_folder, on_file, on_piece, on_link };
  r->at = r->seen.len = 0;
  return tm_tree_read(&reader, hash, err);
}

static void release(struct reading *r)
{
  tm_buf_release(&r->in);
  tm_buf_release(&r->seen);
}

static void fill(struct tm_buf *out, const char *contents)
{
  tm_tree_add_folder(out, "lib");
  tm_tree_add_file(out, "lib/a", true);
  tm_tree_add_piece(out, contents, strlen(contents));
  tm_tree_add_piece(out, "", 0);
  tm_tree_add_link(out, "up", "..");
  tm_tree_add_end(out);
}

static void a_tree_arrives(void **state)
{
  struct reading r = { 0 };
  char hash[17];
  fill(&r.in, "abc");
  assert_int_equal(read_tree(&r, hash, NULL), 0);
  assert_string_equal(tm_buf_str(&r.seen), "d lib;f lib/a x 3;l up>..;");
  assert_int_equal(r.at, r.in.len);
  release(&r);
}

static void the_hash_covers_the_whole_tree(void **state)
{
  struct reading a = { 0 }, b = { 0 };
  char first[17], second[17];
  fill(&a.in, "abc");
  fill(&b.in, "abd");
  assert_int_equal(read_tree(&a, first, NULL), 0);
  assert_int_equal(read_tree(&b, second, NULL), 0);
  assert_string_not_equal(first, second);
  b.in.len = 0;
  fill(&b.in, "abc");
  b.in.data[8 + 1 + 4 + 5] = '-'; /* the mode of the file */
  assert_int_equal(read_tree(&b, second, NULL), 0);
  assert_string_not_equal(first, second);
  release(&a);
  release(&b);
}

static void bytes_that_end_too_early_are_refused(void **state)
{
  struct reading r = { 0 };
  char hash[17];
  fill(&r.in, "abc");
  for (size_t n = r.in.len; n-- > 0;) {
    struct tm_err err = TM_ERR_NONE;
    r.in.len = n;
    assert_int_equal(read_tree(&r, hash, &err), TM_EPROTOCOL);
    assert_non_null(strstr(err.text, "they end too early"));
  }
  release(&r);
}

static void names_that_lead_out_of_the_folder_are_refused(void **state)
{
  static const char *const names[] = { "",   "/a", "..",  "a/..",  "../a", "a/../b", "a//b",
                                       "a/", ".",  "./a", "a/./b", "a/.",  "/",      "a/../../b" };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    for (int kind = 0; kind < 3; kind++) {
      struct reading r = { 0 };
      char hash[17];
      if (kind == 0)
        tm_tree_add_folder(&r.in, names[i]);
      else if (kind == 1)
        tm_tree_add_file(&r.in, names[i], false);
      else
        tm_tree_add_link(&r.in, names[i], "x");
      assert_int_equal(read_tree(&r, hash, NULL), TM_EPROTOCOL);
      assert_int_equal(r.seen.len, 0);
      release(&r);
    }
}

static void odd_names_are_accepted(void **state)
{
  static const char *const names[] = { "...", "..a", "a..", ".a/..b", "a\nb", "\xff" };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    struct reading r = { 0 };
    char hash[17];
    tm_tree_add_folder(&r.in, names[i]);
    tm_tree_add_end(&r.in);
    assert_int_equal(read_tree(&r, hash, NULL), 0);
    release(&r);
  }
}

/* Each is the beginning of a tree. */
static void bytes_that_are_not_a_tree_are_refused(void **state)
{
  static const struct {
    const char *bytes;
    size_t len;
  } cases[] = { { "X\1\0\0\0a", 6 },
                { "D\2\0\0\0a\0E", 8 },            /* a NUL */
                { "D\377\377\377\377a", 6 },       /* a length */
                { "D\0\20\0\0", 5 },               /* 4,096 bytes of a name */
                { "F\1\0\0\0a?P\0\0\0\0E", 13 },   /* a mode */
                { "F\1\0\0\0a-E", 8 },             /* no piece */
                { "F\1\0\0\0a-P\1\0\4\0x", 13 } }; /* 256 KiB and one byte */
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct reading r = { 0 };
    struct tm_err err = TM_ERR_NONE;
    char hash[17];
    tm_buf_add(&r.in, cases[i].bytes, cases[i].len);
    assert_int_equal(read_tree(&r, hash, &err), TM_EPROTOCOL);
    assert_null(strstr(err.text, "too early"));
    release(&r);
  }
}

static void a_tree_has_a_limited_number_of_entries(void **state)
{
  struct reading r = { 0 };
  struct tm_err err = TM_ERR_NONE;
  char hash[17];
  for (int i = 0; i <= TM_TREE_ENTRIES_MAX; i++)
    tm_tree_add_link(&r.in, "a", "b");
  assert_int_equal(read_tree(&r, hash, &err), TM_EPROTOCOL);
  assert_non_null(strstr(err.text, "too many files"));
  release(&r);
}

static void a_failed_call_ends_the_reading(void **state)
{
  for (int i = 1; i <= 5; i++) {
    struct reading r = { 0 };
    struct tm_err err = TM_ERR_NONE;
    char hash[17];
    fill(&r.in, "abc");
    r.refuses = i;
    assert_int_equal(read_tree(&r, hash, &err), TM_ELIMIT);
    assert_string_equal(err.text, "no more");
    release(&r);
  }
}

static void links_within_the_folder_are_recognized(void **state)
{
  static const struct {
    const char *name, *target;
    bool is_within;
  } cases[] = { { "a", "b", true },          { "a", "b/../c", true },     { "d/a", "../b", true },
                { "d/a", ".././b", true },   { "a", ".", true },          { "a", "..a", true },
                { "a", "/etc", false },      { "a", "..", false },        { "a", "../b", false },
                { "d/a", "../../b", false }, { "a", "b/../../c", false }, { "a", "", false },
                { "a", "b//../..", false } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_int_equal(tm_tree_link_is_within(cases[i].name, cases[i].target), cases[i].is_within);
}

UNIT_TESTS({
    cmocka_unit_test(a_tree_arrives),
    cmocka_unit_test(the_hash_covers_the_whole_tree),
    cmocka_unit_test(bytes_that_end_too_early_are_refused),
    cmocka_unit_test(names_that_lead_out_of_the_folder_are_refused),
    cmocka_unit_test(odd_names_are_accepted),
    cmocka_unit_test(bytes_that_are_not_a_tree_are_refused),
    cmocka_unit_test(a_tree_has_a_limited_number_of_entries),
    cmocka_unit_test(a_failed_call_ends_the_reading),
    cmocka_unit_test(links_within_the_folder_are_recognized),
});
