/* json_scan.c - the grammar of JSON, without a stack on the heap: bits hold the kinds of open
 * brackets. */
#include "data/rows/json_scan.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

const char *tm_json_scan_blanks(const char *p, const char *end)
{
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
    p++;
  return p;
}

static bool is_hex(const char *p, int n)
{
  for (int i = 0; i < n; i++) {
    char c = p[i] | 0x20;
    if (!(p[i] >= '0' && p[i] <= '9') && !(c >= 'a' && c <= 'f' && p[i] > '9'))
      return false;
  }
  return true;
}

/* After a '\'. Returns the length of the escape; 0: invalid. */
static size_t escape_len(const char *p, const char *end)
{
  if (p == end)
    return 0;
  if (*p == 'u')
    return end - p >= 5 && is_hex(p + 1, 4) ? 5 : 0;
  return memchr("\"\\/bfnrt", *p, 8) != NULL;
}

/* Skips ordinary characters of a string, eight at a time. */
static const char *skip_plain(const char *p, const char *end)
{
  const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
  for (; end - p >= 8; p += 8) {
    uint64_t x;
    memcpy(&x, p, 8);
    uint64_t quote = x ^ (ones * '"'), slash = x ^ (ones * '\\');
    uint64_t found =
        (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | (x - ones * 0x20) | x) & highs;
    if (found != 0)
      break;
  }
  return p;
}

/* p is after the first quote. */
static const char *scan_string(const char *p, const char *end, struct tm_slice *out)
{
  const char *from = p;
  out->kind = TM_SLICE_STRING;
  out->has_escapes = false;
  for (;;) {
    size_t n = 1;
    p = skip_plain(p, end);
    if (p == end || (unsigned char)*p < 0x20)
      return NULL;
    if (*p == '"')
      break;
    if (*p == '\\') {
      n = escape_len(p + 1, end);
      if (n++ == 0)
        return NULL;
      out->has_escapes = true;
    } else if ((unsigned char)*p >= 0x80) {
      n = tm_text_utf8_len(p, (size_t)(end - p));
      if (n == 0)
        return NULL;
    }
    p += n;
  }
  out->p = from;
  out->n = (size_t)(p - from);
  return p + 1;
}

static const char *skip_digits(const char *p, const char *end)
{
  while (p < end && *p >= '0' && *p <= '9')
    p++;
  return p;
}

static const char *scan_number(const char *p, const char *end, struct tm_slice *out)
{
  const char *from = p, *digits;
  p += *p == '-';
  digits = p;
  p = skip_digits(p, end);
  if (p == digits || (*digits == '0' && p - digits > 1))
    return NULL;
  if (p < end && *p == '.') {
    digits = ++p;
    p = skip_digits(p, end);
    if (p == digits)
      return NULL;
  }
  if (p < end && (*p | 0x20) == 'e') {
    p++;
    p += p < end && (*p == '-' || *p == '+');
    digits = p;
    p = skip_digits(p, end);
    if (p == digits)
      return NULL;
  }
  *out = (struct tm_slice) { TM_SLICE_NUMBER, false, from, (size_t)(p - from) };
  return p;
}

static const char *scan_word(const char *p, const char *end, enum tm_slice_kind kind,
                             const char *word, struct tm_slice *out)
{
  size_t n = strlen(word);
  if ((size_t)(end - p) < n || memcmp(p, word, n) != 0)
    return NULL;
  *out = (struct tm_slice) { kind, false, p, n };
  return p + n;
}

/* Any value except arrays and objects. */
static const char *scan_simple(const char *p, const char *end, struct tm_slice *out)
{
  switch (*p) {
  case '"': return scan_string(p + 1, end, out);
  case 't': return scan_word(p, end, TM_SLICE_TRUE, "true", out);
  case 'f': return scan_word(p, end, TM_SLICE_FALSE, "false", out);
  case 'n': return scan_word(p, end, TM_SLICE_NULL, "null", out);
  default: return scan_number(p, end, out);
  }
}

struct nest {
  unsigned char is_object[TM_JSON_SCAN_DEPTH];
  int depth;
};

/* A key and its colon. */
static const char *scan_key(const char *p, const char *end, struct tm_slice *out)
{
  if (p == end || *p != '"' || (p = scan_string(p + 1, end, out)) == NULL)
    return NULL;
  p = tm_json_scan_blanks(p, end);
  return p < end && *p == ':' ? tm_json_scan_blanks(p + 1, end) : NULL;
}

/* An opening bracket. Returns where the first value begins; *is_empty: the closing bracket is
 * there. */
static const char *open_nest(struct nest *nest, const char *p, const char *end, bool *is_empty)
{
  struct tm_slice key;
  if (nest->depth == TM_JSON_SCAN_DEPTH)
    return NULL;
  bool is_object = *p == '{';
  nest->is_object[nest->depth++] = is_object;
  p = tm_json_scan_blanks(p + 1, end);
  *is_empty = p < end && *p == (is_object ? '}' : ']');
  return *is_empty || !is_object ? p : scan_key(p, end, &key);
}

/* After a value: closes brackets. Returns where the next value begins, or the end of the outermost
 * bracket. */
