/* row_boundaries.c - a window that moves over the file, and a scan in it.
 *
 *    window  [ bytes of the file, from window.at ]   UTF-16: one byte per unit, `unit` is 2
 *
 * A range ends after the first row end at or after begin + range_bytes. When probing, the window
 * jumps there: the text before that place does not matter to a scan of lines.
 */
#include "data/rows/row_boundaries.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/rows/encoding.h"
#include "data/rows/header.h"
#include "data/rows/scan.h"

#define WINDOW ((size_t)256 << 10)
#define PROBE  ((size_t)16 << 10) /* bytes of the first look for a boundary */
#define TAIL   4096               /* a shorter last range is checked for a row */

struct tm_row_boundaries {
  struct tm_row_boundaries_options o;
  struct tm_scan scan;
  bool is_counted; /* ranges know their rows: never if this or a later run could probe for them */
  bool is_probing, has_begun, has_ended;
  bool big_endian;
  bool has_text; /* the current range: has more than line breaks; */
  bool is_open;  /* its last row has no line break */
  size_t unit;   /* bytes per character: 1 or 2 */
  int64_t begin; /* of the next range */
  int64_t size;  /* -1 until the end was seen */
  struct tm_buf raw, text, header;
  int64_t at; /* offset of `raw` */
};

struct tm_row_boundaries *tm_row_boundaries_new(const struct tm_row_boundaries_options *options)
{
  struct tm_row_boundaries *b = TM_NEW(struct tm_row_boundaries);
  bool is_plain = options->dialect->no_quotes || !options->dialect->multi_line;
  b->o = *options;
  b->size = options->size;
  b->is_counted = !is_plain || options->range_rows > 0 || options->with_rows ||
                  (options->size < 0 && !options->will_have_size);
  b->is_probing = !b->is_counted && options->size >= 0;
  b->unit = options->dialect->encoding == TM_ENCODING_UTF16 ? 2 : 1;
  tm_scan_init(&b->scan, options->dialect, TM_SCAN_BEST);
  return b;
}

void tm_row_boundaries_free(struct tm_row_boundaries *b)
{
  if (b == NULL)
    return;
  tm_buf_release(&b->raw);
  tm_buf_release(&b->text);
  tm_buf_release(&b->header);
  free(b);
}

const char *tm_row_boundaries_header(const struct tm_row_boundaries *b, size_t *n)
{
  *n = b->header.len;
  return tm_buf_str(&b->header);
}

int64_t tm_row_boundaries_size(const struct tm_row_boundaries *b)
{
  return b->size;
}

/* Moves the window to `at`, with up to n bytes; their text is what is scanned. Returns the bytes of
 * the text. */
static int64_t look(struct tm_row_boundaries *b, int64_t at, size_t n, struct tm_err *err)
{
  tm_buf_clear(&b->raw);
  tm_buf_clear(&b->text);
  int64_t got = b->o.read(b->o.data, tm_buf_extend(&b->raw, n), n, at, err);
  if (got < 0)
    return got;
  b->raw.len = (size_t)got;
  b->at = at;
  if ((size_t)got < n)
    b->size = at + got;
  if (b->unit == 2)
    tm_utf16_narrow(tm_buf_extend(&b->text, (size_t)got / 2), b->raw.data, (size_t)got & ~(size_t)1,
                    b->big_endian);
  return got / (int64_t)b->unit;
}

static const char *text_of(const struct tm_row_boundaries *b)
{
  return b->unit == 2 ? tm_buf_str(&b->text) : tm_buf_str(&b->raw);
}

static size_t text_len(const struct tm_row_boundaries *b)
{
  return b->unit == 2 ? b->text.len : b->raw.len;
}

/* Whether the text has only line breaks. */
static bool is_empty(const char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (p[i] != '\n' && p[i] != '\r')
      return false;
  return true;
}

static void keep_header(struct tm_row_boundaries *b, const char *p, size_t n)
{
  struct tm_utf16 u = { .big_endian = b->big_endian };
  size_t bad = 0;
  if (b->unit == 2)
    tm_utf16_add(&u, &b->header, p, n, &bad);
  else
    tm_buf_add(&b->header, p, n);
}

/* Returns the text from `at` on, and moves the window if necessary; n is 0 at the end of the
 * file. */
static const char *text_at(struct tm_row_boundaries *b, int64_t at, size_t want, size_t *n,
                           struct tm_err *err)
{
  int64_t end = b->at + (int64_t)(text_len(b) * b->unit);
  if (at < b->at || at >= end) {
    if (look(b, at, want, err) < 0)
      return NULL;
  }
  size_t from = (size_t)(at - b->at) / b->unit;
  *n = text_len(b) - from;
  return text_of(b) + from;
}

/* Finds the end of the header. It is measured window by window before it is read as a whole. */
static int find_header(struct tm_row_boundaries *b, int64_t mark, struct tm_first_row *row,
                       struct tm_err *err)
{
  size_t n = 1;
  tm_first_row_begin(row, b->o.dialect, mark, b->unit);
  while (!row->is_done && n > 0) {
    const char *p = text_at(b, mark + (int64_t)(row->text * b->unit), WINDOW, &n, err);
    int rc = p == NULL ? err->code : tm_first_row_add(row, p, n, err);
    if (rc < 0)
      return rc;
  }
  return 0;
}

