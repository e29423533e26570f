/* encoding.c - encodings. */
#include "data/rows/encoding.h"

#include <string.h>

#include "base/text.h"

#define HIGH_BITS   UINT64_C(0x8080808080808080)
#define REPLACEMENT 0xfffd

/* Characters 0x80 to 0x9f of Windows-1252; 0: undefined. */
static const uint16_t windows1252[32] = {
  0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
  0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
  0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
};

static size_t ascii_len(const char *p, size_t n)
{
  size_t at = 0;
  for (; n - at >= 8; at += 8) {
    uint64_t x;
    memcpy(&x, p + at, 8);
    if ((x & HIGH_BITS) != 0)
      break;
  }
  while (at < n && (unsigned char)p[at] < 0x80)
    at++;
  return at;
}

bool tm_rows_is_ascii(const char *p, size_t n)
{
  return ascii_len(p, n) == n;
}

bool tm_rows_is_utf8(const char *p, size_t n)
{
  for (size_t at = 0;;) {
    at += ascii_len(p + at, n - at);
    if (at == n)
      return true;
    size_t len = tm_text_utf8_len(p + at, n - at);
    if (len == 0)
      return false;
    at += len;
  }
}

static void add_char(struct tm_buf *out, uint32_t c)
{
  char b[4];
  size_t n = 0;
  if (c < 0x80) {
    b[n++] = (char)c;
  } else if (c < 0x800) {
    b[n++] = (char)(0xc0 | c >> 6);
    b[n++] = (char)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    b[n++] = (char)(0xe0 | c >> 12);
    b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    b[n++] = (char)(0x80 | (c & 0x3f));
  } else {
    b[n++] = (char)(0xf0 | c >> 18);
    b[n++] = (char)(0x80 | (c >> 12 & 0x3f));
    b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    b[n++] = (char)(0x80 | (c & 0x3f));
  }
  tm_buf_add(out, b, n);
}

static uint32_t char_of_byte(enum tm_encoding encoding, unsigned char b)
{
  if (encoding == TM_ENCODING_LATIN1)
    return b;
  if (encoding != TM_ENCODING_WINDOWS1252)
    return REPLACEMENT;
  uint32_t c = b < 0xa0 ? windows1252[b - 0x80] : b;
  return c == 0 ? REPLACEMENT : c;
}

size_t tm_rows_add_utf8(struct tm_buf *out, enum tm_encoding encoding, const char *p, size_t n)
{
  size_t bad = 0;
  for (size_t at = 0; at < n;) {
    size_t plain = ascii_len(p + at, n - at);
    tm_buf_add(out, p + at, plain);
    at += plain;
    if (at == n)
      break;
    size_t len = encoding == TM_ENCODING_UTF8 ? tm_text_utf8_len(p + at, n - at) : 0;
    if (len > 0) {
      tm_buf_add(out, p + at, len);
      at += len;
      continue;
    }
    uint32_t c = char_of_byte(encoding, (unsigned char)p[at++]);
    bad += c == REPLACEMENT;
    add_char(out, c);
  }
  return bad;
}

static inline uint16_t unit_at(const char *p, bool big_endian)
{
  unsigned a = (unsigned char)p[0], b = (unsigned char)p[1];
  return (uint16_t)(big_endian ? a << 8 | b : b << 8 | a);
}

static void add_unit(struct tm_utf16 *u, struct tm_buf *out, uint16_t unit, size_t *bad)
{
  bool is_high = unit >= 0xd800 && unit < 0xdc00, is_low = unit >= 0xdc00 && unit < 0xe000;
  if (u->high != 0 && is_low) {
    add_char(out, 0x10000 + ((uint32_t)(u->high - 0xd800) << 10 | (uint32_t)(unit - 0xdc00)));
    u->high = 0;
    return;
  }
  tm_utf16_end(u, out, bad);
  if (is_high) {
    u->high = unit;
    return;
  }
  *bad += is_low;
  add_char(out, is_low ? REPLACEMENT : unit);
}

size_t tm_utf16_add(struct tm_utf16 *u, struct tm_buf *out, const char *p, size_t n, size_t *bad)
{
  size_t at = 0;
  for (; n - at >= 2; at += 2) {
    uint16_t unit = unit_at(p + at, u->big_endian);
    if (unit < 0x80 && u->high == 0)
      tm_buf_add_char(out, (char)unit);
    else
      add_unit(u, out, unit, bad);
  }
  return at;
}

void tm_utf16_end(struct tm_utf16 *u, struct tm_buf *out, size_t *bad)
{
  if (u->high == 0)
    return;
  u->high = 0;
  ++*bad;
  add_char(out, REPLACEMENT);
}

int64_t tm_utf16_size(const char *p, size_t n)
{
  int64_t units = 0;
  for (size_t i = 0; i < n; i++)
    units += ((p[i] & 0xc0) != 0x80) + ((unsigned char)p[i] >= 0xf0);
  return units * 2;
}

int64_t tm_rows_size_in_file(enum tm_encoding encoding, const char *p, size_t n)
{
  if (encoding == TM_ENCODING_UTF8)
    return (int64_t)n;
  return tm_utf16_size(p, n) / (encoding == TM_ENCODING_UTF16 ? 1 : 2);
}

void tm_utf16_narrow(char *out, const char *p, size_t n, bool big_endian)
{
  for (size_t i = 0; i < n / 2; i++) {
    uint16_t unit = unit_at(p + 2 * i, big_endian);
    out[i] = (char)(unit < 0x80 ? unit : 0x80);
  }
}
