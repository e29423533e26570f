/* scan_avx2.c - 64 bytes in two registers, quote parity by a carry-less multiplication. Only this
 * file is compiled for AVX2 (see CMakeLists.txt); call it only if the machine supports it. */
#include "data/rows/scan_own.h"

#if defined(__AVX2__) && defined(__PCLMUL__)

#include <immintrin.h>

#include "data/rows/scan_masks.h"

#define KERNEL_NAME "avx2"

static inline uint64_t bits_of(__m256i low, __m256i high)
{
  return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

static inline uint64_t find_byte(__m256i low, __m256i high, char c)
{
  __m256i all = _mm256_set1_epi8(c);
  return bits_of(_mm256_cmpeq_epi8(low, all), _mm256_cmpeq_epi8(high, all));
}

static inline struct tm_masks classify(const char *p, char separator)
{
  __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
  __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
  return (struct tm_masks) {
    .quote = find_byte(low, high, '"'),
    .separator = find_byte(low, high, separator),
    .line = find_byte(low, high, '\n'),
    .high = (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(low, high)),
  };
}

static inline uint64_t classify_lines(const char *p)
{
  return find_byte(_mm256_loadu_si256((const __m256i *)(const void *)p),
                   _mm256_loadu_si256((const __m256i *)(const void *)(p + 32)), '\n');
}

/* Bit i of the product with all ones is the carry-less sum of bits 0 to i. */
static inline uint64_t prefix_xor(uint64_t x)
{
  return (uint64_t)_mm_cvtsi128_si64(
      _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)x), _mm_set1_epi8((char)0xff), 0));
}

#include "data/rows/scan_kernel.h"

const struct tm_scan_kernel *tm_scan_kernel_avx2(void)
{
  return &kernel;
}

#else

const struct tm_scan_kernel *tm_scan_kernel_avx2(void)
{
  return NULL;
}

#endif
