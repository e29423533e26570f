/* scan_sse2.c - 64 bytes in four registers; every 64-bit x86 supports it. */
#include "data/rows/scan_own.h"

#if defined(__SSE2__)

#include <emmintrin.h>

#include "data/rows/scan_masks.h"

#define KERNEL_NAME "sse2"

static inline uint64_t find_byte(const __m128i part[4], char c)
{
  uint64_t bits = 0;
  __m128i all = _mm_set1_epi8(c);
  for (int i = 0; i < 4; i++)
    bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part[i], all)) << (16 * i);
  return bits;
}

static inline void load(const char *p, __m128i part[4])
{
  for (int i = 0; i < 4; i++)
    part[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
}

static inline struct tm_masks classify(const char *p, char separator)
{
  __m128i part[4];
  load(p, part);
  return (struct tm_masks) {
    .quote = find_byte(part, '"'),
    .separator = find_byte(part, separator),
    .line = find_byte(part, '\n'),
    .high = (uint32_t)_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(part[0], part[1]), _mm_or_si128(part[2], part[3]))),
  };
}

static inline uint64_t classify_lines(const char *p)
{
  __m128i part[4];
  load(p, part);
  return find_byte(part, '\n');
}

static inline uint64_t prefix_xor(uint64_t x)
{
  for (int by = 1; by < 64; by *= 2)
    x ^= x << by;
  return x;
}

#include "data/rows/scan_kernel.h"

const struct tm_scan_kernel *tm_scan_kernel_sse2(void)
{
  return &kernel;
}

#else

const struct tm_scan_kernel *tm_scan_kernel_sse2(void)
{
  return NULL;
}

#endif
