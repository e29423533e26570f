/* webp.c - WebP, decoded by libwebp. Of an animation, the first frame on a clear canvas is read, as
 * Pillow reads it.
 *
 * libwebp holds a picture whole. It gets the file in at most STEPS pieces, so that decoding can be
 * stopped between them. A file that is cut is an error also with `fills_missing`, as in Pillow.
 */
#include <string.h>

#include <webp/decode.h>

#include "base/mem.h"
#include "data/images/image_own.h"
#include "data/images/webp_codes.h"
#include "data/images/webp_marks.h"

enum {
  STEPS = 32,
  SMALLEST_STEP = 64 << 10,
  LOSSY = 1,          /* libwebp's number */
  MOST_GROUPS = 10000 /* libwebp writes 2600 at most; 65,536 take 10 s, and cannot be stopped */
};

struct webp {
  struct tm_image_decoder d;
  struct tm_webp_look look;
  const uint8_t *data; /* of the frame */
  size_t len;
  int32_t x, y, width, height; /* of the frame, on the canvas */
  bool is_lossy;
  uint8_t *whole;
};

static const char *reason_of(VP8StatusCode status)
{
  switch (status) {
  case VP8_STATUS_OUT_OF_MEMORY: return "not enough memory";
  case VP8_STATUS_UNSUPPORTED_FEATURE: return "it has a feature that libwebp does not know";
  case VP8_STATUS_SUSPENDED:
  case VP8_STATUS_NOT_ENOUGH_DATA: return "its pixels end early";
  default: return "libwebp cannot decode it";
  }
}

static int refuse(const struct tm_image_source *source, VP8StatusCode status, struct tm_err *err)
{
  return tm_image_refuse(source, err, TM_EDAMAGE, "the WebP is damaged: %s", reason_of(status));
}

static int webp_info(const struct tm_image_source *source, struct tm_image_info *info,
                     struct tm_err *err)
{
  WebPBitstreamFeatures f;
  VP8StatusCode status = WebPGetFeatures(source->data, source->len, &f);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA)
    return tm_image_refuse_cut_header(source, err);
  if (status != VP8_STATUS_OK)
    return refuse(source, status, err);
  *info = (struct tm_image_info) { TM_IMAGE_WEBP, f.width, f.height, f.has_alpha ? 4 : 3, 8, 1 };
  info->orientation = tm_webp_look(source->data, source->len).orientation;
  return 0;
}

/* Where the first frame is, its place on the canvas, and how it is coded. */
static int find_frame(struct webp *w, struct tm_err *err)
{
  WebPBitstreamFeatures f = { 0 };
  const struct tm_webp_look *look = &w->look;
  w->data = w->d.source.data;
  w->len = w->d.source.len;
  w->width = w->d.width;
  w->height = w->d.height;
  if (!look->is_animated) {
    w->is_lossy = WebPGetFeatures(w->data, w->len, &f) == VP8_STATUS_OK && f.format == LOSSY;
    return 0;
  }
  if (look->frame == NULL)
    return look->is_cut ? tm_image_refuse_cut(&w->d, err)
                        : refuse(&w->d.source, VP8_STATUS_BITSTREAM_ERROR, err);
  w->data = look->frame;
  w->len = look->frame_len;
  w->x = look->x;
  w->y = look->y;
  w->width = look->frame_width;
  w->height = look->frame_height;
  VP8StatusCode status = WebPGetFeatures(w->data, w->len, &f);
  if (status == VP8_STATUS_OK && (f.width != w->width || f.height != w->height ||
                                  w->x + w->width > w->d.width || w->y + w->height > w->d.height))
    status = VP8_STATUS_BITSTREAM_ERROR;
  w->is_lossy = f.format == LOSSY;
  return status == VP8_STATUS_OK ? 0 : refuse(&w->d.source, status, err);
}

/* Feeds the decoder. The status is VP8_STATUS_USER_ABORT if it was stopped. */
static VP8StatusCode decode(struct webp *w, WebPIDecoder *decoder)
{
  VP8StatusCode status = VP8_STATUS_SUSPENDED;
  size_t step = w->len / STEPS > SMALLEST_STEP ? w->len / STEPS : SMALLEST_STEP;
  for (size_t fed = 0; fed < w->len && status == VP8_STATUS_SUSPENDED;) {
    if (tm_image_is_stopped(&w->d))
      return VP8_STATUS_USER_ABORT;
    fed = w->len - fed > step ? fed + step : w->len;
    status = WebPIUpdate(decoder, w->data, fed);
  }
  return status;
}

