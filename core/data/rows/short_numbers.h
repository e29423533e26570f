/* short_numbers.h - numbers of at most eight characters, several at a time.
 *
 * Most numbers of a table are short: perhaps a '-', digits, perhaps a point. For these, the results
 * are those of value.h, bit by bit. All others (longer, empty, with a '+', an exponent, blanks, a
 * word) are left to value.h. All kernels give the same results on every
 * input.
 *
 * Pure.
 */
#ifndef TM_DATA_ROWS_SHORT_NUMBERS_H
#define TM_DATA_ROWS_SHORT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "data/rows/scan.h"

enum { TM_SHORT_MAX = 8, TM_SHORT_MANY = 32 };

/* words[i] holds the eight bytes that end with text i, the last one in its highest byte; those
 * before the text may have any value. lens[i]: the bytes of text i; 0 or more than TM_SHORT_MAX:
 * left to value.h. */
struct tm_short_texts {
  uint64_t words[TM_SHORT_MANY];
  uint64_t lens[TM_SHORT_MANY];
};

/* Each takes n <= TM_SHORT_MANY texts, and returns a bit for each: out[i] is the number of text i.
 * Without its bit, out[i] is undefined. */
struct tm_short_kernel {
  uint32_t (*doubles)(const struct tm_short_texts *t, size_t n, double out[TM_SHORT_MANY]);
  uint32_t (*longs)(const struct tm_short_texts *t, size_t n, int64_t out[TM_SHORT_MANY]);
};

/* The fastest one of this machine that is not beyond `kind`; never NULL. */
const struct tm_short_kernel *tm_short_kernel(enum tm_scan_kind kind);

/* NULL if the program was built for another machine. The caller has checked that this one supports
 * AVX2. */
const struct tm_short_kernel *tm_short_kernel_avx2(void);

#endif
