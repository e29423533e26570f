/* placing.c - the order of the operations is that of the Python functions, because another order
 * rounds in another way. rint() rounds to even, like Python's round(). */
#include "data/images/placing.h"

#include <math.h>

#define SIDE_MAX 1000000

bool tm_sizing_is_fixed(const struct tm_sizing *s, int32_t *width, int32_t *height)
{
  *width = s->width > 0 ? s->width : s->crop_width;
  *height = s->width > 0 ? s->height : s->crop_height;
  return *width > 0;
}

static void place_whole(struct tm_placing *p, int32_t width, int32_t height)
{
  p->right = (float)width;
  p->bottom = (float)height;
}

/* ImageOps.fit */
static void place_cover(struct tm_placing *p, int32_t width, int32_t height)
{
  double ratio = (double)width / height, want = (double)p->width / p->height;
  double part_width = width, part_height = height;
  if (ratio > want)
    part_width = want * height;
  else if (ratio < want)
    part_height = width / want;
  double left = (width - part_width) * 0.5, top = (height - part_height) * 0.5;
  p->left = (float)left;
  p->top = (float)top;
  p->right = (float)(left + part_width);
  p->bottom = (float)(top + part_height);
}

static int32_t at_least_one(double n)
{
  return n < 1 ? 1 : (int32_t)n;
}

/* ImageOps.pad */
static void place_contain(struct tm_placing *p, int32_t width, int32_t height)
{
  double ratio = (double)width / height, want = (double)p->width / p->height;
  place_whole(p, width, height);
  if (ratio > want)
    p->height = at_least_one(rint((double)height / width * p->width));
  else if (ratio < want)
    p->width = at_least_one(rint((double)width / height * p->height));
  p->x = (int32_t)rint((p->out_width - p->width) * 0.5);
  p->y = (int32_t)rint((p->out_height - p->height) * 0.5);
}

static void place_sized(const struct tm_sizing *s, int32_t width, int32_t height,
                        struct tm_placing *p)
{
  p->width = p->out_width = s->width;
  p->height = p->out_height = s->height;
  if (s->fit == TM_FIT_COVER)
    place_cover(p, width, height);
  else if (s->fit == TM_FIT_CONTAIN)
    place_contain(p, width, height);
  else
    place_whole(p, width, height);
  p->kept_width = p->width;
  p->kept_height = p->height;
}

/* CenterCrop, along one axis. */
static void crop_axis(int32_t size, int32_t crop, int32_t *cut, int32_t *kept, int32_t *at)
{
  *kept = size < crop ? size : crop;
  *cut = size > crop ? (int32_t)rint((size - crop) / 2.0) : 0;
  *at = size < crop ? (crop - size) / 2 : 0;
}

static int place_cropped(const struct tm_sizing *s, int32_t width, int32_t height,
                         struct tm_placing *p, struct tm_err *err)
{
  double w = width, h = height;
  if (s->resize > 0) {
    double shorter = width < height ? width : height;
    w = width <= height ? s->resize : floor(s->resize * w / shorter);
    h = width <= height ? floor(s->resize * h / shorter) : s->resize;
  }
  if (w > SIDE_MAX || h > SIDE_MAX)
    return tm_err_set(err, TM_ELIMIT,
                      "its size would be %.0f x %.0f; a side has at most %d pixels; set 'width' "
                      "and 'height'",
                      w, h, SIDE_MAX);
  place_whole(p, width, height);
  p->width = (int32_t)w;
  p->height = (int32_t)h;
  p->out_width = s->crop_width > 0 ? s->crop_width : p->width;
  p->out_height = s->crop_height > 0 ? s->crop_height : p->height;
  crop_axis(p->width, p->out_width, &p->cut_x, &p->kept_width, &p->x);
  crop_axis(p->height, p->out_height, &p->cut_y, &p->kept_height, &p->y);
  return 0;
}

int tm_place(const struct tm_sizing *s, int32_t width, int32_t height, struct tm_placing *out,
             struct tm_err *err)
{
  *out = (struct tm_placing) { 0 };
  if (s->width == 0)
    return place_cropped(s, width, height, out, err);
  place_sized(s, width, height, out);
  return 0;
}

void tm_placing_map(const struct tm_placing *p, struct tm_mapping *out)
{
  out->scale_x = p->width / ((double)p->right - p->left);
  out->scale_y = p->height / ((double)p->bottom - p->top);
  out->offset_x = p->x - p->cut_x - p->left * out->scale_x;
  out->offset_y = p->y - p->cut_y - p->top * out->scale_y;
}

int32_t tm_placing_reduction(const struct tm_placing *p)
{
  double across = ((double)p->right - p->left) / p->width;
  double down = ((double)p->bottom - p->top) / p->height;
  double least = across < down ? across : down;
  int32_t by = 8;
  while (by > 1 && least / by < 2)
    by /= 2;
  return by;
}
