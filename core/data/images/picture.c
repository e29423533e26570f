/* picture.c - joins the parts; each of them is a module of its own. */
#include "data/images/picture.h"

#include "base/mem.h"
#include "data/images/alpha.h"

int32_t tm_channels_count(enum tm_channels channels)
{
  return channels == TM_CHANNELS_GRAY ? 1 : channels == TM_CHANNELS_RGBA ? 4 : 3;
}

/* Colours as they are laid over the background; else what the caller wants. */
static int32_t channels_decoded(const struct tm_picture_options *o,
                                const struct tm_image_info *info)
{
  bool may_be_clear = info->format != TM_IMAGE_JPEG;
  if (o->has_background && may_be_clear && o->channels != TM_CHANNELS_RGBA)
    return 4;
  return tm_channels_count(o->channels);
}

static int name_it(const struct tm_picture *p, int rc, struct tm_err *err)
{
  return rc < 0 ? tm_err_wrap(err, "cannot read '%s'", p->name) : rc;
}

/* The parts of the placing are in pixels of the whole picture; a reduced one has fewer. */
static void shrink_part(struct tm_placing *p, float across, float down)
{
  p->left *= across;
  p->right *= across;
  p->top *= down;
  p->bottom *= down;
}

static bool is_turned(const struct tm_picture *p)
{
  return p->orientation >= 5;
}

static int place(struct tm_picture *p, const struct tm_image_info *info, struct tm_err *err)
{
  p->orientation = p->options->heeds_orientation ? info->orientation : 1;
  int32_t width = is_turned(p) ? info->height : info->width;
  int32_t height = is_turned(p) ? info->width : info->height;
  int rc = tm_place(&p->options->sizing, width, height, &p->placing, err);
  if (rc < 0)
    return name_it(p, rc, err);
  tm_placing_map(&p->placing, &p->mapping);
  return 0;
}

int tm_picture_open(struct tm_picture *p, const struct tm_image_source *source,
                    const struct tm_picture_options *options, const atomic_bool *stop,
                    struct tm_err *err)
{
  struct tm_err *own = TM_ERR_OWN(err);
  struct tm_image_info info;
  *p = (struct tm_picture) { .options = options, .name = source->name };
  int rc = tm_image_info(source, &info, own);
  if (rc >= 0)
    rc = place(p, &info, own);
  if (rc < 0)
    return rc;
  struct tm_image_options wanted = {
    .max_pixels = options->max_pixels,
    .max_memory = options->max_memory,
    .channels = channels_decoded(options, &info),
    .scale = options->is_fast ? tm_placing_reduction(&p->placing) : 1,
    .fills_missing = options->fills_missing,
    .stop = stop,
  };
  rc = tm_image_open(&p->rows, source, &wanted, own);
  if (rc < 0)
    return rc;
  float across = (float)p->rows.width / (float)info.width;
  float down = (float)p->rows.height / (float)info.height;
  shrink_part(&p->placing, is_turned(p) ? down : across, is_turned(p) ? across : down);
  return 0;
}

void tm_picture_close(struct tm_picture *p)
{
  tm_image_close(&p->rows);
}

/* EXIF's numbers say where the first row and the first column are to be seen. */
static void set_axes(const struct tm_picture *p, struct tm_resample_options *o)
{
  const struct tm_placing *at = &p->placing;
  int32_t n = p->orientation;
  int32_t width = is_turned(p) ? p->rows.height : p->rows.width;
  int32_t height = is_turned(p) ? p->rows.width : p->rows.height;
  struct tm_resample_axis across = {
    width,
    at->left,
    at->right,
    at->width,
    at->cut_x,
    at->kept_width,
    n == 2 || n == 3 || n == 6 || n == 7,
  };
  struct tm_resample_axis down = {
    height,
    at->top,
    at->bottom,
    at->height,
    at->cut_y,
    at->kept_height,
    n == 3 || n == 4 || n == 7 || n == 8,
  };
  o->rows_first = is_turned(p);
  o->columns = o->rows_first ? down : across;
  o->rows = o->rows_first ? across : down;
}

static int open_resample(const struct tm_picture *p, int32_t channels, struct tm_resample **r,
                         struct tm_err *err)
{
  struct tm_resample_options o = {
    .channels = channels,
    .filter = p->options->filter,
    .max_memory = p->options->max_memory,
    .decoding = p->rows.memory,
  };
  set_axes(p, &o);
  return name_it(p, tm_resample_open(r, &o, err), err);
}

