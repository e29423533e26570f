/* short_numbers.c - selects the kernel, and has the one that takes one text after the other: it
 * defines the results of the other one.
 *
 * A text becomes eight digits: bytes before it, a '-' and a point become the digit 0, and what is
 * before the point moves up by one. Fewer than eight digits and a power of ten are doubles, and one
 * division rounds once.
 */
#include "data/rows/short_numbers.h"

#include <stdbool.h>
#include <string.h>

#define EACH(c) ((c)*UINT64_C(0x0101010101010101)) /* in each byte */

struct number {
  uint64_t digits; /* as an integer */
  int decimals;
  bool is_negative;
};

/* Combines digits by pairs, then fours, then eight. */
static inline uint64_t eight_digits(uint64_t d)
{
  d = (d * 10 + (d >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  d = (d * 100 + (d >> 16)) & UINT64_C(0x0000ffff0000ffff);
  return (d * 10000 + (d >> 32)) & UINT64_C(0xffffffff);
}

static inline bool take(uint64_t word, uint64_t n, struct number *out)
{
  if (n - 1 >= TM_SHORT_MAX)
    return false;
  uint64_t text = ~UINT64_C(0) << (64 - 8 * n), first = text & ~(text << 8);
  uint64_t d = (word ^ EACH('0')) & text; /* of a digit its value; of other bytes more than 9 */
  out->is_negative = (d & first) == (EACH('-' ^ '0') & first);
  text &= out->is_negative ? ~first : ~UINT64_C(0);
  d &= text;
  uint64_t x = d ^ EACH('.' ^ '0'), point = (x - EACH(1)) & ~x & EACH(0x80);
  out->decimals = 0;
  if (point != 0) { /* its lowest bit is right, which belongs to the first point */
    int at = __builtin_ctzll(point) - 7;
    uint64_t before = (UINT64_C(1) << at) - 1;
    d = (d & before) << 8 | (d & ~(before << 8 | 0xff));
    text &= ~(UINT64_C(0xff) << at);
    out->decimals = 7 - at / 8;
  }
  out->digits = eight_digits(d);
  return text != 0 && (((d + EACH(0x76)) | d) & EACH(0x80)) == 0;
}

static uint32_t plain_doubles(const struct tm_short_texts *t, size_t n, double out[TM_SHORT_MANY])
{
  static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7 };
  uint32_t good = 0;
  for (size_t i = 0; i < n; i++) {
    struct number x;
    if (!take(t->words[i], t->lens[i], &x))
      continue;
    double value = (double)(int64_t)x.digits / tens[x.decimals];
    out[i] = x.is_negative ? -value : value;
    good |= UINT32_C(1) << i;
  }
  return good;
}

static uint32_t plain_longs(const struct tm_short_texts *t, size_t n, int64_t out[TM_SHORT_MANY])
{
  uint32_t good = 0;
  for (size_t i = 0; i < n; i++) {
    struct number x;
    uint64_t last = t->words[i] >> 56;
    if (last == '.' || !take(t->words[i], t->lens[i], &x) || x.decimals > 0)
      continue;
    out[i] = x.is_negative ? -(int64_t)x.digits : (int64_t)x.digits;
    good |= UINT32_C(1) << i;
  }
  return good;
}

static const struct tm_short_kernel plain_kernel = { plain_doubles, plain_longs };

const struct tm_short_kernel *tm_short_kernel(enum tm_scan_kind kind)
{
  bool has_avx2 = false;
#if defined(__x86_64__)
  has_avx2 = __builtin_cpu_supports("avx2");
#endif
  const struct tm_short_kernel *avx2 = has_avx2 ? tm_short_kernel_avx2() : NULL;
  return (kind == TM_SCAN_BEST || kind == TM_SCAN_AVX2) && avx2 != NULL ? avx2 : &plain_kernel;
}
