/* frame_text.c - values as text, and quoted fields where a reader would otherwise misread them. */
#include "data/frame/frame_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/frame/frame.h"

/* Adds ".0" to a whole number, so that its column is read back as doubles. */
static void add_finite(struct tm_buf *out, double v)
{
  size_t begin = out->len;
  tm_json_write_number(out, v);
  for (size_t i = begin; i < out->len; i++)
    if (out->data[i] == '.' || out->data[i] == 'e')
      return;
  tm_buf_add_str(out, ".0");
}

static void add_double(struct tm_buf *out, double v)
{
  if (isnan(v))
    tm_buf_add_str(out, "nan");
  else if (isinf(v))
    tm_buf_add_str(out, v > 0 ? "inf" : "-inf");
  else
    add_finite(out, v);
}

/* `digits` digits, with leading zeros. */
static char *put_digits(char *at, int value, int digits)
{
  for (int i = digits; i-- > 0; value /= 10)
    at[i] = (char)('0' + value % 10);
  return at + digits;
}

/* The date of a day counted from 1970-01-01, in the proleptic Gregorian calendar. */
static void add_date(struct tm_buf *out, int64_t days)
{
  int64_t z = days + 719468; /* from 0000-03-01, so that a leap day is the last of its year */
  int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  int64_t day_of_era = z - era * 146097;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t month_from_march = (5 * day_of_year + 2) / 153;
  int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  int64_t year = era * 400 + year_of_era + (month <= 2);
  char text[] = "0000-00-00";
  put_digits(text + 5, (int)month, 2);
  put_digits(text + 8, (int)day, 2);
  if (year >= 0 && year <= 9999) {
    put_digits(text, (int)year, 4);
    tm_buf_add(out, text, 10);
    return;
  }
  tm_buf_printf(out, "%04" PRId64, year);
  tm_buf_add(out, text + 4, 6);
}

static void add_datetime(struct tm_buf *out, int64_t us, bool is_date)
{
  int64_t per_day = INT64_C(86400000000), days = us / per_day, rest = us % per_day;
  if (rest < 0) {
    rest += per_day;
    days--;
  }
  int seconds = (int)(rest / 1000000), fraction = (int)(rest % 1000000), digits = 6;
  char text[] = "T00:00:00.000000Z", *end = text + 9;
  add_date(out, days);
  if (is_date && rest == 0)
    return;
  put_digits(text + 1, seconds / 3600, 2);
  put_digits(text + 4, seconds / 60 % 60, 2);
  put_digits(text + 7, seconds % 60, 2);
  for (; fraction > 0 && fraction % 10 == 0; fraction /= 10)
    digits--;
  if (fraction > 0)
    end = put_digits(end + 1, fraction, digits);
  *end++ = 'Z';
  tm_buf_add(out, text, (size_t)(end - text));
}

void tm_frame_add_value(struct tm_buf *out, const struct tm_column *c, int64_t row)
{
  tm_require(row >= 0 && row < c->len);
  size_t n;
  const char *s;
  if (tm_column_is_null(c, row))
    return;
  switch (c->type) {
  case TM_COLUMN_BOOL: tm_buf_add_str(out, c->b8[row] ? "true" : "false"); break;
  case TM_COLUMN_LONG: tm_buf_add_int(out, c->i64[row]); break;
  case TM_COLUMN_DOUBLE: add_double(out, c->f64[row]); break;
  case TM_COLUMN_STRING:
    s = tm_column_string(c, row, &n);
    tm_buf_add(out, s, n);
    break;
  case TM_COLUMN_DATETIME: add_datetime(out, c->i64[row], c->is_date); break;
  }
}

static bool is_plain(const char *s, size_t n, char separator)
{
  if (n == 0 || s[0] == ' ' || s[n - 1] == ' ' || s[0] == '\t' || s[n - 1] == '\t')
    return false;
  for (size_t i = 0; i < n; i++)
    if (s[i] == separator || s[i] == '"' || s[i] == '\n' || s[i] == '\r')
      return false;
  return true;
}

