/* test_scan.c - the kernels agree with the state machine of scan.h on every input, however it is
 * cut. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/scan.h"
#include "random.h"

#define SIZE_MAX_TEXT 700

static const enum tm_scan_kind kinds[] = { TM_SCAN_SSE2, TM_SCAN_AVX2, TM_SCAN_BEST };

struct text {
  char at[SIZE_MAX_TEXT];
  size_t len;
};

/* Mostly ordinary fields; now and then any of the bytes that matter. */
static void make_text(struct text *t, struct random *r)
{
  static const char *const words[] = { "\"a,b\"", "1",        ",",        "\n",      "\r\n",
                                       "\"\"",    "\"x\ny\"", "12\" lcd", "\"\"\"",  "ab",
                                       ";",       "\"",       "\x80\xff", "\"a\"b\"" };
  size_t want = random_below(r, SIZE_MAX_TEXT - 8);
  int kind = (int)random_below(r, 4);
  t->len = 0;
  while (t->len < want) {
    const char *w = words[random_below(r, kind == 0 ? TM_COUNT_OF(words) : kind == 1 ? 7 : 5)];
    if (kind == 3 && random_below(r, 3) == 0)
      w = "a long field without anything in it,";
    size_t n = strlen(w);
    if (n > SIZE_MAX_TEXT - t->len)
      break;
    memcpy(t->at + t->len, w, n);
    t->len += n;
  }
}

static struct tm_dialect make_dialect(struct random *r)
{
  struct tm_dialect d;
  tm_dialect_init(&d);
  d.separator = random_below(r, 4) == 0 ? ';' : ',';
  d.no_quotes = random_below(r, 8) == 0;
  d.multi_line = random_below(r, 2) == 0;
  return d;
}

static void check_fields(const struct text *t, const struct tm_dialect *d, enum tm_scan_kind kind)
{
  struct tm_marks want = { 0 }, got = { 0 };
  struct tm_scan a, b;
  tm_scan_init(&a, d, TM_SCAN_BYTES);
  if (!tm_scan_init(&b, d, kind))
    return;
  tm_scan_fields(&a, t->at, t->len, &want);
  tm_scan_fields(&b, t->at, t->len, &got);
  assert_int_equal(got.at_len, want.at_len);
  assert_int_equal(got.rows_len, want.rows_len);
  assert_memory_equal(got.at - 1, want.at - 1, (want.at_len + 1) * sizeof want.at[0]);
  assert_memory_equal(got.rows, want.rows, want.rows_len * sizeof want.rows[0]);
  assert_int_equal(a.state, b.state);
  assert_int_equal(a.unclosed, b.unclosed);
  assert_int_equal(a.saw_high, b.saw_high);
  assert_int_equal(a.saw_quote, b.saw_quote);
  tm_marks_release(&want);
  tm_marks_release(&got);
}

/* In pieces, with a stop after every `every` rows. */
static void check_rows(const struct text *t, const struct tm_dialect *d, enum tm_scan_kind kind,
                       struct random *r)
{
  struct tm_scan a, b;
  uint64_t every = 1 + random_below(r, 9);
  tm_scan_init(&a, d, TM_SCAN_BYTES);
  if (!tm_scan_init(&b, d, kind))
    return;
  for (size_t at = 0, got_at = 0; at < t->len;) {
    uint64_t until = (a.rows / every + 1) * every;
    at += tm_scan_rows(&a, t->at + at, t->len - at, until);
    while (got_at < t->len && b.rows < until) {
      size_t piece = 1 + random_below(r, 300);
      piece = piece < t->len - got_at ? piece : t->len - got_at;
      size_t n = tm_scan_rows(&b, t->at + got_at, piece, until);
      got_at += n;
      assert_true(n == piece || b.rows == until);
    }
    assert_int_equal(got_at, at);
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(tm_scan_rows(&b, t->at, t->len, b.rows), 0);
  }
}

static void kernels_agree_on_random_text(void **state)
{
  struct random r = { 7 };
  static struct text t;
  const int count = getenv("TM_LONG") ? 30000 : 6000;
  for (int i = 0; i < count; i++) {
    struct tm_dialect d = make_dialect(&r);
    make_text(&t, &r);
    for (size_t k = 0; k < TM_COUNT_OF(kinds); k++) {
      check_fields(&t, &d, kinds[k]);
      check_rows(&t, &d, kinds[k], &r);
    }
  }
}

/* Each case: the text, and the ends of its rows with and without multi_line. */
static void rows_end_where_they_should(void **state)
{
  static const struct {
    const char *text;
    bool multi_line;
    size_t first; /* after the first row */
  } cases[] = {
    { "a,b\nc\n", false, 4 },        { "a,\"b\nc\"\nd\n", false, 5 },
    { "a,\"b\nc\"\nd\n", true, 8 },  { "a,12\" lcd\nd\n", true, 10 },
    { "\"a\"\"\n\"\nd\n", true, 7 }, { "\"a\"b\"\n\"\nd\n", true, 6 },
    { "\"\"\n\"\n", true, 3 },       { "a\r\nb\n", true, 3 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    for (int kind = TM_SCAN_BEST; kind <= TM_SCAN_AVX2; kind++) {
      struct tm_dialect d;
      struct tm_scan s;
      tm_dialect_init(&d);
      d.multi_line = cases[i].multi_line;
      tm_scan_init(&s, &d, (enum tm_scan_kind)kind);
      assert_int_equal(tm_scan_rows(&s, cases[i].text, strlen(cases[i].text), 1), cases[i].first);
    }
}

static void a_row_ends_at_any_place_in_a_block(void **state)
{
  char text[200];
  struct tm_dialect d;
  tm_dialect_init(&d);
  d.multi_line = true;
  for (int kind = TM_SCAN_BEST; kind <= TM_SCAN_AVX2; kind++)
    for (size_t at = 2; at < sizeof text; at++) {
      struct tm_scan s;
      tm_scan_init(&s, &d, (enum tm_scan_kind)kind);
      memset(text, '\n', sizeof text);
      text[0] = '"';
      text[at - 1] = '"';
      assert_int_equal(tm_scan_rows(&s, text, sizeof text, 1), at + 1);
      assert_int_equal(s.rows, 1);
    }
}

/* More fields than fit at first. */
static void marks_grow(void **state)
{
  size_t n = 1 << 17;
  char *text = tm_xmalloc(n);
  for (size_t i = 0; i < n; i++)
    text[i] = i % 10 == 9 ? '\n' : i % 2 ? ',' : 'x';
  for (int kind = TM_SCAN_BEST; kind <= TM_SCAN_AVX2; kind++) {
    struct tm_marks m = { 0 };
    struct tm_dialect d;
    struct tm_scan s;
    tm_dialect_init(&d);
    tm_scan_init(&s, &d, (enum tm_scan_kind)kind);
    tm_scan_fields(&s, text, n, &m);
    assert_int_equal(m.at_len, n / 2);
    assert_int_equal(m.rows_len, n / 10);
    for (size_t i = 0; i < m.at_len; i++)
      assert_int_equal(m.at[i], 2 * i + 1);
    tm_marks_release(&m);
  }
  free(text);
}

UNIT_TESTS({
    cmocka_unit_test(kernels_agree_on_random_text),
    cmocka_unit_test(rows_end_where_they_should),
    cmocka_unit_test(a_row_ends_at_any_place_in_a_block),
    cmocka_unit_test(marks_grow),
});
