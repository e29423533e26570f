/* decimal.c - digits of doubles between 1e-4 and 1e15, in integers of 128 bits, where all is exact.
 *
 * A double is m / 2^s there, m of 53 bits, s from 3 to 66. Its n digits are m * 10^p / 2^s, rounded to even as printf does, p
 * from 0 to 20: 120 bits. They read back as the same double when they are nearer to it than half a step of m.
 */
#include "base/decimal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_LEAST 15
#define DIGITS_MOST  17
#define PLACES_FEW   6 /* behind the point, that are tried at once */

__extension__ typedef unsigned __int128 wide;

struct exact {
  uint64_t m;
  int s, exponent; /* of 2, below; of 10, of the first digit */
};

/* n from 0 to 20 */
static wide power(int n)
{
  static const uint64_t ten[] = { 1,
                                  10,
                                  100,
                                  1000,
                                  10000,
                                  100000,
                                  1000000,
                                  10000000,
                                  100000000,
                                  1000000000,
                                  10000000000,
                                  100000000000,
                                  1000000000000,
                                  10000000000000,
                                  100000000000000,
                                  1000000000000000,
                                  10000000000000000,
                                  100000000000000000,
                                  1000000000000000000 };
  return n <= 18 ? (wide)ten[n] : (wide)ten[18] * ten[n - 18];
}

/* The doubles next to 0.1, 0.01, 0.001 are above them: what is not below the double is not below the number either. */
static struct exact take_apart(double a)
{
  static const double powers[] = { 1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3,  1e4,  1e5,
                                   1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14 };
  struct exact x = { .exponent = -4 };
  int e;
  x.m = (uint64_t)ldexp(frexp(a, &e), 53);
  x.s = 53 - e;
  for (size_t i = 0; i < sizeof(powers) / sizeof(*powers) && a >= powers[i]; i++)
    x.exponent++;
  return x;
}

/* `n` digits; whether they read back. Of a tie the even one is read. Below a power of two steps are half as wide. */
static bool round_to(const struct exact *x, int n, uint64_t *digits)
{
  wide scale = power(n - 1 - x->exponent), whole = x->m * scale, half = (wide)1 << (x->s - 1);
  wide rest = whole & (2 * half - 1);
  *digits = (uint64_t)(whole >> x->s);
  *digits += rest > half || (rest == half && (*digits & 1));
  wide back = (wide)*digits << x->s, off = back > whole ? back - whole : whole - back;
  if (back < whole && x->m == (uint64_t)1 << 52)
    return 4 * off <= scale;
  return 2 * off < scale || (2 * off == scale && (x->m & 1) == 0);
}

/* Without the zeros at the end. */
static void add_digits(struct tm_buf *out, uint64_t digits, int n, int exponent)
{
  char text[DIGITS_MOST + 1];
  int len = n;
  if (digits >= (uint64_t)power(n)) { /* 9.99 became 10.0 */
    digits /= 10;
    exponent++;
  }
  for (int i = n; i-- > 0; digits /= 10)
    text[i] = (char)('0' + digits % 10);
  while (len > exponent + 1 && len > 1 && text[len - 1] == '0')
    len--;
  int before = exponent < 0 ? 0 : exponent + 1;
  tm_buf_add(out, "0.000", before > 0 ? 0 : (size_t)(1 - exponent));
  tm_buf_add(out, text, (size_t)before);
  if (before > 0 && len > before)
    tm_buf_add_char(out, '.');
  tm_buf_add(out, text + before, (size_t)(len - before));
}

/* Most of those that people write: m / 10^k is exact to the last bit, since both are, so that what reads back as `a` is what
 * %.15g would print (a double tells any two numbers of 15 digits apart). */
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

bool tm_decimal_add(struct tm_buf *out, double v)
{
  double a = fabs(v);
  uint64_t digits;
  int n = DIGITS_LEAST;
  if (!(a >= 1e-4 && a < 1e15))
    return false;
  if (v < 0)
    tm_buf_add_char(out, '-');
  if ((double)(int64_t)a == a) {
    tm_buf_add_int(out, (int64_t)a);
    return true;
  }
  if (add_few(out, a))
    return true;
  struct exact x = take_apart(a);
  while (!round_to(&x, n, &digits) && n < DIGITS_MOST)
    n++;
  add_digits(out, digits, n, x.exponent);
  return true;
}