void tm_frame_add_field(struct tm_buf *out, const char *s, size_t n, char separator)
{
  if (is_plain(s, n, separator)) {
    tm_buf_add(out, s, n);
    return;
  }
  tm_buf_add_char(out, '"');
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '"')
      tm_buf_add_char(out, '"');
    tm_buf_add_char(out, s[i]);
  }
  tm_buf_add_char(out, '"');
}

void tm_frame_add_header(struct tm_buf *out, const char *names, size_t names_len, char separator)
{
  struct tm_reader r;
  size_t begin = out->len;
  tm_reader_init(&r, names, names_len);
  while (r.at < r.end && !r.bad) {
    size_t n = 0;
    const char *name = tm_read_bytes32(&r, &n);
    if (out->len > begin)
      tm_buf_add_char(out, separator);
    tm_frame_add_field(out, n > 0 ? name : "", n, separator);
  }
  tm_buf_add_char(out, '\n');
}

static bool has_line_break(const char *s, size_t n)
{
  return n > 0 && (memchr(s, '\n', n) != NULL || memchr(s, '\r', n) != NULL);
}

static void add_escaped(struct tm_buf *out, const char *s, size_t n, char separator)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\n' || s[i] == '\r' || s[i] == '\\')
      tm_buf_add_char(&text, '\\');
    tm_buf_add_char(&text, s[i] == '\n' ? 'n' : s[i] == '\r' ? 'r' : s[i]);
  }
  tm_frame_add_field(out, tm_buf_str(&text), text.len, separator);
  tm_buf_release(&text);
}

static void add_string(struct tm_buf *out, const char *s, size_t n, char separator, bool escapes)
{
  if (escapes && (has_line_break(s, n) || (n > 0 && memchr(s, '\\', n) != NULL)))
    add_escaped(out, s, n, separator);
  else
    tm_frame_add_field(out, s, n, separator);
}

/* How rows are written. */
struct style {
  char separator;
  bool escapes;  /* line breaks and backslashes of strings */
  bool is_usual; /* no value but a string holds the separator */
};

/* Values that are not strings hold no quote and no blank, but perhaps an unusual separator. */
static void add_other(struct tm_buf *out, const struct tm_column *c, int64_t row,
                      const struct style *style)
{
  size_t begin = out->len;
  tm_frame_add_value(out, c, row);
  if (style->is_usual || out->len == begin ||
      memchr(out->data + begin, style->separator, out->len - begin) == NULL)
    return;
  char *text = tm_xstrndup(out->data + begin, out->len - begin);
  out->len = begin;
  tm_frame_add_field(out, text, strlen(text), style->separator);
  free(text);
}

/* The only field of a row: an empty line would not be a row. */
static void add_only(struct tm_buf *out, const struct tm_column *c, int64_t row)
{
  if (tm_column_is_null(c, row))
    tm_buf_add_str(out, "\"\"");
}

static void add_cell(struct tm_buf *out, const struct tm_column *c, int64_t row,
                     const struct style *style)
{
  size_t n;
  if (c->type != TM_COLUMN_STRING || tm_column_is_null(c, row)) {
    add_other(out, c, row, style);
    return;
  }
  const char *s = tm_column_string(c, row, &n);
  add_string(out, s, n, style->separator, style->escapes);
}

void tm_frame_add_rows(struct tm_buf *out, const struct tm_column *const *columns, size_t n,
                       int64_t len, char separator, bool escapes)
{
  struct style style = { separator, escapes, strchr(",\t; |", separator) != NULL };
  for (int64_t row = 0; row < len; row++) {
    for (size_t i = 0; i < n; i++) {
      if (i > 0)
        tm_buf_add_char(out, separator);
      add_cell(out, columns[i], row, &style);
    }
    if (n == 1)
      add_only(out, columns[0], row);
    tm_buf_add_char(out, '\n');
  }
}

/* As JSON -------------------------------------------------------------------------------------- */

