/* resample_own.h - what the passes of resample.h share: weights, and a kernel for each instruction
 * set. */
#ifndef TM_DATA_IMAGES_RESAMPLE_OWN_H
#define TM_DATA_IMAGES_RESAMPLE_OWN_H

#include "data/images/resample.h"

#define TM_WEIGHT_BITS 22 /* after the point: 8 bits of a pixel and 2 for overshoot leave these */
#define TM_WEIGHT_LOW  10 /* of them in `low`, without a sign; the others in `high` */
#define TM_WEIGHT_STEP 8  /* weights that a kernel may read at once */

/* Below an output pixel lie `n` pixels, from number `from` on. */
struct tm_window {
  int32_t from, n;
};

/* The weights of one axis. Those of output pixel i are `stride` high parts at i * 2 * stride, and
 * then as many low parts; behind the first n all are 0. */
struct tm_weights {
  int32_t count, stride;
  bool are_one; /* each window is one pixel of weight 1 */
  struct tm_window *windows;
  int16_t *at;
};

/* The pixels that lie below an output pixel, at most, and the bytes that tm_weights_init() takes.
 * Doubles, because sizes are hostile. */
double tm_weights_reach(const struct tm_resample_axis *axis, enum tm_filter filter);
double tm_weights_bytes(const struct tm_resample_axis *axis, enum tm_filter filter);
/* Whether the axis stays as it is. */
bool tm_weights_are_copy(const struct tm_resample_axis *axis);
void tm_weights_init(struct tm_weights *w, const struct tm_resample_axis *axis,
                     enum tm_filter filter);
void tm_weights_release(struct tm_weights *w);

static inline const int16_t *tm_weights_of(const struct tm_weights *w, int32_t i)
{
  return w->at + (size_t)i * 2 * (size_t)w->stride;
}

/* Results of all kernels are equal. Reads and writes may go into the padding. */
struct tm_resample_kernel {
  /* One row: w->count output pixels. */
  void (*across)(const struct tm_weights *w, const uint8_t *row, int32_t channels, uint8_t *out);
  /* The mean of n rows of `bytes` bytes each. If n is odd, rows[n] may be read, too. `high` and
   * `low` are as in struct tm_weights. */
  void (*down)(const uint8_t *const *rows, int32_t n, const int16_t *high, const int16_t *low,
               size_t bytes, uint8_t *out);
};

/* NULL if the program was built for another machine. The caller has checked that this machine
 * supports it. */
const struct tm_resample_kernel *tm_resample_kernel_avx2(void);

#endif
