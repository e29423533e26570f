/* json_write.c - a tree as text.
 *
 * The output is valid UTF-8 and valid JSON whatever the tree holds: a byte that is not UTF-8
 * becomes U+FFFD, a number that is not finite becomes null. The same tree gives the same bytes on
 * every host: numbers are written without the locale, and `sorted` orders keys as bytes.
 *
 * Members are written by recursion, as deep as the tree is.
 */
#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

#define PLACES_FEW 6 /* decimal places that add_few() tries */

enum { NUMBER_MAX = 32 }; /* bytes; "-1.7976931348623157e+308" */

static bool is_plain(unsigned char c)
{
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Adds one byte that is not plain ASCII, or the character that begins there; returns the number of
 * bytes read. */
static size_t add_special(struct tm_buf *out, const char *s, size_t n)
{
  unsigned char c = (unsigned char)*s;
  if (c >= 0x80) {
    size_t len = tm_text_utf8_len(s, n);
    tm_buf_add(out, len ? s : REPLACEMENT, len ? len : strlen(REPLACEMENT));
    return len ? len : 1;
  }
  switch (c) {
  case '"': tm_buf_add_str(out, "\\\""); break;
  case '\\': tm_buf_add_str(out, "\\\\"); break;
  case '\b': tm_buf_add_str(out, "\\b"); break;
  case '\f': tm_buf_add_str(out, "\\f"); break;
  case '\n': tm_buf_add_str(out, "\\n"); break;
  case '\r': tm_buf_add_str(out, "\\r"); break;
  case '\t': tm_buf_add_str(out, "\\t"); break;
  default: tm_buf_printf(out, "\\u%04x", c);
  }
  return 1;
}

void tm_json_write_string(struct tm_buf *out, const char *s, size_t len)
{
  tm_buf_add_char(out, '"');
  for (size_t i = 0; i < len;) {
    size_t run = i;
    while (run < len && is_plain((unsigned char)s[run]))
      run++;
    tm_buf_add(out, s + i, run - i);
    i = run;
    if (i < len)
      i += add_special(out, s + i, len - i);
  }
  tm_buf_add_char(out, '"');
}

/* v = m / 2^shift, exactly; 0.0001 <= v < 10^15. Returns the integer nearest to v * 10^places, half
 * to even. */
static uint64_t scaled(uint64_t m, int shift, int places, bool *reads_back)
{
  unsigned __int128 ten = 1;
  for (int i = 0; i < places; i++)
    ten *= 10;
  unsigned __int128 exact = m * ten, one = (unsigned __int128)1 << shift;
  unsigned __int128 n = exact >> shift, rest = exact - (n << shift);
  bool is_up = rest > one / 2 || (rest == one / 2 && (n & 1) != 0);
  unsigned __int128 off = is_up ? one - rest : rest;
  /* v is the nearest double to n / 10^places if they differ by less than half a step; a step down
   * from a power of two is half as long. */
  unsigned __int128 steps = m == (uint64_t)1 << 52 && !is_up ? 4 : 2;
  *reads_back = off * steps < ten || (off * steps == ten && (m & 1) == 0);
  return (uint64_t)n + is_up;
}

/* n / 10^places, without trailing zeros. */
static void add_scaled(struct tm_buf *out, uint64_t n, int places)
{
  char digits[24];
  while (places > 0 && n % 10 == 0) {
    n /= 10;
    places--;
  }
  int at = (int)sizeof digits;
  for (int i = 0; n > 0 || i <= places; i++, n /= 10) {
    if (i == places && places > 0)
      digits[--at] = '.';
    digits[--at] = (char)('0' + n % 10);
  }
  tm_buf_add(out, digits + at, sizeof digits - (size_t)at);
}

/* Covers most numbers that people write. m / 10^k is rounded once, because both are exact, so a
 * result equal to `a` is what %.15g would print (a double tells any two numbers of 15 digits
 * apart). */
static bool add_few(struct tm_buf *out, double a)
{
  int64_t scale = 10;
  for (int places = 1; places <= PLACES_FEW && a * (double)scale < 1e15; places++, scale *= 10) {
    int64_t digits = (int64_t)(a * (double)scale + 0.5);
    if ((double)digits / (double)scale != a || digits >= INT64_C(1000000000000000))
      continue;
    char text[PLACES_FEW + 1] = { '.' };
    tm_buf_add_int(out, digits / scale);
    digits %= scale;
    for (int i = places; i > 0; i--, digits /= 10)
      text[i] = (char)('0' + digits % 10);
    tm_buf_add(out, text, (size_t)places + 1);
    return true;
  }
  return false;
}

/* Adds the same as add_shortest(), many times faster, with 128-bit integers. False: `v` is out of
 * their range, or would have an exponent. */
static bool add_decimal(struct tm_buf *out, double v)
{
  static const double powers[] = { 1e-3, 1e-2, 1e-1, 1,   1e1,  1e2,  1e3,  1e4,  1e5,
                                   1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14 };
  double a = fabs(v);
  if (a < 1e-4 || a >= 1e15)
    return false;
  if (v < 0)
    tm_buf_add_char(out, '-');
  if (add_few(out, a))
    return true;
  uint64_t bits, n = 0;
  memcpy(&bits, &a, sizeof bits);
  int places = 14 + 4, shift = 1023 + 52 - (int)(bits >> 52);
  uint64_t m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
  for (size_t i = 0; i < TM_COUNT_OF(powers) && a >= powers[i]; i++)
    places--;
  bool reads_back = false;
  for (int digits = 15; digits <= 17 && !reads_back; digits++, places++)
    n = scaled(m, shift, places, &reads_back);
  add_scaled(out, n, places - 1); /* 17 digits always read back */
  return true;
}

/* The first of 15, 16 and 17 digits that reads back as the same double. */
static void add_shortest(struct tm_buf *out, double v)
{
  char text[NUMBER_MAX];
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  tm_require(c != (locale_t)0);
  locale_t before = uselocale(c);
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if (strtod(text, NULL) == v)
      break;
  }
  uselocale(before);
  freelocale(c);
  tm_buf_add_str(out, text);
}