/* Finds the first row of values, and stores the header. */
static int begin(struct tm_row_boundaries *b, struct tm_err *err)
{
  struct tm_first_row row;
  if (look(b, 0, WINDOW, err) < 0)
    return err->code;
  size_t mark = tm_header_mark(b->o.dialect->encoding, b->raw.data, b->raw.len, &b->big_endian);
  if (b->big_endian)
    tm_utf16_narrow(b->text.data, b->raw.data, b->raw.len & ~(size_t)1, true);
  b->begin = (int64_t)mark;
  if (!b->o.has_header)
    return 0;
  int rc = find_header(b, (int64_t)mark, &row, err);
  if (rc < 0)
    return rc;
  b->begin += (int64_t)(row.text * b->unit);
  size_t len = row.record * b->unit;
  int64_t from = b->begin - (int64_t)len;
  if (from < b->at && look(b, from, len, err) < 0)
    return err->code;
  keep_header(b, b->raw.data + (from - b->at), len);
  return 0;
}

/* Scans the file from `*at`, until it has passed `until` row ends or reached `stop`. 1: it did; 0:
 * at the end of the file. */
static int go(struct tm_row_boundaries *b, int64_t *at, int64_t stop, uint64_t until, size_t want,
              struct tm_err *err)
{
  while (*at < stop && b->scan.rows < until) {
    size_t n;
    const char *p = text_at(b, *at, want, &n, err);
    if (p == NULL)
      return err->code;
    if (n == 0)
      return 0;
    if (stop - *at < (int64_t)(n * b->unit))
      n = (size_t)(stop - *at + (int64_t)b->unit - 1) / b->unit;
    n = tm_scan_rows(&b->scan, p, n, until);
    *at += (int64_t)(n * b->unit);
    b->has_text = b->has_text || !is_empty(p, n);
    b->is_open = p[n - 1] != '\n' || b->scan.state == TM_SCAN_QUOTED;
    want = WINDOW;
  }
  return 1;
}

/* Finds the end of the range that begins at `begin`. 1; 0 at the end of the file. */
static int find_end(struct tm_row_boundaries *b, int64_t *at, struct tm_err *err)
{
  int64_t far = b->o.range_bytes > INT64_MAX / 2 ? INT64_MAX / 2 : b->o.range_bytes;
  int rc = 1;
  *at = b->begin;
  if (b->o.range_rows > 0)
    return go(b, at, INT64_MAX, b->scan.rows + (uint64_t)b->o.range_rows, WINDOW, err);
  /* The row end may be the last character before the place. */
  far = b->begin + (far > (int64_t)b->unit ? (far - 1) / (int64_t)b->unit * (int64_t)b->unit : 0);
  if (b->o.expect != NULL)
    b->o.expect(b->o.data, far);
  if (b->is_probing && far >= b->o.size) {
    *at = b->o.size;
    return 0;
  }
  if (b->is_probing)
    *at = far;
  else
    rc = go(b, at, far, UINT64_MAX, WINDOW, err);
  return rc <= 0 ? rc : go(b, at, INT64_MAX, b->scan.rows + 1, b->is_probing ? PROBE : WINDOW, err);
}

/* Whether a row begins in the range; an odd last byte of UTF-16 does not count. */
static int has_row(struct tm_row_boundaries *b, const struct tm_range *range, struct tm_err *err)
{
  size_t n, len = (size_t)(range->end - range->begin) / b->unit;
  if (b->is_counted)
    return b->has_text;
  if (len == 0 || range->end - range->begin > TAIL)
    return len != 0;
  if (!b->is_probing)
    return b->has_text;
  if (range->end > b->at + (int64_t)b->raw.len && look(b, range->begin, TAIL, err) < 0)
    return err->code;
  const char *p = text_at(b, range->begin, TAIL, &n, err);
  if (p == NULL)
    return err->code;
  return !is_empty(p, len < n ? len : n);
}

static int next_range(struct tm_row_boundaries *b, struct tm_range *out, struct tm_err *err)
{
  uint64_t before = b->scan.rows;
  int64_t end;
  b->has_text = b->is_open = false;
  int rc = find_end(b, &end, err);
  if (rc < 0)
    return rc;
  if (rc == 0) {
    b->has_ended = true;
    b->size = b->size > end ? b->size : end;
    b->scan.rows += b->is_open;
    end = b->size;
  }
  *out = (struct tm_range) { b->begin, end, b->is_counted ? (int64_t)before : -1,
                             b->is_counted ? (int64_t)(b->scan.rows - before) : -1 };
  b->begin = end;
  return has_row(b, out, err);
}

int tm_row_boundaries_next(struct tm_row_boundaries *b, struct tm_range *out, struct tm_err *err)
{
  int rc = 0;
  if (!b->has_begun) {
    rc = begin(b, err);
    if (rc < 0)
      return rc;
    b->has_begun = true;
  }
  while (rc == 0 && !b->has_ended)
    rc = next_range(b, out, err);
  return rc;
}
