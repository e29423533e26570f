/* buf.h - a growable run of bytes, and the little-endian numbers of our file and wire formats.
 *
 * Zero-initialised is empty and ready. Once anything was added, `data` ends in a NUL, which is not
 * counted. Pointers into it are valid until the next call that adds, so they cannot be arguments of
 * such a call. A size that overflows, or removing more than there is, is a fault.
 */
#ifndef TM_BASE_BUF_H
#define TM_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tm_buf {
  char *data;
  size_t len, cap; /* bytes */
};

/* clang-format off */
#define TM_BUF_NONE { NULL, 0, 0 }
/* clang-format on */

void tm_buf_release(struct tm_buf *b);              /* frees; empty and usable again */
void tm_buf_clear(struct tm_buf *b);                /* len = 0; keeps the memory */
void tm_buf_reserve(struct tm_buf *b, size_t more); /* ensures room for `more` bytes and a NUL */
char *tm_buf_extend(struct tm_buf *b, size_t n);    /* adds n bytes for the caller to fill */
void tm_buf_add(struct tm_buf *b, const void *p, size_t n);
void tm_buf_add_str(struct tm_buf *b, const char *s);
void tm_buf_add_char(struct tm_buf *b, char c);
void tm_buf_add_int(struct tm_buf *b, int64_t n); /* decimal digits; much faster than printf */
void tm_buf_printf(struct tm_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tm_buf_vprintf(struct tm_buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
void tm_buf_remove_front(struct tm_buf *b, size_t n); /* moves the rest to the front */
char *tm_buf_take(struct tm_buf *b); /* the memory, NUL-terminated, to free(); then b is empty */
const char *tm_buf_str(const struct tm_buf *b); /* "" while empty */

/* Little-endian numbers, byte by byte: the same on every machine. */
static inline void tm_put_u32(void *p, uint32_t v)
{
  unsigned char *b = p;
  for (int i = 0; i < 4; i++)
    b[i] = (unsigned char)(v >> (8 * i));
}
static inline void tm_put_u64(void *p, uint64_t v) /* in halves: compilers make one store of each */
{
  tm_put_u32(p, (uint32_t)v);
  tm_put_u32((char *)p + 4, (uint32_t)(v >> 32));
}
static inline uint32_t tm_get_u16(const void *p)
{
  const unsigned char *b = p;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8;
}
static inline uint32_t tm_get_u32(const void *p)
{
  const unsigned char *b = p;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static inline uint64_t tm_get_u64(const void *p)
{
  return (uint64_t)tm_get_u32(p) | (uint64_t)tm_get_u32((const char *)p + 4) << 32;
}
void tm_buf_add_u32(struct tm_buf *b, uint32_t v);
void tm_buf_add_u64(struct tm_buf *b, uint64_t v);
void tm_buf_add_bytes32(struct tm_buf *b, const void *p, size_t n); /* u32 length, then the bytes */

/* Reads what the functions above wrote, from bytes that may be hostile. Past the end every call
 * returns 0 or NULL and `bad` stays true: read everything, then check once. The bytes stay the
 * caller's. */
struct tm_reader {
  const char *at, *end;
  bool bad;
};
void tm_reader_init(struct tm_reader *r, const void *p, size_t n);
/* Points into the bytes; not NUL-ended. */
static inline const char *tm_read_raw(struct tm_reader *r, size_t n)
{
  const char *p = r->at;
  if (r->bad || n > (size_t)(r->end - p)) {
    r->bad = true;
    return NULL;
  }
  r->at = p + n;
  return p;
}
static inline uint32_t tm_read_u32(struct tm_reader *r)
{
  const char *p = tm_read_raw(r, 4);
  return p ? tm_get_u32(p) : 0;
}
static inline uint64_t tm_read_u64(struct tm_reader *r)
{
  const char *p = tm_read_raw(r, 8);
  return p ? tm_get_u64(p) : 0;
}
const char *tm_read_bytes32(struct tm_reader *r, size_t *len); /* likewise */

#endif