void tm_json_write_number(struct tm_buf *out, double v)
{
  if (!isfinite(v))
    tm_buf_add_str(out, "null");
  else if (v == 0 && signbit(v))
    tm_buf_add_str(out, "-0");
  else if (fabs(v) < 0x1p53 && (double)(int64_t)v == v)
    tm_buf_add_int(out, (int64_t)v);
  else if (!add_decimal(out, v))
    add_shortest(out, v);
}

struct member {
  const char *key;
  const struct tm_json *value;
};

static int by_key(const void *a, const void *b)
{
  return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static struct member *sorted_members(const struct tm_json *v)
{
  struct member *members = tm_xcalloc(v->list.len, sizeof *members);
  for (size_t i = 0; i < v->list.len; i++)
    members[i] = (struct member) { v->keys[i], v->list.at[i] };
  qsort(members, v->list.len, sizeof *members, by_key);
  return members;
}

static void add_line(struct tm_buf *out, struct tm_json_style style, size_t depth)
{
  if (style.indent <= 0)
    return;
  size_t blanks = depth * (size_t)style.indent;
  tm_buf_add_char(out, '\n');
  memset(tm_buf_extend(out, blanks), ' ', blanks);
}

static void write_value(struct tm_buf *out, const struct tm_json *v, struct tm_json_style style,
                        size_t depth);

static void write_list(struct tm_buf *out, const struct tm_json *v, struct tm_json_style style,
                       size_t depth)
{
  bool is_object = v->type == TM_JSON_OBJECT;
  struct member *members = is_object && style.sorted ? sorted_members(v) : NULL;
  tm_buf_add_char(out, is_object ? '{' : '[');
  for (size_t i = 0; i < v->list.len; i++) {
    if (i > 0)
      tm_buf_add_char(out, ',');
    add_line(out, style, depth + 1);
    if (is_object) {
      const char *key = members ? members[i].key : v->keys[i];
      tm_json_write_string(out, key, strlen(key));
      tm_buf_add_str(out, style.indent > 0 ? ": " : ":");
    }
    write_value(out, members ? members[i].value : v->list.at[i], style, depth + 1);
  }
  if (v->list.len > 0)
    add_line(out, style, depth);
  tm_buf_add_char(out, is_object ? '}' : ']');
  free(members);
}

static void write_value(struct tm_buf *out, const struct tm_json *v, struct tm_json_style style,
                        size_t depth)
{
  switch (v->type) {
  case TM_JSON_NULL: tm_buf_add_str(out, "null"); break;
  case TM_JSON_BOOL: tm_buf_add_str(out, v->boolean ? "true" : "false"); break;
  case TM_JSON_INT: tm_buf_add_int(out, v->integer); break;
  case TM_JSON_NUMBER: tm_json_write_number(out, v->number); break;
  case TM_JSON_STRING: tm_json_write_string(out, v->string.at, v->string.len); break;
  case TM_JSON_ARRAY:
  case TM_JSON_OBJECT: write_list(out, v, style, depth);
  }
}

void tm_json_write(struct tm_buf *out, const struct tm_json *v, struct tm_json_style style)
{
  write_value(out, v, style, 0);
}

char *tm_json_text(const struct tm_json *v)
{
  struct tm_buf out = TM_BUF_NONE;
  if (!v)
    return NULL;
  tm_json_write(&out, v, (struct tm_json_style) { 0 });
  return tm_buf_take(&out);
}
