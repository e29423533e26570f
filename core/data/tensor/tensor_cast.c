/* tensor_cast.c - see tensor_cast.h.
 *
 * Elements are converted in blocks that lie without gaps, one loop for each pair of types. Elements
 * at distances go through a block on the stack.
 */
#include "data/tensor/tensor_cast.h"

#include <string.h>

#include "base/check.h"
#include "data/tensor/tensor_types.h"

#define BLOCK 512 /* elements */

/* ---- single values ---- */

double tm_tensor_of_half(uint16_t bits)
{
  uint64_t sign = (uint64_t)(bits >> 15) << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value;
  if (exponent == 0) {
    value = (double)fraction * 0x1p-24;
    return sign != 0 ? -value : value;
  }
  exponent = exponent == 31 ? 2047 : exponent + 1023 - 15;
  uint64_t u = sign | exponent << 52 | fraction << 42;
  memcpy(&value, &u, sizeof value);
  return value;
}

/* The nearest integer, of two the even one. Beyond 2^52 every double is one. */
static inline double rounded(double x)
{
  double y = x < 0 ? (x - 0x1p52) + 0x1p52 : (x + 0x1p52) - 0x1p52;
  return x > -0x1p52 && x < 0x1p52 ? y : x;
}

uint16_t tm_tensor_half_of(double value)
{
  uint64_t u;
  memcpy(&u, &value, sizeof u);
  uint16_t sign = (uint16_t)(u >> 63 << 15);
  u &= UINT64_MAX >> 1;
  double a;
  memcpy(&a, &u, sizeof a);
  if (value != value)
    return sign | 0x7e00;
  if (a >= 65520) /* half way from the largest half to 2^16, which is even */
    return sign | 0x7c00;
  if (a < 0x1p-14)
    return (uint16_t)(sign | (uint16_t)rounded(a * 0x1p24));
  u += ((UINT64_C(1) << 41) - 1) + (u >> 42 & 1); /* to the nearest, of two the even one */
  return (uint16_t)(sign | (uint16_t)((u >> 42) - ((1023 - 15) << 10)));
}

static inline int64_t clamp_int(int64_t x, int64_t low, int64_t high)
{
  return x < low ? low : x > high ? high : x;
}

static inline uint64_t clamp_uint(uint64_t x, uint64_t high)
{
  return x > high ? high : x;
}

static inline int64_t int_of_real(double x, int64_t low, int64_t high)
{
  x = rounded(x);
  return x <= (double)low ? low : x >= (double)high ? high : (int64_t)x;
}

static inline uint64_t uint_of_real(double x, uint64_t high)
{
  x = rounded(x);
  return x <= 0 ? 0 : x >= (double)high ? high : (uint64_t)x;
}

/* ---- blocks ---- */

#define LOOP(FROM, TO, VALUE)                                                                      \
  for (int64_t i = 0; i < n; i++) {                                                                \
    FROM x = ((const FROM *)from)[i];                                                              \
    ((TO *)to)[i] = (TO)(VALUE);                                                                   \
  }                                                                                                \
  break

/* Defines a function that converts n elements without gaps to TO. INT, UINT and REAL convert a
 * signed integer, an unsigned one and a float or double, which is never NaN for an integer. */
#define CONVERSION(NAME, TO, INT, UINT, REAL)                                                      \
  static void NAME(const void *restrict from, int32_t type, void *restrict to, int64_t n)          \
  {                                                                                                \
    switch (type) {                                                                                \
    case TM_TENSOR_FLOAT32: LOOP(float, TO, REAL(x));                                              \
    case TM_TENSOR_FLOAT64: LOOP(double, TO, REAL(x));                                             \
    case TM_TENSOR_FLOAT16: LOOP(uint16_t, TO, REAL(tm_tensor_of_half(x)));                        \
    case TM_TENSOR_INT8: LOOP(int8_t, TO, INT(x));                                                 \
    case TM_TENSOR_INT16: LOOP(int16_t, TO, INT(x));                                               \
    case TM_TENSOR_INT32: LOOP(int32_t, TO, INT(x));                                               \
    case TM_TENSOR_INT64: LOOP(int64_t, TO, INT(x));                                               \
    case TM_TENSOR_BOOL:                                                                           \
    case TM_TENSOR_UINT8: LOOP(uint8_t, TO, UINT(x));                                              \
    case TM_TENSOR_UINT16: LOOP(uint16_t, TO, UINT(x));                                            \
    case TM_TENSOR_UINT32: LOOP(uint32_t, TO, UINT(x));                                            \
    case TM_TENSOR_UINT64: LOOP(uint64_t, TO, UINT(x));                                            \
    }                                                                                              \
  }

#define SAME(x)  (x)
#define HALF(x)  tm_tensor_half_of((double)(x))
#define TRUTH(x) ((x) != 0)
CONVERSION(to_float32, float, SAME, SAME, SAME)
CONVERSION(to_float64, double, SAME, SAME, SAME)
CONVERSION(to_float16, uint16_t, HALF, HALF, HALF)
CONVERSION(to_bool, uint8_t, TRUTH, TRUTH, TRUTH)