static const char *after_value(struct nest *nest, const char *p, const char *end)
{
  struct tm_slice key;
  while (nest->depth > 0) {
    bool is_object = nest->is_object[nest->depth - 1];
    p = tm_json_scan_blanks(p, end);
    if (p == end)
      return NULL;
    if (*p == ',') {
      p = tm_json_scan_blanks(p + 1, end);
      return is_object ? scan_key(p, end, &key) : p;
    }
    if (*p != (is_object ? '}' : ']'))
      return NULL;
    p++;
    nest->depth--;
  }
  return p;
}

const char *tm_json_scan(const char *p, const char *end, struct tm_slice *out)
{
  struct nest nest = { .depth = 0 };
  struct tm_slice inner;
  if (p == end)
    return NULL;
  if (*p != '{' && *p != '[')
    return scan_simple(p, end, out);
  const char *from = p;
  enum tm_slice_kind kind = *p == '{' ? TM_SLICE_OBJECT : TM_SLICE_ARRAY;
  do {
    bool is_empty = false;
    if (p == end)
      return NULL;
    if (*p == '{' || *p == '[') {
      p = open_nest(&nest, p, end, &is_empty);
      if (p == NULL || !is_empty)
        continue;
    } else if ((p = scan_simple(p, end, &inner)) == NULL) {
      return NULL;
    }
    p = after_value(&nest, p, end);
  } while (p != NULL && nest.depth > 0);
  if (p != NULL)
    *out = (struct tm_slice) { kind, false, from, (size_t)(p - from) };
  return p;
}

/* The begin of the next member or item: behind the opening bracket, or behind the comma. With
 * is_end, the end of the whole: behind the closing bracket. NULL: the text is not valid. */
static const char *next_begin(const char *p, const char *end, bool is_first, const char brackets[2],
                              bool *is_end)
{
  *is_end = false;
  if (is_first && (p == end || *p != brackets[0]))
    return NULL;
  p = tm_json_scan_blanks(p + is_first, end);
  if (p < end && *p == brackets[1]) {
    *is_end = true;
    return p + 1;
  }
  if (is_first)
    return p;
  return p < end && *p == ',' ? tm_json_scan_blanks(p + 1, end) : NULL;
}

const char *tm_json_scan_member(const char *p, const char *end, bool is_first, struct tm_slice *key,
                                struct tm_slice *value)
{
  bool is_end;
  *key = (struct tm_slice) { .kind = TM_SLICE_NONE };
  if ((p = next_begin(p, end, is_first, "{}", &is_end)) == NULL || is_end)
    return p;
  p = scan_key(p, end, key);
  return p == NULL ? NULL : tm_json_scan(p, end, value);
}

const char *tm_json_scan_item(const char *p, const char *end, bool is_first, struct tm_slice *item)
{
  bool is_end;
  *item = (struct tm_slice) { .kind = TM_SLICE_NONE };
  if ((p = next_begin(p, end, is_first, "[]", &is_end)) == NULL || is_end)
    return p;
  return tm_json_scan(p, end, item);
}

bool tm_json_scan_find(const char *p, const char *end, const char *name, struct tm_slice *value)
{
  struct tm_slice all, key, one;
  bool is_found = false;
  p = tm_json_scan_blanks(p, end);
  const char *behind = tm_json_scan(p, end, &all);
  if (behind == NULL || all.kind != TM_SLICE_OBJECT || tm_json_scan_blanks(behind, end) != end)
    return false;
  for (bool is_first = true; !is_found; is_first = false) {
    p = tm_json_scan_member(p, end, is_first, &key, &one);
    if (p == NULL || key.kind == TM_SLICE_NONE)
      return false;
    is_found = key.n == strlen(name) && memcmp(key.p, name, key.n) == 0;
  }
  *value = one;
  return true;
}

static unsigned unit_at(const char *p)
{
  unsigned x = 0;
  for (int i = 0; i < 4; i++)
    x = x * 16 + (unsigned)(p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
  return x;
}

static void add_utf8(struct tm_buf *out, unsigned c)
{
  char b[4];
  int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (int i = n - 1; i > 0; i--, c >>= 6)
    b[i] = (char)(0x80 | (c & 0x3f));
  b[0] = (char)(n == 1 ? c : c | (0xf00u >> n & 0xff));
  tm_buf_add(out, b, (size_t)n);
}

/* p is after "\u". Returns the bytes used. */
static size_t add_unit(struct tm_buf *out, const char *p, const char *end)
{
  unsigned unit = unit_at(p);
  if (unit >= 0xd800 && unit < 0xdc00 && end - p >= 10 && p[4] == '\\' && p[5] == 'u') {
    unsigned low = unit_at(p + 6);
    if (low >= 0xdc00 && low < 0xe000) {
      add_utf8(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
      return 10;
    }
  }
  add_utf8(out, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit);
  return 4;
}

void tm_json_unescape(struct tm_buf *out, const struct tm_slice *string)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char *p = string->p, *end = p + string->n;
  while (p < end) {
    const char *slash = memchr(p, '\\', (size_t)(end - p));
    tm_buf_add(out, p, (size_t)((slash == NULL ? end : slash) - p));
    if (slash == NULL)
      return;
    p = slash + 2;
    if (slash[1] == 'u')
      p += add_unit(out, p, end);
    else
      tm_buf_add_char(out, to[strchr(from, slash[1]) - from]);
  }
}
