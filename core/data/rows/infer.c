/* infer.c - the types that fit all texts of a column. */
#include "data/rows/infer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/frame/frame.h"
#include "data/rows/delimited.h"
#include "data/rows/value.h"

#define BIT(type) (1u << (type))
#define PIECE     ((size_t)256 << 10) /* bytes of rows that are parsed at once */

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_word(const char *p, size_t n)
{
  uint8_t b;
  return n > 1 && tm_value_bool(p, n, &b);
}

/* Only digits, but not a number that would print the same. */
static bool is_code(const char *p, size_t n)
{
  int64_t x;
  size_t i = n > 0 && (p[0] == '-' || p[0] == '+');
  bool has_zero = n - i > 1 && p[i] == '0' && is_digit(p[i + 1]);
  if (has_zero)
    return true;
  while (i < n && is_digit(p[i]))
    i++;
  return i == n && !tm_value_long(p, n, &x);
}

unsigned tm_infer_text(const char *p, size_t n)
{
  unsigned set = BIT(TM_COLUMN_STRING);
  int64_t i;
  double x;
  if (is_word(p, n))
    return set | BIT(TM_COLUMN_BOOL);
  if (tm_value_datetime(p, n, &i))
    return set | BIT(TM_COLUMN_DATETIME) | (tm_value_is_date(p, n) ? TM_INFER_DATE : 0);
  if (is_code(p, n) || !tm_value_double(p, n, &x))
    return set;
  set |= BIT(TM_COLUMN_DOUBLE);
  return tm_value_long(p, n, &i) ? set | BIT(TM_COLUMN_LONG) : set;
}

static enum tm_column_type type_of_set(unsigned set)
{
  static const enum tm_column_type order[] = { TM_COLUMN_BOOL, TM_COLUMN_LONG, TM_COLUMN_DOUBLE,
                                               TM_COLUMN_DATETIME };
  for (size_t i = 0; i < TM_COUNT_OF(order); i++)
    if ((set & BIT(order[i])) != 0)
      return order[i];
  return TM_COLUMN_STRING;
}

void tm_infer_of_set(struct tm_schema_column *c, unsigned set)
{
  c->type = type_of_set(set);
  c->is_date = (set & TM_INFER_DATE) != 0;
}

/* Narrows the types of the column by one more piece. */
static unsigned char narrow_set(unsigned set, const struct tm_column *c)
{
  for (int64_t row = 0; row < c->len; row++) {
    size_t n;
    const char *p = tm_column_string(c, row, &n);
    if (tm_column_is_null(c, row))
      continue;
    set = set == 0 ? tm_infer_text(p, n) : set & tm_infer_text(p, n);
  }
  return (unsigned char)set;
}

/* Parses some whole rows at a time: with many columns, a frame of all rows would take too much
 * memory. sets[i]: 0, no value yet. */
static void infer_rows(struct tm_delimited *reader, const char *p, size_t n, bool is_whole,
                       unsigned char *sets)
{
  struct tm_arena arena = { 0 };
  struct tm_data_frame frame;
  struct tm_err err = TM_ERR_NONE;
  size_t at = 0, most = PIECE;
  while (at < n) {
    size_t left = n - at, len = left < most ? left : most;
    tm_arena_clear(&arena);
    tm_delimited_begin(reader, &arena, &(struct tm_delimited_source) { .at = 0 });
    int64_t got = tm_delimited_add(reader, p + at, len, is_whole && len == left, &err);
    if (got < 0 || (got == 0 && len == left))
      break;
    tm_delimited_end(reader, &frame);
    for (size_t i = 0; i < frame.n; i++)
      sets[i] = narrow_set(sets[i], &frame.columns[i]);
    at += (size_t)got;
    most = got == 0 ? most * 2 : PIECE;
  }
  tm_arena_release(&arena);
}

void tm_infer_types(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                    struct tm_schema *schema)
{
  struct tm_scan scan;
  struct tm_dialect lenient = *d;
  unsigned char *sets = tm_xcalloc(schema->len, sizeof *sets);
  lenient.ragged = TM_RAGGED_NULL;
  lenient.misfit = TM_MISFIT_NULL;
  lenient.empty_as_string = false;
  tm_scan_init(&scan, d, TM_SCAN_BEST);
  size_t len = tm_scan_rows(&scan, p, n, TM_INFER_ROWS);
  struct tm_delimited *reader = tm_delimited_new(&lenient, schema, TM_SCAN_BEST);
  infer_rows(reader, p, len, is_whole || scan.rows == TM_INFER_ROWS, sets);
  for (size_t i = 0; i < schema->len; i++)
    if (!schema->columns[i].of_file)
      tm_infer_of_set(&schema->columns[i], sets[i]);
  tm_delimited_free(reader);
  free(sets);
}

void tm_infer_dates(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                    struct tm_schema *schema)
{
  tm_infer_types(d, p, n, is_whole, schema);
  for (size_t i = 0; i < schema->len; i++)
    if (!schema->columns[i].of_file)
      schema->columns[i].type = TM_COLUMN_STRING;
}

bool tm_infer_needs_dates(const struct tm_column_setting *settings, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (settings[i].type == TM_COLUMN_DATETIME && settings[i].formats_len == 0)
      return true;
  return false;
}

int tm_infer_set(struct tm_schema *schema, const struct tm_column_setting *settings, size_t len,
                 struct tm_err *err)
{
  for (size_t i = 0; i < len; i++) {
    const struct tm_column_setting *s = &settings[i];
    long at = tm_schema_find(schema, s->name, strlen(s->name));
    if (at < 0) {
      tm_schema_refuse(schema, s->name, err);
      return tm_err_wrap(err, "set_column_types");
    }
    for (size_t k = 0; k < s->formats_len; k++) {
      const char *bad = tm_value_bad_format(s->formats[k]);
      if (bad != NULL)
        return tm_err_set(err, TM_EUSAGE,
                          "set_column_types, column '%s': '%%%c' in the format '%s' is not known; "
                          "it is one of %%Y %%y %%m %%b %%B %%d %%H %%I %%M %%S %%f %%p %%z %%%%",
                          s->name, *bad, s->formats[k]);
    }
    tm_schema_set_type(&schema->columns[at], s->type, s->formats, s->formats_len);
  }
  return 0;
}
