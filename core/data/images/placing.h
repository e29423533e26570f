/* placing.h - where a picture goes: which part of it is made how large, and what of that lies where
 * in the output. The roundings are those of Pillow's ImageOps (stretch, cover, contain) and of
 * torchvision's Resize and CenterCrop. Pure.
 */
#ifndef TM_DATA_IMAGES_PLACING_H
#define TM_DATA_IMAGES_PLACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum tm_fit { TM_FIT_STRETCH, TM_FIT_COVER, TM_FIT_CONTAIN };

/* Either width and height with `fit`, or `resize` and `crop`, each of which may be 0: not. */
struct tm_sizing {
  enum tm_fit fit;
  int32_t width, height;           /* of the output; 0: not set */
  int32_t resize;                  /* the shorter side becomes this */
  int32_t crop_width, crop_height; /* then the middle is cut out; what is smaller is padded */
};

struct tm_placing {
  float left, top, right, bottom;  /* the part of the picture */
  int32_t width, height;           /* its size after the resample */
  int32_t cut_x, cut_y;            /* where in that the pixels begin that are kept */
  int32_t kept_width, kept_height; /* and how many they are */
  int32_t x, y;                    /* where they lie in the output */
  int32_t out_width, out_height;   /* the size of the output */
};

/* How a point of the picture is found in the output: x * scale_x + offset_x. */
struct tm_mapping {
  double scale_x, scale_y, offset_x, offset_y;
};

/* The size of the output, if it does not depend on the picture. */
bool tm_sizing_is_fixed(const struct tm_sizing *s, int32_t *width, int32_t *height);

/* For a picture of this size, after it was turned upright. TM_ELIMIT, without a name of the
 * picture: the output would have a side of more than a million pixels. */
int tm_place(const struct tm_sizing *s, int32_t width, int32_t height, struct tm_placing *out,
             struct tm_err *err);

void tm_placing_map(const struct tm_placing *p, struct tm_mapping *out);

/* The largest of 8, 4 and 2 to which the picture may be reduced first, so that the part is still at
 * least twice as large as the result; 1: none. */
int32_t tm_placing_reduction(const struct tm_placing *p);

#endif
