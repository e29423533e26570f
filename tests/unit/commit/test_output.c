/* test_output.c - a file that grows at its end, and how much of it counts. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "commit/output.h"
#include "folder.h"

static void open_out(struct tm_output *o, struct folder *f)
{
  *o = (struct tm_output) { 0 };
  assert_int_equal(tm_output_open(o, tm_fs_real(), folder_file(f, "out"), NULL), 0);
  assert_int_equal(tm_output_make(o, 0600, NULL), 0);
}

/* A new folder with an output, and a file of these bytes to be copied to it: its path, to free. */
static char *open_with_file(struct tm_output *o, struct folder *f, const void *bytes, size_t n)
{
  folder_init(f);
  folder_put(f, "spilled", 0, bytes, n);
  open_out(o, f);
  return tm_xstrdup(folder_file(f, "spilled"));
}

/* To free. */
static char *make_rows(size_t n)
{
  char *rows = tm_xmalloc(n);
  for (size_t i = 0; i < n; i++)
    rows[i] = (char)('a' + i % 23);
  return rows;
}

static void is_text(struct folder *f, const char *want)
{
  char *text = folder_text(f, "out");
  assert_string_equal(text, want);
  free(text);
}

static void writes_in_the_order_of_the_adds(void **state)
{
  struct folder f;
  struct tm_output o;
  folder_init(&f);
  open_out(&o, &f);
  tm_output_add(&o, "one\n", 4);
  tm_output_add(&o, "two\n", 4);
  assert_int_equal(o.end, 8);
  assert_int_equal(folder_size(&f, "out"), 0);
  assert_int_equal(tm_output_flush(&o, NULL), 0);
  is_text(&f, "one\ntwo\n");
  tm_output_close(&o);
  open_out(&o, &f);
  tm_output_add(&o, "three\n", 6);
  assert_int_equal(tm_output_flush(&o, NULL), 0);
  is_text(&f, "one\ntwo\nthree\n");
  assert_int_equal(tm_output_has(&o, 4, 8, tm_hash64("two\n", 4), NULL), 1);
  assert_int_equal(tm_output_has(&o, 4, 8, tm_hash64("twO\n", 4), NULL), 0);
  assert_int_equal(tm_output_has(&o, 4, 4, tm_hash64("", 0), NULL), 1);
  assert_int_equal(tm_output_has(&o, 8, 15, tm_hash64("three\n", 6), NULL),
                   0); /* longer than the file */
  assert_int_equal(tm_output_has(&o, 8, 4, 0, NULL), 0);
  assert_int_equal(tm_output_cut(&o, 4, NULL), 0);
  is_text(&f, "one\n");
  tm_output_close(&o);
  tm_output_close(&o);
  folder_release(&f);
}

static void takes_a_file_of_several_pieces(void **state)
{
  struct folder f;
  struct tm_output o;
  size_t n = (2u << 20) + 17;
  char *big = make_rows(n);
  char *from = open_with_file(&o, &f, big, n);
  tm_output_add(&o, "first\n", 6);
  assert_int_equal(tm_output_copy(&o, from, (int64_t)n, tm_hash64(big, n), NULL), 0);
  assert_int_equal(o.end, 6 + n);
  assert_int_equal(tm_output_has(&o, 6, o.end, tm_hash64(big, n), NULL), 1);
  tm_output_close(&o);
  free(from);
  free(big);
  folder_release(&f);
}

static void adds_nothing_of_a_file_that_is_not_as_said(void **state)
{
  struct folder f;
  struct tm_output o;
  struct tm_err err = TM_ERR_NONE;
  char *from = open_with_file(&o, &f, "rows\n", 5);
  tm_output_add(&o, "first\n", 6);
  assert_int_equal(tm_output_copy(&o, from, 5, 1, &err), TM_EDAMAGE);
  assert_non_null(strstr(err.text, "spilled"));
  assert_int_equal(tm_output_copy(&o, from, 6, tm_hash64("rows\n", 5), &err), TM_EDAMAGE);
  assert_int_equal(tm_output_copy(&o, "/nowhere/at/all", 6, 1, &err), TM_EDAMAGE);
  assert_int_equal(err.code, TM_EDAMAGE);
  assert_int_equal(o.end, 6);
  tm_output_add(&o, "2\n", 2);
  assert_int_equal(tm_output_flush(&o, NULL), 0);
  assert_int_equal(tm_output_cut(&o, o.end, NULL), 0);
  is_text(&f, "first\n2\n");
  tm_output_close(&o);
  free(from);
  folder_release(&f);
}

/* A file of several pieces, to be copied behind "first\n" and "head\n". */
struct ahead {
  struct folder f;
  struct tm_output o;
  char *rows, *from;
  size_t n;
};

static void ahead_make(struct ahead *a, const char *before)
{
  a->n = (3u << 20) + 17;
  a->rows = make_rows(a->n);
  a->from = open_with_file(&a->o, &a->f, a->rows, a->n);
  tm_output_add(&a->o, "first\n", 6);
  assert_true(tm_output_copy_ahead(&a->o, a->from, (int64_t)a->n, tm_hash64(a->rows, a->n), before,
                                   strlen(before)));
  assert_int_equal(a->o.end, 6);
}

