/* fuzz_json_lines.c - lines of JSON objects.
 *
 *  (1) A line is a row exactly when the other parser, base/json.h, reads it as an object. (That one
 *      also accepts an unfinished word or string after the object.)
 *  (2) Text in two pieces produces the same rows as in one.
 *  (3) A string of the frame is UTF-8, and equals the other parser's value for its key.
 */
#include "fuzz.h"

#include "base/json.h"
#include "base/text.h"
#include "data/rows/json_infer.h"
#include "data/rows/json_scan.h"

static struct tm_arena arena; /* kept from input to input */

static int64_t read_lines(const struct tm_schema *schema, const char *p, size_t n, size_t cut,
                          size_t longest, struct tm_data_frame *out)
{
  struct tm_json_lines_options o = { .drop_invalid = true, .limits.record = longest };
  struct tm_json_lines *j = tm_json_lines_new(&o, schema);
  struct tm_err err = TM_ERR_NONE;
  tm_arena_clear(&arena);
  tm_json_lines_begin(j, &arena, 0, NULL);
  int64_t got = tm_json_lines_add(j, p, cut, false, &err);
  fuzz_require(got >= 0 && (size_t)got <= cut);
  fuzz_require(tm_json_lines_add(j, p + got, n - (size_t)got, true, &err) == (int64_t)n - got);
  tm_json_lines_end(j, out);
  int64_t rows = tm_json_lines_counts(j)->rows;
  tm_json_lines_free(j);
  return rows;
}

static void check_string(const struct tm_data_frame *frame, size_t column, int64_t row,
                         const struct tm_json *object)
{
  const struct tm_column *c = &frame->columns[column];
  const struct tm_json *v = tm_json_get(object, frame->names[column]);
  size_t n;
  if (c->type != TM_COLUMN_STRING)
    return;
  fuzz_require(tm_column_is_null(c, row) == (v == NULL || v->type == TM_JSON_NULL));
  if (tm_column_is_null(c, row))
    return;
  const char *p = tm_column_string(c, row, &n);
  fuzz_require(tm_text_is_utf8(p, n));
  if (v->type == TM_JSON_STRING)
    fuzz_require(v->string.len == n && (n == 0 || memcmp(v->string.at, p, n) == 0)); /* (3) */
}

/* The other parser's verdict on the line. It has its own limits for numbers, refuses a NUL in a
 * key, and treats VT and FF as blanks. */
static bool other_says(const char *p, size_t n, struct tm_json **out, bool *is_limit)
{
  struct tm_err err = TM_ERR_NONE;
  *out = tm_json_parse(p, n, &err);
  *is_limit = *out == NULL && (err.code == TM_ELIMIT || strstr(err.text, "NUL") != NULL);
  *is_limit |= memchr(p, '\v', n) != NULL || memchr(p, '\f', n) != NULL;
  return *out != NULL && (*out)->type == TM_JSON_OBJECT;
}

static bool is_blank(const char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (strchr(" \t\r", p[i]) == NULL || p[i] == '\0')
      return false;
  return true;
}

/* An object, followed by something else. */
static bool has_more(const char *p, size_t n)
{
  struct tm_slice all;
  const char *end = p + n, *behind = tm_json_scan_blanks(p, end);
  behind = tm_json_scan(behind, end, &all);
  return behind != NULL && tm_json_scan_blanks(behind, end) != end;
}

static int64_t check_line(const struct tm_schema *schema, const char *p, size_t n)
{
  struct tm_data_frame frame;
  struct tm_json *object;
  bool is_limit;
  bool want = other_says(p, n, &object, &is_limit);
  int64_t rows = read_lines(schema, p, n, n, 0, &frame);
  fuzz_require(is_limit || rows == (want && !is_blank(p, n) && !has_more(p, n))); /* (1) */
  for (size_t i = 0; want && rows > 0 && i < frame.n; i++)
    check_string(&frame, i, 0, object);
  tm_json_free(object);
  return rows;
}

/* In one piece and in two, with and without limits; the first result is kept. */
static void infer(const char *p, size_t n, size_t cut, size_t longest, struct tm_schema *schema)
{
  for (int i = 0; i < 4; i++) {
    struct tm_schema again = { 0 };
    struct tm_json_lines_options o = { .drop_invalid = i < 2,
                                       .limits = { i < 2 ? 0 : 3, i < 2 ? 0 : longest } };
    struct tm_json_infer *f = tm_json_infer_new(&o, 200, i == 0 ? schema : &again);
    struct tm_err err = TM_ERR_NONE;
    int64_t got = i & 1 ? tm_json_infer_add(f, p, cut, false, &err) : 0;
    fuzz_require(got <= (int64_t)cut);
    if (got >= 0)
      got = tm_json_infer_add(f, p + got, n - (size_t)got, true, &err);
    tm_json_infer_end(f);
    fuzz_require(got >= 0 || i >= 2);
    fuzz_require(i != 1 || tm_schema_is_equal(schema, &again));
    fuzz_require(i < 2 || again.len <= 3);
    tm_schema_release(&again);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *p = (const char *)data + (size > 0);
  size_t n = size - (size > 0), cut = size > 0 ? data[0] % (n + 1) : 0, longest = cut % 32 + 1;
  struct tm_schema schema = { 0 };
  struct tm_data_frame frame;
  int64_t rows = 0;
  infer(p, n, cut, longest, &schema);
  for (size_t at = 0; at < n;) {
    const char *line = memchr(p + at, '\n', n - at);
    size_t len = line == NULL ? n - at : (size_t)(line - p) - at;
    rows += check_line(&schema, p + at, len);
    at += len + 1;
  }
  fuzz_require(read_lines(&schema, p, n, cut, 0, &frame) == rows); /* (2) */
  rows = read_lines(&schema, p, n, n, longest, &frame);
  fuzz_require(read_lines(&schema, p, n, cut, longest, &frame) == rows); /* (2) */
  tm_schema_release(&schema);
  return 0;
}