#define SIGNED(BITS)                                                                               \
  CONVERSION(to_int##BITS, int##BITS##_t, INT_TO_##BITS, UINT_TO_##BITS, REAL_TO_##BITS)
#define INT_TO_8(x)   clamp_int((x), INT8_MIN, INT8_MAX)
#define UINT_TO_8(x)  clamp_uint((x), INT8_MAX)
#define REAL_TO_8(x)  int_of_real((x), INT8_MIN, INT8_MAX)
#define INT_TO_16(x)  clamp_int((x), INT16_MIN, INT16_MAX)
#define UINT_TO_16(x) clamp_uint((x), INT16_MAX)
#define REAL_TO_16(x) int_of_real((x), INT16_MIN, INT16_MAX)
#define INT_TO_32(x)  clamp_int((x), INT32_MIN, INT32_MAX)
#define UINT_TO_32(x) clamp_uint((x), INT32_MAX)
#define REAL_TO_32(x) int_of_real((x), INT32_MIN, INT32_MAX)
#define INT_TO_64(x)  (x)
#define UINT_TO_64(x) clamp_uint((x), INT64_MAX)
#define REAL_TO_64(x) int_of_real((x), INT64_MIN, INT64_MAX)
SIGNED(8)
SIGNED(16)
SIGNED(32)
SIGNED(64)

#define UNSIGNED(BITS)                                                                             \
  CONVERSION(to_uint##BITS, uint##BITS##_t, INT_TO_U##BITS, UINT_TO_U##BITS, REAL_TO_U##BITS)
#define FROM_INT(x, high) clamp_uint((x) < 0 ? 0 : (uint64_t)(x), (high))
#define INT_TO_U8(x)      FROM_INT((x), UINT8_MAX)
#define UINT_TO_U8(x)     clamp_uint((x), UINT8_MAX)
#define REAL_TO_U8(x)     uint_of_real((x), UINT8_MAX)
#define INT_TO_U16(x)     FROM_INT((x), UINT16_MAX)
#define UINT_TO_U16(x)    clamp_uint((x), UINT16_MAX)
#define REAL_TO_U16(x)    uint_of_real((x), UINT16_MAX)
#define INT_TO_U32(x)     FROM_INT((x), UINT32_MAX)
#define UINT_TO_U32(x)    clamp_uint((x), UINT32_MAX)
#define REAL_TO_U32(x)    uint_of_real((x), UINT32_MAX)
#define INT_TO_U64(x)     FROM_INT((x), UINT64_MAX)
#define UINT_TO_U64(x)    (x)
#define REAL_TO_U64(x)    uint_of_real((x), UINT64_MAX)
UNSIGNED(8)
UNSIGNED(16)
UNSIGNED(32)
UNSIGNED(64)

static void (*const conversions[])(const void *restrict from, int32_t type, void *restrict to,
                                   int64_t n) = {
  [TM_TENSOR_FLOAT32] = to_float32, [TM_TENSOR_FLOAT64] = to_float64,
  [TM_TENSOR_FLOAT16] = to_float16, [TM_TENSOR_BOOL] = to_bool,
  [TM_TENSOR_INT8] = to_int8,       [TM_TENSOR_INT16] = to_int16,
  [TM_TENSOR_INT32] = to_int32,     [TM_TENSOR_INT64] = to_int64,
  [TM_TENSOR_UINT8] = to_uint8,     [TM_TENSOR_UINT16] = to_uint16,
  [TM_TENSOR_UINT32] = to_uint32,   [TM_TENSOR_UINT64] = to_uint64,
};

/* ---- NaN ---- */

static bool is_real(int32_t type)
{
  return type == TM_TENSOR_FLOAT32 || type == TM_TENSOR_FLOAT64 || type == TM_TENSOR_FLOAT16;
}

static bool is_nan(const void *data, int32_t type, int64_t i)
{
  if (type == TM_TENSOR_FLOAT16)
    return (((const uint16_t *)data)[i] & 0x7fff) > 0x7c00;
  double x =
      type == TM_TENSOR_FLOAT32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
  return x != x;
}

/* The first element that is NaN; -1: none. */
static int64_t find_nan(const void *data, int32_t type, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (is_nan(data, type, i))
      return i;
  return -1;
}

/* ---- elements at distances ---- */

#define MOVE(T)                                                                                    \
  for (int64_t i = 0; i < n; i++)                                                                  \
    ((T *)to)[i * to_step] = ((const T *)from)[i * from_step];                                     \
  break

static void move(const void *from, int64_t from_step, void *to, int64_t to_step, int64_t size,
                 int64_t n)
{
  switch (size) {
  case 1: MOVE(uint8_t);
  case 2: MOVE(uint16_t);
  case 4: MOVE(uint32_t);
  case 8: MOVE(uint64_t);
  default: tm_require(false);
  }
}

static char *element(const struct tm_tensor_run *run, int64_t i)
{
  return (char *)run->data + i * run->step * tm_tensor_element_size(run->type);
}

int64_t tm_tensor_cast(const struct tm_tensor_run *from, const struct tm_tensor_run *to, int64_t n)
{
  _Alignas(64) char before[BLOCK * 8], after[BLOCK * 8];
  int64_t from_size = tm_tensor_element_size(from->type),
          to_size = tm_tensor_element_size(to->type);
  tm_require(from_size > 0 && from_size <= 8 && to_size > 0 && to_size <= 8);
  bool refuses_nan = is_real(from->type) && !is_real(to->type) && to->type != TM_TENSOR_BOOL;
  for (int64_t done = 0; done < n; done += BLOCK) {
    int64_t count = n - done < BLOCK ? n - done : BLOCK;
    const void *source = element(from, done);
    if (from->step != 1) {
      move(source, from->step, before, 1, from_size, count);
      source = before;
    }
    int64_t nan = refuses_nan ? find_nan(source, from->type, count) : -1;
    if (nan >= 0)
      return done + nan;
    bool is_direct = to->step == 1;
    conversions[to->type](source, from->type, is_direct ? element(to, done) : after, count);
    if (!is_direct)
      move(after, 1, element(to, done), to->step, to_size, count);
  }
  return -1;
}
