/* resample_avx2.c - eight weights at once. Only this file is compiled for AVX2 (see
 * CMakeLists.txt); call it only if the machine supports it.
 *
 * A weight has 24 bits or so, and a multiplication of 16 bits is the fastest there is. So each
 * weight is multiplied in two parts, whose sums are put together at the end: exact, modulo 2^32. */
#include "data/images/resample_own.h"

#if defined(__AVX2__)

#include <immintrin.h>
#include <string.h>

static inline __m128i load(const void *p)
{
  return _mm_loadu_si128(p);
}

/* Two weights, for all pairs of the register. */
static inline __m256i load_pair(const int16_t *weights)
{
  int32_t pair;
  memcpy(&pair, weights, sizeof pair);
  return _mm256_set1_epi32(pair);
}

struct sums {
  __m256i high, low;
};

static inline void add(struct sums *s, __m256i pixels, __m256i high, __m256i low)
{
  s->high = _mm256_add_epi32(s->high, _mm256_madd_epi16(pixels, high));
  s->low = _mm256_add_epi32(s->low, _mm256_madd_epi16(pixels, low));
}

static inline __m256i total(const struct sums *s)
{
  return _mm256_add_epi32(_mm256_slli_epi32(s->high, TM_WEIGHT_LOW), s->low);
}

static inline __m128i join_halves(__m256i sums)
{
  return _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

/* Four sums, rounded and clipped, in the lowest bytes. */
static inline int32_t to_bytes(__m128i sums)
{
  __m128i half = _mm_set1_epi32(1 << (TM_WEIGHT_BITS - 1));
  __m128i words = _mm_srai_epi32(_mm_add_epi32(sums, half), TM_WEIGHT_BITS);
  words = _mm_packs_epi32(words, words);
  return _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
}

/* The low half takes pixels 0 to 3, the high one 4 to 7: pairs of the channels of pixels 0 and 1,
 * and of 2 and 3. */
static inline void add_eight(struct sums *s, const uint8_t *p, int32_t channels,
                             const int16_t *high, const int16_t *low, __m256i first, __m256i second)
{
  const __m256i even = _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2);
  const __m256i odd = _mm256_setr_epi32(1, 1, 1, 1, 3, 3, 3, 3);
  __m256i pixels =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load(p)), load(p + 4 * channels), 1);
  __m256i h = _mm256_castsi128_si256(load(high)), l = _mm256_castsi128_si256(load(low));
  add(s, _mm256_shuffle_epi8(pixels, first), _mm256_permutevar8x32_epi32(h, even),
      _mm256_permutevar8x32_epi32(l, even));
  add(s, _mm256_shuffle_epi8(pixels, second), _mm256_permutevar8x32_epi32(h, odd),
      _mm256_permutevar8x32_epi32(l, odd));
}

/* For 3 and 4 channels. Writes 4 bytes each time, of which the next pixel overwrites the last. */
static inline void across_colours(const struct tm_weights *w, const uint8_t *row, int32_t channels,
                                  uint8_t *out, __m256i first, __m256i second)
{
  for (int32_t i = 0; i < w->count; i++) {
    const int16_t *weights = tm_weights_of(w, i);
    const uint8_t *p = row + (size_t)w->windows[i].from * (size_t)channels;
    struct sums s = { _mm256_setzero_si256(), _mm256_setzero_si256() };
    for (int32_t x = 0; x < w->windows[i].n; x += 8)
      add_eight(&s, p + (size_t)x * (size_t)channels, channels, weights + x,
                weights + w->stride + x, first, second);
    int32_t bytes = to_bytes(join_halves(total(&s)));
    memcpy(out + (size_t)i * (size_t)channels, &bytes, sizeof bytes);
  }
}

static void across_rgb(const struct tm_weights *w, const uint8_t *row, uint8_t *out)
{
  across_colours(w, row, 3, out,
                 _mm256_broadcastsi128_si256(
                     _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1)),
                 _mm256_broadcastsi128_si256(
                     _mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1)));
}

static void across_rgba(const struct tm_weights *w, const uint8_t *row, uint8_t *out)
{
  across_colours(w, row, 4, out,
                 _mm256_broadcastsi128_si256(
                     _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1)),
                 _mm256_broadcastsi128_si256(
                     _mm_setr_epi8(8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1)));
}

static void across_gray(const struct tm_weights *w, const uint8_t *row, uint8_t *out)
{
  for (int32_t i = 0; i < w->count; i++) {
    const int16_t *weights = tm_weights_of(w, i);
    const uint8_t *p = row + w->windows[i].from;
    __m128i high = _mm_setzero_si128(), low = high;
    for (int32_t x = 0; x < w->windows[i].n; x += 8) {
      __m128i pixels = _mm_cvtepu8_epi16(_mm_loadl_epi64((const void *)(p + x)));
      high = _mm_add_epi32(high, _mm_madd_epi16(pixels, load(weights + x)));
      low = _mm_add_epi32(low, _mm_madd_epi16(pixels, load(weights + w->stride + x)));
    }
    __m128i sums = _mm_add_epi32(_mm_slli_epi32(high, TM_WEIGHT_LOW), low);
    sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(1, 0, 3, 2)));
    sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(2, 3, 0, 1)));
    out[i] = (uint8_t)to_bytes(sums);
  }
}

static void across(const struct tm_weights *w, const uint8_t *row, int32_t channels, uint8_t *out)
{
  if (channels == 1)
    across_gray(w, row, out);
  else if (channels == 3)
    across_rgb(w, row, out);
  else
    across_rgba(w, row, out);
}

/* Rounds and clips 16 sums, which are in order: a has 0 to 3 and 8 to 11. */
static inline __m128i to_sixteen(__m256i a, __m256i b)
{
  __m256i half = _mm256_set1_epi32(1 << (TM_WEIGHT_BITS - 1));
  a = _mm256_srai_epi32(_mm256_add_epi32(a, half), TM_WEIGHT_BITS);
  b = _mm256_srai_epi32(_mm256_add_epi32(b, half), TM_WEIGHT_BITS);
  __m256i words = _mm256_packs_epi32(a, b);
  return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

static void down(const uint8_t *const *rows, int32_t n, const int16_t *high, const int16_t *low,
                 size_t bytes, uint8_t *out)
{
  const __m256i zero = _mm256_setzero_si256();
  for (size_t x = 0; x < bytes; x += 16) {
    struct sums a = { zero, zero }, b = a;
    for (int32_t y = 0; y < n; y += 2) {
      __m256i upper = _mm256_cvtepu8_epi16(load(rows[y] + x));
      __m256i lower = _mm256_cvtepu8_epi16(load(rows[y + 1] + x));
      __m256i h = load_pair(high + y), l = load_pair(low + y);
      add(&a, _mm256_unpacklo_epi16(upper, lower), h, l);
      add(&b, _mm256_unpackhi_epi16(upper, lower), h, l);
    }
    _mm_storeu_si128((void *)(out + x), to_sixteen(total(&a), total(&b)));
  }
}

const struct tm_resample_kernel *tm_resample_kernel_avx2(void)
{
  static const struct tm_resample_kernel kernel = { across, down };
  return &kernel;
}

#else

const struct tm_resample_kernel *tm_resample_kernel_avx2(void)
{
  return NULL;
}

#endif
