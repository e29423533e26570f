/* fuzz_delimited.c - delimited text: three bytes choose its format, the rest is the text.
 *
 *  (1) All kernels produce the same frame.
 *  (2) Text in two pieces produces the same frame as in one.
 *  (3) Consecutive ranges of the text have the rows of the whole text.
 *  (4) Every string of the frame is UTF-8.
 */
#include "fuzz.h"

#include "base/text.h"
#include "data/rows/row_boundaries.h"
#include "data/rows/delimited.h"
#include "data/rows/header.h"
#include "data/rows/infer.h"

/* Memory of all tables in use at the same time, kept from input to input. */
enum { WHOLE, OTHER, ARENAS };
static struct tm_arena arenas[ARENAS];

struct table {
  struct tm_data_frame frame;
  int64_t rc;
};

struct input {
  const char *p;
  size_t n;
  struct tm_dialect dialect;
  struct tm_schema schema;
};

static void add_all(struct tm_delimited *d, const char *p, size_t n, size_t cut, struct table *out)
{
  struct tm_err err = TM_ERR_NONE;
  out->rc = 0;
  if (cut < n)
    out->rc = tm_delimited_add(d, p, cut, false, &err);
  if (out->rc >= 0)
    out->rc = tm_delimited_add(d, p + out->rc, n - (size_t)out->rc, true, &err);
  fuzz_require(out->rc >= 0 ||
               (err.text[0] != '\0' && tm_delimited_fault(d)->kind != TM_FAULT_NONE &&
                tm_delimited_fault(d)->at <= (int64_t)n));
}

static void read_table(const struct input *in, enum tm_scan_kind kind, size_t cut, int arena,
                       struct table *out)
{
  struct tm_delimited *d = tm_delimited_new(&in->dialect, &in->schema, kind);
  *out = (struct table) { .rc = 0 };
  tm_arena_clear(&arenas[arena]);
  tm_delimited_begin(d, &arenas[arena], &(struct tm_delimited_source) { .at = 0 });
  add_all(d, in->p, in->n, cut, out);
  if (out->rc >= 0)
    tm_delimited_end(d, &out->frame);
  tm_delimited_free(d);
}

static void check_same_column(const struct tm_column *a, int64_t from, const struct tm_column *b)
{
  for (int64_t i = 0; i < b->len; i++) {
    size_t n, m;
    fuzz_require(tm_column_is_null(a, from + i) == tm_column_is_null(b, i));
    if (tm_column_is_null(b, i))
      continue;
    if (a->type == TM_COLUMN_STRING) {
      const char *p = tm_column_string(a, from + i, &n), *q = tm_column_string(b, i, &m);
      fuzz_require(n == m && (n == 0 || memcmp(p, q, n) == 0));
      fuzz_require(tm_text_is_utf8(p, n)); /* (4) */
    } else {
      size_t width = tm_column_width(a->type, false);
      fuzz_require(memcmp((const char *)a->data + (size_t)(from + i) * width,
                          (const char *)b->data + (size_t)i * width, width) == 0);
    }
  }
}

/* The rows of `a` from `from` on equal the rows of `b`. */
static void check_same(const struct table *a, int64_t from, const struct table *b)
{
  fuzz_require((a->rc < 0) == (b->rc < 0));
  if (a->rc < 0)
    return;
  fuzz_require(a->frame.n == b->frame.n && from + b->frame.len <= a->frame.len);
  for (size_t i = 0; i < a->frame.n; i++)
    check_same_column(&a->frame.columns[i], from, &b->frame.columns[i]);
}

static int64_t read_bytes(void *data, void *p, size_t n, int64_t at, struct tm_err *err)
{
  const struct input *in = data;
  size_t left = (size_t)at < in->n ? in->n - (size_t)at : 0;
  n = n < left ? n : left;
  if (n > 0)
    memcpy(p, in->p + at, n);
  return (int64_t)n;
}

static void check_ranges(struct input *in, const struct table *whole, int64_t size, bool by_rows)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_range range;
  int64_t rows = 0;
  struct tm_row_boundaries_options o = { .dialect = &in->dialect,
                                         .read = read_bytes,
                                         .data = in,
                                         .size = size % 3 == 0 ? -1 : (int64_t)in->n,
                                         .range_bytes = size,
                                         .range_rows = by_rows ? size : 0 };
  struct tm_row_boundaries *b = tm_row_boundaries_new(&o);
  while (tm_row_boundaries_next(b, &range, &err) > 0) {
    struct input part = *in;
    struct table t;
    fuzz_require(range.begin >= 0 && range.begin < range.end && range.end <= (int64_t)in->n);
    part.p += range.begin;
    part.n = (size_t)(range.end - range.begin);
    read_table(&part, TM_SCAN_BEST, part.n, OTHER, &t);
    check_same(whole, rows, &t);
    rows += t.frame.len;
  }
  fuzz_require(rows == whole->frame.len); /* (3) */
  tm_row_boundaries_free(b);
}

static void check_text(struct input *in, size_t cut)
{
  static const enum tm_scan_kind kinds[] = { TM_SCAN_BYTES, TM_SCAN_SSE2, TM_SCAN_AVX2 };
  struct table whole, other;
  bool has_mark = in->n >= 3 && memcmp(in->p, "\xef\xbb\xbf", 3) == 0;
  read_table(in, TM_SCAN_BEST, in->n, WHOLE, &whole);
  check_same(&whole, 0, &whole);
  for (size_t i = 0; i < 3; i++) {
    read_table(in, kinds[i], in->n, OTHER, &other);
    fuzz_require(whole.rc < 0 || other.frame.len == whole.frame.len);
    check_same(&whole, 0, &other); /* (1) */
  }
  read_table(in, TM_SCAN_BEST, cut % (in->n + 1), OTHER, &other);
  check_same(&whole, 0, &other); /* (2) */
  if (whole.rc >= 0 && !has_mark)
    check_ranges(in, &whole, (int64_t)(cut % 50) + 1, cut & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct input in = { .n = 0 };
  if (size < 3)
    return 0;
  in.p = (const char *)data + 3;
  in.n = size - 3;
  tm_dialect_init(&in.dialect);
  in.dialect.separator = data[0] & 1 ? ';' : ',';
  in.dialect.multi_line = data[0] & 2;
  in.dialect.no_quotes = (data[0] & 0x1c) == 4;
  in.dialect.empty_as_string = data[0] & 0x20;
  in.dialect.misfit = data[0] & 0x40 ? TM_MISFIT_ERROR : TM_MISFIT_NULL;
  in.dialect.ragged = (enum tm_ragged)(data[1] % 3);
  in.dialect.encoding = (enum tm_encoding)(data[1] / 3 % 4);
  in.dialect.limits.record = (data[0] & 0x1c) == 8 ? 1 + data[2] % 64 : 0;
  in.dialect.limits.columns = (data[0] & 0x1c) == 12 ? 1 + data[2] % 8 : 0;
  struct tm_err err = TM_ERR_NONE;
  int64_t got = tm_header_read(&in.dialect, in.p, in.n, true, data[1] & 0x80, &in.schema, &err);
  size_t head = got < 0 ? 0 : (size_t)got;
  fuzz_require(head <= in.n && (got >= 0 || in.schema.len == 0));
  fuzz_require(in.schema.len <= tm_max_columns(&in.dialect.limits));
  if (in.schema.len > 0) {
    if (data[1] & 0x40)
      tm_infer_types(&in.dialect, in.p + head, in.n - head, true, &in.schema);
    in.p += head;
    in.n -= head;
    check_text(&in, data[2]);
  }
  tm_schema_release(&in.schema);
  return 0;
}