static void ahead_begin(struct ahead *a, const char *before)
{
  ahead_make(a, before);
  assert_true(tm_output_copy_more(&a->o, 2 << 20));
  assert_false(tm_output_copy_more(&a->o, 2 << 20));
  assert_false(tm_output_copy_more(&a->o, 2 << 20));
  assert_int_equal(a->o.end, 6); /* nothing is added yet */
}

static void ahead_release(struct ahead *a)
{
  tm_output_close(&a->o);
  folder_release(&a->f);
  free(a->from);
  free(a->rows);
}

static void ahead_end(struct ahead *a, const char *before)
{
  int64_t at = 6 + (int64_t)strlen(before), end = at + (int64_t)a->n;
  char *text = tm_xprintf("%s%.*s", before, (int)a->n, a->rows);
  uint64_t hash;
  assert_int_equal(tm_output_copy(&a->o, a->from, (int64_t)a->n, tm_hash64(a->rows, a->n), NULL),
                   0);
  assert_int_equal(a->o.end, end);
  assert_int_equal(tm_output_has(&a->o, at, end, tm_hash64(a->rows, a->n), NULL), 1);
  assert_int_equal(tm_output_hash(&a->o, 6, end, &hash, NULL), 0);
  assert_int_equal(hash, tm_hash64(text, strlen(text)));
  assert_int_equal(tm_output_has(&a->o, 6, end, hash, NULL), 1); /* reads the file */
  ahead_release(a);
  free(text);
}

static void takes_a_copy_that_was_made_ahead(void **state)
{
  struct ahead a;
  ahead_begin(&a, "");
  folder_put(&a.f, "spilled", 0, "gone", 4); /* it is not read again */
  ahead_end(&a, "");
}

static void takes_a_copy_behind_a_header(void **state)
{
  struct ahead a;
  ahead_begin(&a, "head\n");
  folder_put(&a.f, "spilled", 0, "gone", 4);
  tm_output_add(&a.o, "head\n", 5);
  ahead_end(&a, "head\n");
}

/* Something else was written where the copy lies. */
static void makes_a_copy_again_that_is_overwritten(void **state)
{
  struct ahead a;
  ahead_begin(&a, "");
  tm_output_add(&a.o, "more\n", 5);
  assert_int_equal(tm_output_flush(&a.o, NULL), 0);
  ahead_end(&a, "more\n");
  ahead_begin(&a, "");
  tm_output_add(&a.o, "more\n", 5);
  assert_int_equal(tm_output_flush(&a.o, NULL), 0);
  tm_output_take_back(&a.o, 6); /* at the same place again, but with other bytes */
  ahead_end(&a, "");
  ahead_begin(&a, "head\n");
  ahead_end(&a, "");
}

/* Another program cuts the file: a hole would take the place of the rows before. */
static void notices_that_the_file_is_cut_while_it_copies(void **state)
{
  for (int pieces = 1; pieces <= 4; pieces++) {
    struct ahead a;
    struct tm_err err = TM_ERR_NONE;
    ahead_make(&a, "");
    for (int i = 0; i < pieces; i++)
      tm_output_copy_more(&a.o, 1 << 20);
    assert_int_equal(truncate(folder_file(&a.f, "out"), 6), 0);
    assert_int_equal(tm_output_copy(&a.o, a.from, (int64_t)a.n, tm_hash64(a.rows, a.n), &err),
                     -EIO);
    assert_non_null(strstr(err.text, "has become shorter"));
    assert_int_equal(a.o.end, 6);
    ahead_release(&a);
  }
}

static void says_late_that_a_copy_made_ahead_is_bad(void **state)
{
  struct folder f;
  struct tm_output o;
  struct tm_err err = TM_ERR_NONE;
  char *from = open_with_file(&o, &f, "rows\n", 5);
  assert_false(tm_output_copy_ahead(&o, "/nowhere/at/all", 5, 1, "", 0));
  assert_true(tm_output_copy_ahead(&o, from, 5, 1, "", 0));
  assert_false(tm_output_copy_more(&o, 100));
  folder_put(&f, "spilled", 0, "gone", 4);
  assert_int_equal(tm_output_copy(&o, from, 5, 1, &err), TM_EDAMAGE);
  assert_non_null(strstr(err.text, "is not what its worker wrote"));
  assert_int_equal(o.end, 0);
  tm_output_close(&o);
  free(from);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(writes_in_the_order_of_the_adds),
    cmocka_unit_test(takes_a_file_of_several_pieces),
    cmocka_unit_test(adds_nothing_of_a_file_that_is_not_as_said),
    cmocka_unit_test(takes_a_copy_that_was_made_ahead),
    cmocka_unit_test(takes_a_copy_behind_a_header),
    cmocka_unit_test(makes_a_copy_again_that_is_overwritten),
    cmocka_unit_test(notices_that_the_file_is_cut_while_it_copies),
    cmocka_unit_test(says_late_that_a_copy_made_ahead_is_bad),
});
