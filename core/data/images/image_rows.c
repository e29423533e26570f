/* image_rows.c - opens a picture by its content, holds it to the limits, converts its rows. */
#include "data/images/image_rows.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/images/image_kind.h"
#include "data/images/image_own.h"

int tm_image_refuse(const struct tm_image_source *source, struct tm_err *err, int code,
                    const char *fmt, ...)
{
  struct tm_err own = TM_ERR_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_err_vset(&own, code, fmt, ap);
  va_end(ap);
  return tm_err_set(err, code, "cannot read '%s': %s", source->name, own.text);
}

int tm_image_refuse_cut(const struct tm_image_decoder *d, struct tm_err *err)
{
  return tm_image_refuse(&d->source, err, TM_EDAMAGE,
                         "the file is cut: it ends after row %d of %d%s", (int)d->row,
                         (int)d->height, d->row == d->height ? ", before the mark of its end" : "");
}

int tm_image_refuse_cut_header(const struct tm_image_source *source, struct tm_err *err)
{
  return tm_image_refuse(source, err, TM_EDAMAGE, "the file is cut: it ends in its header");
}

int tm_image_refuse_stopped(const struct tm_image_source *source, struct tm_err *err)
{
  return tm_image_refuse(source, err, -ECANCELED, "decoding was stopped");
}

int tm_image_check_memory(struct tm_image_decoder *d, int64_t bytes, const char *what,
                          struct tm_err *err)
{
  struct tm_buf needed = TM_BUF_NONE, limit = TM_BUF_NONE;
  d->memory = bytes;
  if (bytes <= d->options.max_memory)
    return 0;
  tm_text_bytes(&needed, bytes);
  tm_text_bytes(&limit, d->options.max_memory);
  int rc = tm_image_refuse(
      &d->source, err, TM_ELIMIT,
      "%s of %d x %d pixels takes %s of memory while it is decoded; 'max_memory' is %s", what,
      (int)d->info.width, (int)d->info.height, tm_buf_str(&needed), tm_buf_str(&limit));
  tm_buf_release(&needed);
  tm_buf_release(&limit);
  return rc;
}

static int check_pixels(const struct tm_image_source *source, const struct tm_image_info *info,
                        int64_t max_pixels, struct tm_err *err)
{
  struct tm_buf has = TM_BUF_NONE, limit = TM_BUF_NONE;
  int64_t pixels = (int64_t)info->width * info->height;
  if (pixels <= max_pixels)
    return 0;
  tm_text_grouped(&has, pixels);
  tm_text_grouped(&limit, max_pixels);
  int rc =
      tm_image_refuse(source, err, TM_ELIMIT, "it has %d x %d = %s pixels; 'max_pixels' is %s",
                      (int)info->width, (int)info->height, tm_buf_str(&has), tm_buf_str(&limit));
  tm_buf_release(&has);
  tm_buf_release(&limit);
  return rc;
}

static int refuse_kind(const struct tm_image_source *source, struct tm_err *err)
{
  const char *hint = NULL;
  if (source->len == 0)
    return tm_image_refuse(source, err, TM_EINPUT, "the file is empty");
  const char *kind = tm_image_other_kind(source->data, source->len, &hint);
  if (kind != NULL)
    return tm_image_refuse(source, err, TM_EINPUT, "the file is %s; %s", kind, hint);
  return tm_image_refuse(source, err, TM_EINPUT,
                         "the file is not an image; JPEG, PNG, WebP and PNM are read");
}

static const struct tm_image_format_ops *ops_of(const struct tm_image_source *source,
                                                struct tm_err *err)
{
  switch (tm_image_format_of(source->data, source->len)) {
  case TM_IMAGE_JPEG: return &tm_image_jpeg;
  case TM_IMAGE_PNG: return &tm_image_png;
  case TM_IMAGE_WEBP: return &tm_image_webp;
  case TM_IMAGE_PNM: return &tm_image_pnm;
  }
  refuse_kind(source, err);
  return NULL;
}

int tm_image_info(const struct tm_image_source *source, struct tm_image_info *info,
                  struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  const struct tm_image_format_ops *ops = ops_of(source, err);
  *info = (struct tm_image_info) { .orientation = 1 };
  return ops == NULL ? err->code : ops->read_info(source, info, err);
}

/* After the decoder has opened: what rows look like, and memory for one before its conversion. */
static void finish_open(struct tm_image_rows *rows, struct tm_image_decoder *d)
{
  int32_t wanted = d->options.channels;
  rows->info = d->info;
  rows->width = d->width;
  rows->height = d->height;
  rows->memory = d->memory;
  rows->channels = wanted != 0 ? wanted : tm_image_own_channels(&d->pixels);
  if (!tm_image_is_same(&d->pixels, rows->channels))
    d->raw = tm_xmalloc((size_t)d->width * (size_t)tm_image_layout_bytes(d->pixels.layout));
}

int tm_image_open(struct tm_image_rows *rows, const struct tm_image_source *source,
                  const struct tm_image_options *options, struct tm_err *err)
{
  struct tm_image_info info;
  err = TM_ERR_OWN(err);
  *rows = (struct tm_image_rows) { 0 };
  int rc = tm_image_info(source, &info, err);
  if (rc == 0)
    rc = check_pixels(source, &info, options->max_pixels, err);
  if (rc != 0)
    return rc;
  rows->ops = ops_of(source, err);
  struct tm_image_decoder *d = tm_xcalloc(1, rows->ops->state_size);
  rows->state = d;
  d->source = *source;
  d->options = *options;
  d->info = info;
  d->width = info.width;
  d->height = info.height;
  rc = rows->ops->open(d, err);
  if (rc == 0)
    finish_open(rows, d);
  else
    tm_image_close(rows);
  return rc;
}

int tm_image_next(struct tm_image_rows *rows, uint8_t *row, struct tm_err *err)
{
  struct tm_image_decoder *d = rows->state;
  tm_require(d->row < d->height);
  if (tm_image_is_stopped(d))
    return tm_image_refuse_stopped(&d->source, err);
  int rc = rows->ops->next(d, d->raw != NULL ? d->raw : row, err);
  if (rc != 0)
    return rc;
  d->row++;
  if (d->raw != NULL)
    tm_image_convert(&d->pixels, d->raw, d->width, rows->channels, row);
  return 0;
}

void tm_image_close(struct tm_image_rows *rows)
{
  struct tm_image_decoder *d = rows->state;
  if (d == NULL)
    return;
  rows->ops->close(d);
  free(d->raw);
  free(d);
  rows->state = NULL;
}
