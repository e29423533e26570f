/* buf.c - a growable run of bytes.
 *
 *  (1) data is NULL and cap is 0, or data has cap bytes and len < cap.
 *  (2) A NUL follows the last byte unless data is NULL.
 *
 * The memory doubles, so that adding n bytes one by one copies each of them twice at most on
 * average.
 */
#include "base/buf.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/format.h"
#include "base/mem.h"

enum { BUF_FIRST = 64, INT_DIGITS_MAX = 20 }; /* bytes; "-9223372036854775808" */

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

void tm_buf_release(struct tm_buf *b)
{
  free(b->data);
  *b = (struct tm_buf)TM_BUF_NONE;
}

void tm_buf_clear(struct tm_buf *b)
{
  b->len = 0;
  if (b->data)
    b->data[0] = '\0';
}

void tm_buf_reserve(struct tm_buf *b, size_t more)
{
  /* by (1) the difference is 0 only while there is no memory at all */
  if (more < b->cap - b->len)
    return;
  tm_require(more < SIZE_MAX - b->len);
  size_t want = b->len + more + 1;
  size_t cap = b->cap ? b->cap : BUF_FIRST;
  while (cap < want)
    cap = cap > SIZE_MAX / 2 ? want : cap * 2;
  b->data = tm_xrealloc(b->data, cap);
  b->cap = cap;
  b->data[b->len] = '\0';
}

char *tm_buf_extend(struct tm_buf *b, size_t n)
{
  tm_buf_reserve(b, n);
  char *room = b->data + b->len;
  b->len += n;
  b->data[b->len] = '\0';
  return room;
}

void tm_buf_add(struct tm_buf *b, const void *p, size_t n)
{
  char *room = tm_buf_extend(b, n);
  if (n)
    memcpy(room, p, n);
}

void tm_buf_add_str(struct tm_buf *b, const char *s)
{
  tm_buf_add(b, s, strlen(s));
}

void tm_buf_add_char(struct tm_buf *b, char c)
{
  *tm_buf_extend(b, 1) = c;
}

void tm_buf_add_int(struct tm_buf *b, int64_t n)
{
  char digits[INT_DIGITS_MAX];
  char *at = digits + sizeof digits;
  uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n; /* INT64_MIN has no positive int64_t */
  while (rest >= 100) {
    at -= 2;
    memcpy(at, digit_pairs + 2 * (rest % 100), 2);
    rest /= 100;
  }
  if (rest >= 10) {
    at -= 2;
    memcpy(at, digit_pairs + 2 * rest, 2);
  } else {
    *--at = (char)('0' + rest);
  }
  if (n < 0)
    *--at = '-';
  tm_buf_add(b, at, (size_t)(digits + sizeof digits - at));
}

void tm_buf_printf(struct tm_buf *b, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(b, fmt, ap);
  va_end(ap);
}

void tm_buf_vprintf(struct tm_buf *b, const char *fmt, va_list ap)
{
  va_list again;
  va_copy(again, ap);
  tm_buf_reserve(b, BUF_FIRST);
  int len = tm_vformat(b->data + b->len, b->cap - b->len, fmt, ap);
  tm_require(len >= 0);
  if ((size_t)len >= b->cap - b->len) {
    tm_buf_reserve(b, (size_t)len);
    tm_vformat(b->data + b->len, b->cap - b->len, fmt, again);
  }
  va_end(again);
  b->len += (size_t)len;
}

void tm_buf_remove_front(struct tm_buf *b, size_t n)
{
  tm_require(n <= b->len);
  if (n == 0)
    return;
  b->len -= n;
  memmove(b->data, b->data + n, b->len + 1);
}

char *tm_buf_take(struct tm_buf *b)
{
  tm_buf_reserve(b, 0);
  char *data = b->data;
  *b = (struct tm_buf)TM_BUF_NONE;
  return data;
}

const char *tm_buf_str(const struct tm_buf *b)
{
  return b->data ? b->data : "";
}

void tm_buf_add_u32(struct tm_buf *b, uint32_t v)
{
  tm_put_u32(tm_buf_extend(b, 4), v);
}

void tm_buf_add_u64(struct tm_buf *b, uint64_t v)
{
  tm_put_u64(tm_buf_extend(b, 8), v);
}

void tm_buf_add_bytes32(struct tm_buf *b, const void *p, size_t n)
{
  tm_require(n <= UINT32_MAX);
  tm_buf_add_u32(b, (uint32_t)n);
  tm_buf_add(b, p, n);
}

void tm_reader_init(struct tm_reader *r, const void *p, size_t n)
{
  static const char nothing[1];
  r->at = p ? p : nothing;
  r->end = r->at + (p ? n : 0);
  r->bad = false;
}

const char *tm_read_bytes32(struct tm_reader *r, size_t *len)
{
  uint32_t n = tm_read_u32(r);
  const char *p = tm_read_raw(r, n);
  *len = p ? n : 0;
  return p;
}
