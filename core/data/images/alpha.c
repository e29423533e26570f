/* alpha.c - without divisions where Pillow has none. */
#include "data/images/alpha.h"

/* v / 255, rounded. */
static inline uint8_t divide_255(uint32_t v)
{
  v += 128;
  return (uint8_t)(((v >> 8) + v) >> 8);
}

void tm_alpha_multiply(uint8_t *row, size_t n)
{
  for (size_t i = 0; i < n; i++, row += 4) {
    for (int c = 0; c < 3; c++)
      row[c] = divide_255((uint32_t)row[c] * row[3]);
  }
}

void tm_alpha_divide(uint8_t *row, size_t n)
{
  for (size_t i = 0; i < n; i++, row += 4) {
    if (row[3] == 255 || row[3] == 0)
      continue;
    for (int c = 0; c < 3; c++) {
      uint32_t v = 255U * row[c] / row[3];
      row[c] = v < 255 ? (uint8_t)v : 255;
    }
  }
}

void tm_alpha_lay_over(const uint8_t *row, size_t n, const uint8_t background[3], uint8_t *out)
{
  for (size_t i = 0; i < n; i++, row += 4, out += 3) {
    uint32_t alpha = row[3];
    for (int c = 0; c < 3; c++)
      out[c] = divide_255(row[c] * alpha + background[c] * (255 - alpha));
  }
}

void tm_row_to_gray(const uint8_t *row, size_t n, uint8_t *out)
{
  for (size_t i = 0; i < n; i++, row += 3)
    out[i] = (uint8_t)((row[0] * 19595U + row[1] * 38470U + row[2] * 7471U + 0x8000U) >> 16);
}
