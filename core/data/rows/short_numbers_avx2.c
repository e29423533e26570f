/* short_numbers_avx2.c - four texts at a time, by the steps of short_numbers.c. Only this file is
 * compiled for AVX2 (see CMakeLists.txt); call it only if the machine supports it. */
#include "data/rows/short_numbers.h"

#if defined(__AVX2__)

#include <immintrin.h>

/* A lane of 64 bits for each text. */
struct texts {
  __m256i digits; /* byte by byte; of other characters more than 9 */
  __m256i text;   /* ones in its bytes, without the '-' */
  __m256i plus;   /* ones if there is no '-' */
};

static inline __m256i is_zero(__m256i x)
{
  return _mm256_cmpeq_epi64(x, _mm256_setzero_si256());
}

static inline struct texts load(const struct tm_short_texts *t, size_t i)
{
  const __m256i ones = _mm256_set1_epi64x(-1);
  __m256i word = _mm256_loadu_si256((const __m256i *)(const void *)(t->words + i));
  __m256i n = _mm256_loadu_si256((const __m256i *)(const void *)(t->lens + i));
  /* a text that is empty or too long has no bytes left */
  __m256i left = _mm256_sub_epi64(_mm256_set1_epi64x(64), _mm256_slli_epi64(n, 3));
  __m256i text = _mm256_sllv_epi64(ones, left);
  __m256i first = _mm256_andnot_si256(_mm256_slli_epi64(text, 8), text);
  __m256i d = _mm256_and_si256(_mm256_xor_si256(word, _mm256_set1_epi8('0')), text);
  __m256i minus = _mm256_and_si256(_mm256_cmpeq_epi8(d, _mm256_set1_epi8('-' ^ '0')), first);
  return (struct texts) { _mm256_andnot_si256(minus, d), _mm256_andnot_si256(minus, text),
                          is_zero(minus) };
}

/* Removes the first point. Returns how many digits are behind it; 8 means 0. */
static inline __m256i take_point(struct texts *t)
{
  const __m256i ones = _mm256_set1_epi64x(-1);
  __m256i point = _mm256_cmpeq_epi8(t->digits, _mm256_set1_epi8('.' ^ '0'));
  __m256i none = is_zero(point);
  __m256i before =
      _mm256_andnot_si256(none, _mm256_andnot_si256(point, _mm256_add_epi64(point, ones)));
  __m256i shifted = _mm256_andnot_si256(
      none, _mm256_or_si256(_mm256_slli_epi64(before, 8), _mm256_set1_epi64x(0xff)));
  t->digits = _mm256_or_si256(_mm256_slli_epi64(_mm256_and_si256(t->digits, before), 8),
                              _mm256_andnot_si256(shifted, t->digits));
  t->text = _mm256_andnot_si256(point, t->text);
  return _mm256_sad_epu8(_mm256_andnot_si256(shifted, _mm256_set1_epi8(1)), _mm256_setzero_si256());
}

/* A bit for each text that has digits and nothing else. */
static inline uint32_t find_good(const struct texts *t)
{
  const __m256i nine = _mm256_set1_epi8(9);
  __m256i right = _mm256_cmpeq_epi8(_mm256_max_epu8(t->digits, nine), nine);
  __m256i all = _mm256_cmpeq_epi64(right, _mm256_set1_epi64x(-1));
  __m256i good = _mm256_andnot_si256(is_zero(t->text), all);
  return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(good));
}

/* Combines digits by pairs, then fours, then eight. */
static inline __m256i eight_digits(__m256i d)
{
  __m256i pairs = _mm256_maddubs_epi16(d, _mm256_set1_epi16(1 << 8 | 10));
  __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 << 16 | 100));
  return _mm256_add_epi64(_mm256_mul_epu32(fours, _mm256_set1_epi64x(10000)),
                          _mm256_srli_epi64(fours, 32));
}

/* Of integers from 0 to 2^52 - 1, which become the low bits of 2^52 + x. */
static inline __m256d to_doubles(__m256i x)
{
  const __m256d large = _mm256_set1_pd(0x1p52);
  return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(x, _mm256_castpd_si256(large))), large);
}

static uint32_t avx2_doubles(const struct tm_short_texts *t, size_t n, double out[TM_SHORT_MANY])
{
  const __m256i tens = _mm256_setr_epi32(1, 10, 100, 1000, 10000, 100000, 1000000, 10000000);
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  uint32_t good = 0;
  for (size_t i = 0; i < n; i += 4) {
    struct texts x = load(t, i);
    __m256i decimals = take_point(&x);
    __m256i power = _mm256_and_si256(_mm256_permutevar8x32_epi32(tens, decimals), low);
    __m256d value = _mm256_div_pd(to_doubles(eight_digits(x.digits)), to_doubles(power));
    __m256d sign = _mm256_andnot_pd(_mm256_castsi256_pd(x.plus), _mm256_set1_pd(-0.0));
    _mm256_storeu_pd(out + i, _mm256_or_pd(value, sign));
    good |= find_good(&x) << i;
  }
  return good & (uint32_t)((UINT64_C(1) << n) - 1);
}

static uint32_t avx2_longs(const struct tm_short_texts *t, size_t n, int64_t out[TM_SHORT_MANY])
{
  uint32_t good = 0;
  for (size_t i = 0; i < n; i += 4) {
    struct texts x = load(t, i);
    __m256i minus = _mm256_andnot_si256(x.plus, _mm256_set1_epi64x(-1));
    __m256i value = _mm256_sub_epi64(_mm256_xor_si256(eight_digits(x.digits), minus), minus);
    _mm256_storeu_si256((__m256i *)(void *)(out + i), value);
    good |= find_good(&x) << i;
  }
  return good & (uint32_t)((UINT64_C(1) << n) - 1);
}

static const struct tm_short_kernel kernel = { avx2_doubles, avx2_longs };

const struct tm_short_kernel *tm_short_kernel_avx2(void)
{
  return &kernel;
}

#else

const struct tm_short_kernel *tm_short_kernel_avx2(void)
{
  return NULL;
}

#endif
