/* test_row_boundaries.c - ranges hold every row once and completely, for any file and size. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/row_boundaries.h"
#include "data/rows/scan.h"
#include "random.h"

struct file {
  const char *at;
  size_t len;
  int reads;
  int64_t fail_from; /* reads from this offset on fail; 0: none */
  bool in_order;     /* a read before the last one is an error of the caller */
  bool only_first;   /* in order; a second pass may start anywhere */
  int64_t last;
};

static int64_t read_file(void *data, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct file *f = data;
  f->reads++;
  if (f->fail_from > 0 && at >= f->fail_from)
    return tm_err_set(err, -5, "cannot read");
  assert_true(!f->in_order || at >= f->last || at == 0);
  f->last = at;
  if (at >= (int64_t)f->len)
    return 0;
  n = n < f->len - (size_t)at ? n : f->len - (size_t)at;
  memcpy(p, f->at + at, n);
  return (int64_t)n;
}

static struct tm_row_boundaries *open_borders(struct file *f, const struct tm_dialect *d,
                                              int64_t bytes, int64_t rows, bool has_header)
{
  struct tm_row_boundaries_options o = { .dialect = d,
                                         .read = read_file,
                                         .data = f,
                                         .size = f->in_order ? -1 : (int64_t)f->len,
                                         .will_have_size = f->only_first,
                                         .range_bytes = bytes,
                                         .range_rows = rows,
                                         .has_header = has_header };
  return tm_row_boundaries_new(&o);
}

/* "0-4 4-8": the ranges as text. */
static const char *ranges_of(const char *text, size_t n, const struct tm_dialect *d, int64_t bytes,
                             int64_t rows, bool has_header)
{
  static char words[2048];
  struct file f = { .at = text, .len = n };
  struct tm_row_boundaries *b = open_borders(&f, d, bytes, rows, has_header);
  struct tm_range r;
  struct tm_err err = TM_ERR_NONE;
  size_t len = 0;
  words[0] = '\0';
  while (tm_row_boundaries_next(b, &r, &err) > 0)
    len += (size_t)snprintf(words + len, sizeof words - len, "%s%lld-%lld", len > 0 ? " " : "",
                            (long long)r.begin, (long long)r.end);
  assert_int_equal(err.code, 0);
  tm_row_boundaries_free(b);
  return words;
}

static void known_files(void **state)
{
  static const struct {
    const char *text, *ranges;
    int64_t bytes, rows;
    bool multi_line, has_header;
  } cases[] = {
    { "", "", 4, 0, false, false },
    { "", "", 4, 0, true, true },
    { "a,b\n", "", 4, 0, false, true },
    { "a,b", "", 4, 0, false, true },
    { "a,b\n\n\r\n", "", 4, 0, false, true },
    { "a,b\n\n\r\n", "", 4, 0, true, true },
    { "a,b\n1,2", "4-7", 1, 0, false, true },
    { "\n\r\na,b\n1,2", "7-10", 1, 0, false, true },
    { "1\n2\n3\n", "0-2 2-4 4-6", 1, 0, false, false },
    { "1\n2\n3\n", "0-2 2-4 4-6", 2, 0, false, false },
    { "1\n2\n3\n", "0-4 4-6", 3, 0, false, false },
    { "1\n2\n3\n", "0-6", 100, 0, false, false },
    { "1\n\n\n2\n\n", "0-2 4-6", 1, 0, false, false },
    { "\xef\xbb\xbf"
      "1\n2\n",
      "3-5 5-7", 2, 0, false, false },
    { "\xef\xbb\xbf"
      "a\n1\n2\n",
      "5-7 7-9", 2, 0, false, true },
    { "a long row\n1\n2\n", "0-11 11-13 13-15", 2, 0, false, false },
    { "1,\"a\nb\"\n2\n", "0-5 5-8 8-10", 1, 0, false, false },
    { "1,\"a\nb\"\n2\n", "0-8 8-10", 1, 0, true, false },
    { "\"x\ny\",b\n1,2\n", "8-12", 1, 0, true, true },
    { "1\n2\n3\n4\n5", "0-4 4-8 8-9", 1, 2, false, false },
    { "1\n\"2\n\"\n3\n4\n5", "0-7 7-11 11-12", 1, 2, true, false },
    { "1\n2\n", "0-4", INT64_MAX, 0, false, false },
    { "1\n2\n", "0-4", INT64_MAX, 0, true, false },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_dialect d;
    tm_dialect_init(&d);
    d.multi_line = cases[i].multi_line;
    const char *got = ranges_of(cases[i].text, strlen(cases[i].text), &d, cases[i].bytes,
                                cases[i].rows, cases[i].has_header);
    if (strcmp(got, cases[i].ranges) != 0)
      fail_msg("case %zu: %s, not %s", i, got, cases[i].ranges);
  }
}