static struct tm_pixel_target target_of(const struct tm_picture *p, void *data)
{
  size_t channels = (size_t)tm_channels_count(p->options->channels);
  size_t width = (size_t)p->placing.out_width, height = (size_t)p->placing.out_height;
  bool swaps = p->options->channels == TM_CHANNELS_BGR, is_planar = p->options->is_planar;
  return (struct tm_pixel_target) {
    .data = data,
    .channel = is_planar ? width * height : 1,
    .row = is_planar ? width : width * channels,
    .column = is_planar ? 1 : channels,
    .channels = (int32_t)channels,
    .from = { swaps ? 2 : 0, 1, swaps ? 0 : 2, 3 },
  };
}

/* Fills n pixels of row y from x on with the padding. */
static void pad_row(const struct tm_picture *p, const struct tm_pixel_table *table,
                    const struct tm_pixel_target *target, int32_t x, int32_t y, int32_t n)
{
  uint8_t pixel[4];
  for (int c = 0; c < target->channels; c++)
    pixel[target->from[c]] = p->options->fill[c];
  for (int32_t i = 0; i < n; i++)
    tm_pixel_table_write(table, target, x + i, y, false, pixel, 1);
}

static void pad(const struct tm_picture *p, const struct tm_pixel_table *table,
                const struct tm_pixel_target *target)
{
  const struct tm_placing *at = &p->placing;
  int32_t right = at->x + at->kept_width, below = at->y + at->kept_height;
  for (int32_t y = 0; y < at->out_height; y++) {
    bool is_beside = y >= at->y && y < below;
    pad_row(p, table, target, 0, y, is_beside ? at->x : at->out_width);
    if (is_beside)
      pad_row(p, table, target, right, y, at->out_width - right);
  }
}

/* What comes from the decoder, as it goes into the resample. */
static void convert_row(const struct tm_picture *p, int32_t channels, uint8_t *row)
{
  size_t width = (size_t)p->rows.width;
  if (p->rows.channels == 4 && channels != 4)
    tm_alpha_lay_over(row, width, p->options->background, row);
  if (p->rows.channels == 4 && channels == 1)
    tm_row_to_gray(row, width, row);
}

struct lines {
  uint8_t *in, *out;
  struct tm_resample *resample;
  int32_t taken;
};

static void take_rows(const struct tm_picture *p, const struct tm_pixel_table *table,
                      const struct tm_pixel_target *target, bool from_last, struct lines *lines)
{
  const struct tm_placing *at = &p->placing;
  int32_t all = is_turned(p) ? at->kept_width : at->kept_height;
  while (tm_resample_take(lines->resample, lines->out)) {
    int32_t i = from_last ? all - 1 - lines->taken : lines->taken;
    lines->taken++;
    if (is_turned(p))
      tm_pixel_table_write(table, target, at->x + i, at->y, true, lines->out, at->kept_height);
    else
      tm_pixel_table_write(table, target, at->x, at->y + i, false, lines->out, at->kept_width);
  }
}

static int read_rows(struct tm_picture *p, const struct tm_pixel_table *table,
                     const struct tm_pixel_target *target, struct lines *lines, struct tm_err *err)
{
  int32_t n = p->orientation;
  bool from_last = n == 3 || n == 4 || n == 6 || n == 7;
  for (int32_t y = 0; y < p->rows.height; y++) {
    int rc = tm_image_next(&p->rows, lines->in, err);
    if (rc < 0)
      return rc;
    convert_row(p, target->channels, lines->in);
    tm_resample_put(lines->resample, lines->in);
    take_rows(p, table, target, from_last, lines);
  }
  return 0;
}

int tm_picture_read(struct tm_picture *p, const struct tm_pixel_table *table, void *data,
                    struct tm_err *err)
{
  struct tm_err *own = TM_ERR_OWN(err);
  const struct tm_pixel_target target = target_of(p, data);
  const struct tm_placing *at = &p->placing;
  struct lines lines = { 0 };
  int rc = open_resample(p, target.channels, &lines.resample, own);
  if (rc < 0)
    return rc;
  size_t in = (size_t)p->rows.width * (size_t)p->rows.channels;
  size_t longest = (size_t)(is_turned(p) ? at->kept_height : at->kept_width);
  lines.in = tm_xcalloc(1, in + TM_RESAMPLE_PADDING);
  lines.out = tm_xcalloc(1, longest * (size_t)target.channels + TM_RESAMPLE_PADDING);
  if (at->kept_width < at->out_width || at->kept_height < at->out_height)
    pad(p, table, &target);
  rc = read_rows(p, table, &target, &lines, own);
  tm_resample_close(lines.resample);
  free(lines.in);
  free(lines.out);
  return rc;
}