static int add_json_value(struct tm_buf *out, const struct tm_column *c, int64_t row)
{
  size_t n;
  const char *s;
  if (tm_column_is_null(c, row)) {
    tm_buf_add_str(out, "null");
    return 0;
  }
  switch (c->type) {
  case TM_COLUMN_DOUBLE:
    if (isfinite(c->f64[row]))
      add_finite(out, c->f64[row]);
    else
      tm_buf_add_str(out, "null");
    break;
  case TM_COLUMN_STRING:
    s = tm_column_string(c, row, &n);
    if (!tm_text_is_utf8(s, n))
      return TM_EDAMAGE;
    tm_json_write_string(out, s, n);
    break;
  case TM_COLUMN_DATETIME:
    tm_buf_add_char(out, '"');
    tm_frame_add_value(out, c, row);
    tm_buf_add_char(out, '"');
    break;
  default: tm_frame_add_value(out, c, row); break;
  }
  return 0;
}

/* The text before each value, {"a": or ,"b": as bytes32. */
static int add_keys(struct tm_buf *keys, const char *const *names, size_t n, struct tm_err *err)
{
  struct tm_buf key = TM_BUF_NONE;
  for (size_t i = 0; i < n; i++) {
    if (!tm_text_is_utf8(names[i], strlen(names[i]))) {
      tm_buf_release(&key);
      return tm_err_set(err, TM_EDAMAGE, "the name of column %zu has bytes that are not UTF-8",
                        i + 1);
    }
    tm_buf_clear(&key);
    tm_buf_add_char(&key, i == 0 ? '{' : ',');
    tm_json_write_string(&key, names[i], strlen(names[i]));
    tm_buf_add_char(&key, ':');
    tm_buf_add_bytes32(keys, key.data, key.len);
  }
  tm_buf_release(&key);
  return 0;
}

static int add_json_row(struct tm_buf *out, const struct tm_buf *keys,
                        const struct tm_column *const *columns, size_t n, int64_t row,
                        size_t *column)
{
  struct tm_reader r;
  tm_reader_init(&r, tm_buf_str(keys), keys->len);
  for (*column = 0; *column < n; ++*column) {
    size_t len = 0;
    const char *key = tm_read_bytes32(&r, &len);
    tm_buf_add(out, key, len);
    if (add_json_value(out, columns[*column], row) < 0)
      return TM_EDAMAGE;
  }
  tm_buf_add_str(out, n == 0 ? "{}\n" : "}\n");
  return 0;
}

int tm_frame_add_json_rows(struct tm_buf *out, const struct tm_column *const *columns,
                           const char *const *names, size_t n, int64_t len, struct tm_err *err)
{
  struct tm_buf keys = TM_BUF_NONE;
  size_t column = 0;
  int rc = add_keys(&keys, names, n, err);
  for (int64_t row = 0; row < len && rc == 0; row++)
    if ((rc = add_json_row(out, &keys, columns, n, row, &column)) < 0)
      tm_err_set(err, rc, "row %" PRId64 ", column '%s': the string has bytes that are not UTF-8",
                 row + 1, names[column]);
  tm_buf_release(&keys);
  return rc;
}

/* In another order ----------------------------------------------------------------------------- */

/* The length of the field at p, of at most n bytes: up to a separator or line break outside
 * quotes. */
static size_t field_len(const char *p, size_t n, char separator)
{
  bool is_quoted = false;
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '"')
      is_quoted = !is_quoted; /* a doubled quote toggles twice */
    else if (!is_quoted && (p[i] == separator || p[i] == '\n'))
      return i;
  }
  return n;
}

void tm_frame_reorder_rows(struct tm_buf *out, const char *rows, size_t rows_len, char separator,
                           const size_t *from, size_t n)
{
  tm_require(n > 0);
  struct piece {
    const char *at;
    size_t len;
  } *fields = tm_xcalloc(n + 1, sizeof *fields);
  const char *p = rows, *end = rows + rows_len;
  while (p < end) {
    for (size_t i = 0; i < n; i++) {
      fields[i] = (struct piece) { p, field_len(p, (size_t)(end - p), separator) };
      p += fields[i].len;
      /* skips what ended it; a row with too few fields, which our workers do not send, ends at the
       * end */
      p += p < end;
    }
    for (size_t i = 0; i < n; i++) {
      if (i > 0)
        tm_buf_add_char(out, separator);
      if (fields[from[i]].len > 0)
        tm_buf_add(out, fields[from[i]].at, fields[from[i]].len);
    }
    tm_buf_add_char(out, '\n');
  }
  free(fields);
}