static void utf16_is_cut_at_characters(void **state)
{
  static const char little[] = "\xff\xfe"
                               "a\0\n\0"
                               "\x0a\x01\n\0"
                               "2\0\n\0";
  static const char big[] = "\xfe\xff"
                            "\0a\0\n"
                            "\x01\x0a\0\n"
                            "\0"
                            "2\0\n";
  struct tm_dialect d;
  tm_dialect_init(&d);
  d.encoding = TM_ENCODING_UTF16;
  for (int multi = 0; multi < 2; multi++) {
    d.multi_line = multi != 0;
    assert_string_equal(ranges_of(little, 14, &d, 1, 0, true), "6-10 10-14");
    assert_string_equal(ranges_of(big, 14, &d, 1, 0, true), "6-10 10-14");
    assert_string_equal(ranges_of(big, 14, &d, 5, 0, false), "2-10 10-14");
    assert_string_equal(ranges_of(big, 13, &d, 4, 0, false), "2-6 6-10 10-13");
  }
}

struct made {
  char at[4096];
  size_t len;
};

static void make_file(struct made *m, struct random *r)
{
  static const char *const words[] = { "a",        "bcd",      ",",  "\n",   "\r\n",
                                       "\"x\ny\"", "12\" lcd", "\"", "\n\n", "long field" };
  size_t want = random_below(r, sizeof m->at - 16);
  for (m->len = 0; m->len < want;) {
    const char *w = words[random_below(r, TM_COUNT_OF(words))];
    memcpy(m->at + m->len, w, strlen(w));
    m->len += strlen(w);
  }
}

static size_t first_row_len(const struct tm_dialect *d, const char *p, size_t n)
{
  struct tm_scan s;
  tm_scan_init(&s, d, TM_SCAN_BYTES);
  return tm_scan_rows(&s, p, n, 1);
}

static bool has_text(const char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (p[i] != '\n' && p[i] != '\r')
      return true;
  return false;
}

/* Bytes outside the ranges are empty lines; each range starts and ends with a row, and has a row
 * that ends at its size or later. */
static void check_ranges(const struct made *m, struct tm_row_boundaries *b,
                         const struct tm_dialect *d, int64_t bytes, int64_t rows)
{
  struct tm_range r = { 0 };
  struct tm_err err = TM_ERR_NONE;
  size_t at = 0;
  while (tm_row_boundaries_next(b, &r, &err) > 0) {
    assert_true((size_t)r.begin >= at && r.end > r.begin && (size_t)r.end <= m->len);
    assert_false(has_text(m->at + at, (size_t)r.begin - at));
    assert_true(has_text(m->at + r.begin, (size_t)(r.end - r.begin)));
    int64_t row = r.begin, last = r.begin, count = 0;
    for (; row < r.end; count++) {
      last = row;
      row += (int64_t)first_row_len(d, m->at + row, m->len - (size_t)row);
    }
    assert_int_equal(row, r.end);
    if (rows > 0) {
      assert_true(count == rows || ((size_t)r.end == m->len && count < rows));
      assert_int_equal(r.rows, count);
    } else {
      assert_true(last - r.begin < bytes && (row - r.begin >= bytes || (size_t)row == m->len));
    }
    at = (size_t)r.end;
  }
  assert_int_equal(err.code, 0);
  assert_false(has_text(m->at + at, m->len - at));
}

static void ranges_hold_every_row_once(void **state)
{
  struct random r = { 21 };
  static struct made m;
  for (int i = 0; i < 4000; i++) {
    struct tm_dialect d;
    tm_dialect_init(&d);
    d.multi_line = random_below(&r, 2);
    d.no_quotes = random_below(&r, 8) == 0;
    make_file(&m, &r);
    int64_t bytes = 1 + (int64_t)random_below(&r, random_below(&r, 2) ? 20 : 3000);
    int64_t rows = random_below(&r, 3) == 0 ? 1 + (int64_t)random_below(&r, 20) : 0;
    struct file f = { .at = m.at, .len = m.len, .in_order = random_below(&r, 2) };
    struct tm_row_boundaries *b = open_borders(&f, &d, bytes, rows, false);
    check_ranges(&m, b, &d, bytes, rows);
    tm_row_boundaries_free(b);
  }
}

