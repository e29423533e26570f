/* pixel_table.c - a loop for each size of an element. */
#include "data/images/pixel_table.h"

#include <string.h>

#include "data/tensor/tensor_cast.h"
#include "data/tensor/tensor_types.h"

void tm_pixel_table_fill(struct tm_pixel_table *t, const struct tm_pixel_scaling *s)
{
  bool is_double = s->type == TM_TENSOR_FLOAT64;
  t->element = (size_t)tm_tensor_element_size(s->type);
  for (int c = 0; c < 4; c++) {
    float single[256];
    double exact[256];
    float scale = (float)s->scale, mean = (float)s->mean[c], std = (float)s->std[c];
    for (int v = 0; v < 256; v++) {
      volatile float scaled = (float)v * scale; /* volatile: not joined with the next operation */
      volatile float centred = scaled - mean;
      single[v] = centred / std;
      exact[v] = (v * s->scale - s->mean[c]) / s->std[c];
    }
    const struct tm_tensor_run from = { is_double ? (void *)exact : (void *)single, 1,
                                        is_double ? TM_TENSOR_FLOAT64 : TM_TENSOR_FLOAT32 };
    const struct tm_tensor_run to = { t->at[c], 1, s->type };
    tm_tensor_cast(&from, &to, 256);
  }
  t->is_identity = t->element == 1;
  for (int i = 0; i < 4 * 256 && t->is_identity; i++)
    t->is_identity = t->at[i / 256][i % 256] == i % 256;
}

static bool keeps_order(const struct tm_pixel_target *t)
{
  bool is_kept = t->channel == 1 && t->column == (size_t)t->channels;
  for (int32_t c = 0; c < t->channels; c++)
    is_kept = is_kept && t->from[c] == c;
  return is_kept;
}

/* One channel: n elements at distance `step`. */
#define LOOP(type)                                                                                 \
  static void write_##type(const void *table, type *to, size_t step, const uint8_t *pixels,        \
                           size_t pixel_step, int32_t n)                                           \
  {                                                                                                \
    const type *values = table;                                                                    \
    for (int32_t i = 0; i < n; i++)                                                                \
      to[(size_t)i * step] = values[pixels[(size_t)i * pixel_step]];                               \
  }

LOOP(uint8_t)
LOOP(uint16_t)
LOOP(uint32_t)
LOOP(uint64_t)

void tm_pixel_table_write(const struct tm_pixel_table *t, const struct tm_pixel_target *target,
                          int32_t x, int32_t y, bool is_column, const uint8_t *pixels, int32_t n)
{
  size_t step = is_column ? target->row : target->column, stride = (size_t)target->channels;
  if (t->is_identity && !is_column && keeps_order(target)) {
    memcpy((uint8_t *)target->data + (size_t)y * target->row + (size_t)x * target->column, pixels,
           (size_t)n * stride);
    return;
  }
  for (int32_t c = 0; c < target->channels; c++) {
    size_t at = (size_t)c * target->channel + (size_t)y * target->row + (size_t)x * target->column;
    const uint8_t *p = pixels + target->from[c];
    if (t->element == 1)
      write_uint8_t(t->at[c], (uint8_t *)target->data + at, step, p, stride, n);
    else if (t->element == 2)
      write_uint16_t(t->at[c], (uint16_t *)target->data + at, step, p, stride, n);
    else if (t->element == 4)
      write_uint32_t(t->at[c], (uint32_t *)target->data + at, step, p, stride, n);
    else
      write_uint64_t(t->at[c], (uint64_t *)target->data + at, step, p, stride, n);
  }
}
