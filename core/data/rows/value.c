/* value.c - parses integers, decimals and truth values.
 *
 * A decimal w * 10^e becomes a double in one of three ways, each of them exact:
 *
 *   w < 2^53 and |e| <= 22      both are doubles, and one operation rounds once
 *   w < 2^64 and |e| <= 27      5^e is a 64-bit integer: a product of 128 bits, or a quotient of 63
 *                               bits and whether there is a remainder; rounded by hand
 *   else                        the C library's strtod, in the C locale
 *
 * Tables mostly need the first two: seventeen digits, as programs print doubles, take the second.
 */
#include "data/rows/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define FIVES         27 /* 5^27 is the last below 2^64 */
#define DIGITS_MAX    19 /* that always fit 64 bits */
#define EXPONENT_MANY 100000

static inline bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static inline void trim(const char **p, size_t *n)
{
  while (*n > 0 && is_blank(**p)) {
    ++*p;
    --*n;
  }
  while (*n > 0 && is_blank((*p)[*n - 1]))
    --*n;
}

static inline unsigned digit_of(char c)
{
  return (unsigned)(unsigned char)c - '0';
}

/* Parses eight digits at once: by pairs, then fours, then eight. False if one is not a digit. */
static inline bool eight_digits(const char *p, uint64_t *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t x;
  memcpy(&x, p, 8);
  uint64_t above = x + UINT64_C(0x4646464646464646), below = x - UINT64_C(0x3030303030303030);
  if (((above | below) & UINT64_C(0x8080808080808080)) != 0)
    return false;
  x = (below * 10 + (below >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
  *out = (x * 10000 + (x >> 32)) & UINT64_C(0xffffffff);
  return true;
#else
  uint64_t x = 0;
  for (int i = 0; i < 8; i++) {
    if (digit_of(p[i]) > 9)
      return false;
    x = x * 10 + digit_of(p[i]);
  }
  *out = x;
  return true;
#endif
}

/* Appends digits up to `end` to *w (modulo 2^64). Returns where they end. */
static inline const char *take_digits(const char *p, const char *end, uint64_t *w)
{
  uint64_t x = *w, eight;
  while (end - p >= 8 && eight_digits(p, &eight)) {
    x = x * 100000000 + eight;
    p += 8;
  }
  for (; p < end && digit_of(*p) <= 9; p++)
    x = x * 10 + digit_of(*p);
  *w = x;
  return p;
}

static inline bool take_sign(const char **p, const char *end)
{
  if (*p == end || (**p != '-' && **p != '+'))
    return false;
  return *(*p)++ == '-';
}

/* More than 19 digits may still be small: leading zeros. */
static bool is_long_beyond(const char *p, const char *end, uint64_t *w)
{
  while (p < end && *p == '0')
    p++;
  if (end - p > DIGITS_MAX)
    return true;
  *w = 0;
  return take_digits(p, end, w) != end;
}

bool tm_value_long(const char *p, size_t n, int64_t *out)
{
  if (n > 0 && (is_blank(p[0]) || is_blank(p[n - 1])))
    trim(&p, &n);
  const char *end = p + n;
  bool negative = take_sign(&p, end);
  uint64_t w = 0;
  if (p == end || take_digits(p, end, &w) != end)
    return false;
  if (end - p > DIGITS_MAX && is_long_beyond(p, end, &w))
    return false;
  if (w > (uint64_t)INT64_MAX + negative)
    return false;
  *out = negative ? (int64_t)(0 - w) : (int64_t)w;
  return true;
}

/* 2^e, far from the smallest and the largest double. */
static inline double power_of_two(int e)
{
  uint64_t bits = (uint64_t)(1023 + e) << 52;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* w * 2^exponent with w != 0, and whether the omitted remainder is not zero: to the nearest, ties
 * to even. The exponents are far from the smallest and the largest double. */
static double round_to_double(uint64_t w, bool has_rest, int exponent)
{
  int shift = 11 - __builtin_clzll(w);
  if (shift <= 0) /* 53 bits or fewer */
    return (double)w * power_of_two(exponent);
  uint64_t low = w & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
  uint64_t m = w >> shift;
  if (low > half || (low == half && (has_rest || (m & 1))))
    m++;
  return (double)m * power_of_two(exponent + shift);
}

static double multiply(uint64_t w, uint64_t five, int exponent)
{
  unsigned __int128 product = (unsigned __int128)w * five;
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  if (high == 0)
    return round_to_double(low, false, exponent);
  int up = __builtin_clzll(high);
  uint64_t top = (uint64_t)(product >> (64 - up));
  bool has_rest = up == 0 ? low != 0 : low << up != 0;
  return round_to_double(top, has_rest, exponent + 64 - up);
}

/* w / (five * 2^e): with both shifted to the top bit, the quotient has 63 or 64 bits. */
static double divide(uint64_t w, uint64_t five, int exponent)
{
  int w_up = __builtin_clzll(w), five_up = __builtin_clzll(five);
  unsigned __int128 over = (unsigned __int128)(w << w_up) << 63;
  uint64_t under = five << five_up;
  uint64_t quotient = (uint64_t)(over / under);
  bool has_rest = (unsigned __int128)quotient * under != over;
  return round_to_double(quotient, has_rest, exponent - w_up + five_up - 63);
}

bool tm_value_scale(uint64_t w, int exponent, double *out)
{
  static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
  static const uint64_t fives[FIVES + 1] = { 1,
                                             5,
                                             25,
                                             125,
                                             625,
                                             3125,
                                             15625,
                                             78125,
                                             390625,
                                             1953125,
                                             9765625,
                                             48828125,
                                             244140625,
                                             1220703125,
                                             6103515625,
                                             30517578125,
                                             152587890625,
                                             762939453125,
                                             3814697265625,
                                             19073486328125,
                                             95367431640625,
                                             476837158203125,
                                             2384185791015625,
                                             11920928955078125,
                                             59604644775390625,
                                             298023223876953125,
                                             1490116119384765625,
                                             7450580596923828125 };
  if (w == 0) {
    *out = 0;
    return true;
  }
  if (w <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22) {
    *out = exponent < 0 ? (double)w / tens[-exponent] : (double)w * tens[exponent];
    return true;
  }
  if (exponent < -FIVES || exponent > FIVES)
    return false;
  *out =
      exponent < 0 ? divide(w, fives[-exponent], exponent) : multiply(w, fives[exponent], exponent);
  return true;
}

static bool slow_double(const char *p, size_t n, double *out)
{
  char near[128];
  char *text = n < sizeof near ? near : tm_xmalloc(n + 1);
  memcpy(text, p, n);
  text[n] = '\0';
  bool ok = memchr(p, '\0', n) == NULL && tm_text_number(text, out);
  if (text != near)
    free(text);
  return ok;
}

/* `word` is in lower case. */
static bool is_word(const char *p, size_t n, const char *word)
{
  if (strlen(word) != n)
    return false;
  for (size_t i = 0; i < n; i++)
    if (p[i] != word[i] && (p[i] < 'A' || p[i] > 'Z' || (p[i] | 0x20) != word[i]))
      return false;
  return true;
}

static bool word_double(const char *p, size_t n, bool negative, double *out)
{
  if (is_word(p, n, "nan"))
    *out = NAN;
  else if (is_word(p, n, "inf") || is_word(p, n, "infinity"))
    *out = negative ? -INFINITY : INFINITY;
  else
    return false;
  return true;
}

/* The number after an 'e'. A long one is a large one. */
static const char *take_exponent(const char *p, const char *end, int *exponent)
{
  bool negative = take_sign(&p, end);
  int x = 0;
  const char *from = p;
  for (; p < end && digit_of(*p) <= 9; p++)
    x = x < EXPONENT_MANY ? x * 10 + (int)digit_of(*p) : x;
  *exponent += negative ? -x : x;
  return p == from ? NULL : p;
}

/* Significant digits: those after leading zeros. */
static ptrdiff_t count_digits(const char *p, const char *end)
{
  ptrdiff_t count = 0;
  for (; p < end && (digit_of(*p) <= 9 || *p == '.'); p++)
    count += *p != '.' && (count > 0 || *p != '0');
  return count;
}

bool tm_value_double(const char *p, size_t n, double *out)
{
  if (n > 0 && (is_blank(p[0]) || is_blank(p[n - 1])))
    trim(&p, &n);
  const char *whole = p, *end = p + n;
  bool negative = take_sign(&p, end);
  uint64_t w = 0;
  int exponent = 0;
  const char *from = p, *to = p = take_digits(p, end, &w);
  ptrdiff_t digits = p - from;
  if (p < end && *p == '.') {
    const char *fraction = p + 1;
    to = p = take_digits(fraction, end, &w);
    exponent = fraction - p < -EXPONENT_MANY ? -EXPONENT_MANY : (int)(fraction - p);
    digits += p - fraction;
  }
  if (digits == 0)
    return word_double(from, (size_t)(end - from), negative, out);
  if (p < end && (*p == 'e' || *p == 'E') && (p = take_exponent(p + 1, end, &exponent)) == NULL)
    return false;
  if (p != end)
    return false;
  if (digits > DIGITS_MAX && count_digits(from, to) > DIGITS_MAX)
    return slow_double(whole, n, out);
  double x;
  if (!tm_value_scale(w, exponent, &x))
    return slow_double(whole, n, out);
  *out = negative ? -x : x;
  return true;
}

bool tm_value_bool(const char *p, size_t n, uint8_t *out)
{
  trim(&p, &n);
  if (is_word(p, n, "true") || is_word(p, n, "1"))
    *out = 1;
  else if (is_word(p, n, "false") || is_word(p, n, "0"))
    *out = 0;
  else
    return false;
  return true;
}