/* Otherwise a resumed job would mistake the file for a different one. */
static void ranges_are_the_same_once_a_file_is_read_from_anywhere(void **state)
{
  struct random r = { 8 };
  static struct made m;
  for (int i = 0; i < 2000; i++) {
    struct tm_dialect d;
    struct tm_err err = TM_ERR_NONE;
    tm_dialect_init(&d);
    d.multi_line = random_below(&r, 4) == 0;
    make_file(&m, &r);
    if (random_below(&r, 4) == 0) /* many empty lines */
      memset(m.at + random_below(&r, m.len / 8 + 1), '\n', m.len / 2);
    int64_t bytes = 1 + (int64_t)random_below(&r, random_below(&r, 2) ? 20 : 3000);
    struct file first = { .at = m.at, .len = m.len, .in_order = true, .only_first = true };
    struct file later = { .at = m.at, .len = m.len };
    struct tm_row_boundaries *a = open_borders(&first, &d, bytes, 0, false);
    struct tm_row_boundaries *b = open_borders(&later, &d, bytes, 0, false);
    int more = 1;
    while (more > 0) {
      struct tm_range x = { 0 }, y = { 0 };
      more = tm_row_boundaries_next(a, &x, &err);
      assert_int_equal(tm_row_boundaries_next(b, &y, &err), more);
      assert_memory_equal(&x, &y, sizeof x);
    }
    assert_int_equal(err.code, 0);
    tm_row_boundaries_free(a);
    tm_row_boundaries_free(b);
  }
}

static void one_read_finds_a_border(void **state)
{
  size_t n = 4 << 20;
  char *text = tm_xmalloc(n);
  for (size_t i = 0; i < n; i++)
    text[i] = i % 100 == 99 ? '\n' : 'x';
  struct tm_dialect d;
  tm_dialect_init(&d);
  struct file f = { .at = text, .len = n };
  struct tm_row_boundaries *b = open_borders(&f, &d, 100000, 0, false);
  struct tm_range r;
  struct tm_err err = TM_ERR_NONE;
  int count = 0;
  while (tm_row_boundaries_next(b, &r, &err) > 0)
    count++;
  assert_int_equal(count, (n + 99999) / 100000);
  assert_true(f.reads <= count);
  tm_row_boundaries_free(b);
  free(text);
}

static void rows_longer_than_the_window(void **state)
{
  size_t n = 3 << 20;
  char *text = tm_xmalloc(n);
  memset(text, 'x', n);
  text[(1 << 20) + 5] = '\n';
  for (int kind = 0; kind < 3; kind++) {
    struct tm_dialect d;
    struct tm_range r;
    struct tm_err err = TM_ERR_NONE;
    tm_dialect_init(&d);
    d.multi_line = kind > 0;
    struct file f = { .at = text, .len = n, .in_order = kind == 2 };
    struct tm_row_boundaries *b = open_borders(&f, &d, 10, 0, false);
    assert_int_equal(tm_row_boundaries_next(b, &r, &err), 1);
    assert_int_equal(r.end, (1 << 20) + 6);
    assert_int_equal(tm_row_boundaries_next(b, &r, &err), 1);
    assert_int_equal(r.end, n);
    assert_int_equal(tm_row_boundaries_next(b, &r, &err), 0);
    assert_int_equal(tm_row_boundaries_size(b), n);
    tm_row_boundaries_free(b);
  }
  free(text);
}

static void the_header_is_kept(void **state)
{
  struct tm_dialect d;
  struct tm_range r;
  struct tm_err err = TM_ERR_NONE;
  size_t n;
  tm_dialect_init(&d);
  struct file f = { .at = "\xef\xbb\xbf\n\"a\",b\r\n1,2\n", .len = 16 };
  struct tm_row_boundaries *b = open_borders(&f, &d, 10, 0, true);
  assert_int_equal(tm_row_boundaries_next(b, &r, &err), 1);
  assert_int_equal(r.begin, 11);
  const char *header = tm_row_boundaries_header(b, &n);
  assert_int_equal(n, 7);
  assert_memory_equal(header, "\"a\",b\r\n", 7);
  tm_row_boundaries_free(b);
}

static void a_failed_read_is_passed_on(void **state)
{
  struct tm_dialect d;
  struct tm_range r;
  struct tm_err err = TM_ERR_NONE;
  tm_dialect_init(&d);
  char *text = tm_xmalloc(1 << 20);
  memset(text, '\n', 1 << 20);
  text[0] = 'x';
  struct file f = { .at = text, .len = 1 << 20, .fail_from = 300000 };
  struct tm_row_boundaries *b = open_borders(&f, &d, 400000, 0, false);
  assert_int_equal(tm_row_boundaries_next(b, &r, &err), -5);
  assert_string_equal(err.text, "cannot read");
  tm_row_boundaries_free(b);
  free(text);
}

UNIT_TESTS({
    cmocka_unit_test(known_files),
    cmocka_unit_test(utf16_is_cut_at_characters),
    cmocka_unit_test(ranges_hold_every_row_once),
    cmocka_unit_test(ranges_are_the_same_once_a_file_is_read_from_anywhere),
    cmocka_unit_test(one_read_finds_a_border),
    cmocka_unit_test(rows_longer_than_the_window),
    cmocka_unit_test(the_header_is_kept),
    cmocka_unit_test(a_failed_read_is_passed_on),
});
