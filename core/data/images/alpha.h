/* alpha.h - rows of pixels with an alpha, and rows of grey, with Pillow's roundings. Pure. */
#ifndef TM_DATA_IMAGES_ALPHA_H
#define TM_DATA_IMAGES_ALPHA_H

#include <stddef.h>
#include <stdint.h>

/* Colours times alpha, and back, in place: n pixels of RGBA. */
void tm_alpha_multiply(uint8_t *row, size_t n);
void tm_alpha_divide(uint8_t *row, size_t n);

/* Lays n pixels of RGBA over a colour. `out` gets RGB; it may be `row`. */
void tm_alpha_lay_over(const uint8_t *row, size_t n, const uint8_t background[3], uint8_t *out);

/* The grey of n pixels of RGB. `out` may be `row`. */
void tm_row_to_gray(const uint8_t *row, size_t n, uint8_t *out);

#endif
