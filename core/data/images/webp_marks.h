/* webp_marks.h - the parts of a WebP, found without decoding it. Pure; the bytes may be hostile. */
#ifndef TM_DATA_IMAGES_WEBP_MARKS_H
#define TM_DATA_IMAGES_WEBP_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_webp_look {
  int32_t orientation; /* 1: none */
  bool is_cut;         /* the bytes end before the size that the file says it has */
  bool is_animated;
  int32_t width, height; /* of the canvas, of an animation */
  const uint8_t *frame;  /* the first frame of an animation: its pixels; NULL: none */
  size_t frame_len;
  int32_t x, y, frame_width, frame_height; /* of that frame */
};

/* `data` begins with "RIFF....WEBP". */
struct tm_webp_look tm_webp_look(const uint8_t *data, size_t len);

/* What is coded without loss in a still picture or a frame: its pixels, or the alphas of lossy
 * ones. *n: the bytes from there that libwebp may read. NULL: nothing. */
const uint8_t *tm_webp_lossless(const uint8_t *data, size_t len, size_t *n);

#endif