static int32_t bytes_of(const struct webp *w)
{
  return tm_image_layout_bytes(w->d.pixels.layout);
}

static int decode_whole(struct webp *w, struct tm_err *err)
{
  WebPDecoderConfig config;
  size_t row = (size_t)w->d.width * (size_t)bytes_of(w);
  size_t at = (size_t)w->y * row + (size_t)w->x * (size_t)bytes_of(w);
  if (!WebPInitDecoderConfig(&config))
    return refuse(&w->d.source, VP8_STATUS_UNSUPPORTED_FEATURE, err);
  config.output.colorspace = w->d.pixels.layout == TM_PIXELS_RGBA ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = w->whole + at;
  config.output.u.RGBA.stride = (int)row;
  config.output.u.RGBA.size = row * (size_t)w->d.height - at;
  WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
  if (decoder == NULL)
    return refuse(&w->d.source, VP8_STATUS_OUT_OF_MEMORY, err);
  VP8StatusCode status = decode(w, decoder);
  int rows = 0;
  WebPIDecodedArea(decoder, NULL, NULL, NULL, &rows);
  WebPIDelete(decoder);
  if (status == VP8_STATUS_USER_ABORT)
    return tm_image_refuse_stopped(&w->d.source, err);
  if (w->look.is_cut && (status == VP8_STATUS_OK || status == VP8_STATUS_SUSPENDED)) {
    w->d.row = rows;
    return tm_image_refuse_cut(&w->d, err);
  }
  return status == VP8_STATUS_OK ? 0 : refuse(&w->d.source, status, err);
}

/* The pixels; libwebp's own, if they are coded without loss; and alpha, which always is. */
static int64_t memory_of(const struct webp *w)
{
  bool has_alpha = w->d.pixels.layout == TM_PIXELS_RGBA;
  int64_t each = bytes_of(w) + (w->is_lossy ? 0 : 4) + (has_alpha ? w->is_lossy ? 5 : 1 : 0);
  return (int64_t)w->d.width * w->d.height * each + (int64_t)w->d.width * 128 + (1 << 20);
}

/* Before this, the memory for the pixels was allowed. */
static int check_codes(struct webp *w, struct tm_err *err)
{
  size_t n;
  const uint8_t *lossless = tm_webp_lossless(w->data, w->len, &n);
  if (lossless == NULL)
    return 0;
  struct tm_webp_codes codes = tm_webp_codes(lossless, n, w->width, w->height);
  if (codes.groups > MOST_GROUPS)
    return tm_image_refuse(&w->d.source, err, TM_ELIMIT,
                           "the WebP has more than %d groups of codes, the limit", MOST_GROUPS);
  return tm_image_check_memory(&w->d, memory_of(w) + codes.memory, "a WebP", err);
}

static int webp_open(struct tm_image_decoder *d, struct tm_err *err)
{
  struct webp *w = (struct webp *)d;
  d->pixels.layout = d->info.channels == 4 ? TM_PIXELS_RGBA : TM_PIXELS_RGB;
  w->look = tm_webp_look(d->source.data, d->source.len);
  int rc = find_frame(w, err);
  if (rc == 0)
    rc = tm_image_check_memory(d, memory_of(w), "a WebP", err);
  if (rc == 0)
    rc = check_codes(w, err);
  if (rc != 0)
    return rc;
  w->whole = tm_xcalloc((size_t)d->height, (size_t)d->width * (size_t)bytes_of(w));
  return decode_whole(w, err);
}

static int webp_next(struct tm_image_decoder *d, uint8_t *row, struct tm_err *err)
{
  struct webp *w = (struct webp *)d;
  size_t n = (size_t)d->width * (size_t)bytes_of(w);
  memcpy(row, w->whole + n * (size_t)d->row, n);
  return 0;
}

static void webp_close(struct tm_image_decoder *d)
{
  free(((struct webp *)d)->whole);
}

const struct tm_image_format_ops tm_image_webp = { sizeof(struct webp), webp_info, webp_open,
                                                   webp_next, webp_close };
