/* png.c - PNG, decoded by libpng.
 *
 * libpng leaves a call that fails by our longjmp(), so each function that calls it has its own
 * setjmp(), changes no local variable behind it, and keeps everything in struct png. It sees only
 * the chunks that matter to pixels; it skips the others, but checks their sums.
 *
 * A file that is cut gets an end: the last IDAT gets the length that it has, and an IEND follows.
 * So libpng gives every row that the file has.
 *
 * Rows are read one by one. An interlaced PNG is held whole.
 */
#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include <png.h>

#include "base/mem.h"
#include "data/images/image_own.h"
#include "data/images/png_marks.h"

enum png_failure { FAILED_DAMAGE = 1, FAILED_CUT, FAILED_STOPPED };

struct piece {
  const uint8_t *at;
  size_t len;
};

struct png {
  struct tm_image_decoder d;
  png_structp png;
  png_infop info;
  jmp_buf jump;
  enum png_failure failure;
  char reason[200];
  struct tm_png_look look;
  struct piece pieces[4]; /* of the file, in its order; the last one is the end that we add */
  uint8_t cut_header[8];
  int piece, pass;
  bool is_filling; /* the file has ended */
  uint8_t *whole;  /* the pixels of an interlaced PNG */
};

static _Noreturn void leave(struct png *p, enum png_failure failure)
{
  p->failure = failure;
  longjmp(p->jump, 1);
}

static _Noreturn void on_error(png_structp png, png_const_charp words)
{
  struct png *p = png_get_error_ptr(png);
  snprintf(p->reason, sizeof(p->reason), "%s", words);
  leave(p, p->look.is_cut && p->piece >= 3 ? FAILED_CUT : FAILED_DAMAGE);
}

static void on_warning(png_structp png, png_const_charp words)
{
}

static void on_read(png_structp png, png_bytep to, size_t n)
{
  struct png *p = png_get_io_ptr(png);
  while (n > 0) {
    while (p->piece < 4 && p->pieces[p->piece].len == 0)
      p->piece++;
    if (p->piece == 4)
      leave(p, FAILED_CUT);
    struct piece *from = &p->pieces[p->piece];
    size_t some = n < from->len ? n : from->len;
    memcpy(to, from->at, some);
    from->at += some;
    from->len -= some;
    to += some;
    n -= some;
  }
}

/* The file as it is, or with an end. */
static void set_pieces(struct png *p)
{
  static const uint8_t end[] = "\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82"; /* a sum, and an IEND */
  const struct tm_image_source *s = &p->d.source;
  size_t at = p->look.cut_at, left = s->len - at, body = left > 8 ? left - 8 : 0;
  if (!p->look.is_cut) {
    p->pieces[0] = (struct piece) { s->data, s->len };
    return;
  }
  p->pieces[0] = (struct piece) { s->data, at };
  bool has_body = left >= 8 && memcmp(s->data + at + 4, "IDAT", 4) == 0;
  if (has_body) {
    const uint8_t *h = s->data + at;
    size_t whole = (size_t)h[0] << 24 | (size_t)h[1] << 16 | (size_t)h[2] << 8 | h[3];
    body = body < whole ? body : whole;
    for (int i = 0; i < 4; i++)
      p->cut_header[i] = (uint8_t)(body >> 8 * (3 - i));
    memcpy(p->cut_header + 4, "IDAT", 4);
    p->pieces[1] = (struct piece) { p->cut_header, 8 };
    p->pieces[2] = (struct piece) { s->data + at + 8, body };
  }
  p->pieces[3] = (struct piece) { end + (has_body ? 0 : 4), sizeof(end) - 1 - (has_body ? 0 : 4) };
}

/* Reads up to the first IDAT. False: `failure` says why. */
static bool read_header(struct png *p)
{
  if (setjmp(p->jump))
    return false;
  p->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
  if (p->png == NULL)
    return false;
  p->info = png_create_info_struct(p->png);
  if (p->info == NULL)
    return false;
  set_pieces(p);
  png_set_read_fn(p->png, p, on_read);
  png_set_user_limits(p->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(p->png, TM_IMAGE_MAX_PART);
  png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  int action = p->look.is_cut ? PNG_CRC_QUIET_USE : PNG_CRC_ERROR_QUIT;
  png_set_crc_action(p->png, action, PNG_CRC_ERROR_QUIT);
  png_read_info(p->png, p->info);
  return true;
}

static int refuse(struct png *p, struct tm_err *err)
{
  const struct tm_image_source *source = &p->d.source;
  switch (p->failure) {
  case FAILED_STOPPED: return tm_image_refuse_stopped(source, err);
  case FAILED_CUT:
    if (p->pass > 0)
      return tm_image_refuse(source, err, TM_EDAMAGE,
                             "the file is cut: it ends in pass %d of 7 of the interlaced PNG",
                             p->pass);
    return tm_image_refuse_cut(&p->d, err);
  case FAILED_DAMAGE: break;
  }
  return tm_image_refuse(source, err, TM_EDAMAGE, "the PNG is damaged: %s",
                         p->reason[0] != '\0' ? p->reason : "libpng has no memory");
}

static int open_header(struct png *p, struct tm_err *err)
{
  p->look = tm_png_look(p->d.source.data, p->d.source.len);
  if (p->look.is_cut && !p->look.has_pixels)
    return tm_image_refuse_cut_header(&p->d.source, err);
  if (p->look.largest > TM_IMAGE_MAX_PART)
    return tm_image_refuse(
        &p->d.source, err, TM_ELIMIT,
        "the PNG has a chunk of %zu bytes beside its pixels; at most %d are read", p->look.largest,
        (int)TM_IMAGE_MAX_PART);
  return read_header(p) ? 0 : refuse(p, err);
}

static bool has_clear(const struct png *p)
{
  return png_get_valid(p->png, p->info, PNG_INFO_tRNS) != 0;
}

static int32_t channels_of(const struct png *p)
{
  switch (png_get_color_type(p->png, p->info)) {
  case PNG_COLOR_TYPE_GRAY: return has_clear(p) ? 2 : 1;
  case PNG_COLOR_TYPE_GRAY_ALPHA: return 2;
  case PNG_COLOR_TYPE_RGB_ALPHA: return 4;
  default: return has_clear(p) ? 4 : 3;
  }
}

static void release(struct png *p)
{
  if (p->png != NULL)
    png_destroy_read_struct(&p->png, &p->info, NULL);
  free(p->whole);
}

static int png_info_of(const struct tm_image_source *source, struct tm_image_info *info,
                       struct tm_err *err)
{
  struct png *p = TM_NEW(struct png);
  p->d.source = *source;
  int rc = open_header(p, err);
  if (rc == 0)
    *info = (struct tm_image_info) { .format = TM_IMAGE_PNG,
                                     .width = (int32_t)png_get_image_width(p->png, p->info),
                                     .height = (int32_t)png_get_image_height(p->png, p->info),
                                     .channels = channels_of(p),
                                     .bits = png_get_bit_depth(p->png, p->info),
                                     .orientation = p->look.orientation };
  release(p);
  free(p);
  return rc;
}

/* Entries that the file has not are grey, as in Pillow. */
static void set_palette(struct png *p, struct tm_image_pixels *pixels)
{
  png_colorp colours = NULL;
  png_bytep alpha = NULL;
  int count = 0, alphas = 0;
  png_get_PLTE(p->png, p->info, &colours, &count);
  if (has_clear(p))
    png_get_tRNS(p->png, p->info, &alpha, &alphas, NULL);
  for (int i = 0; i < 256; i++) {
    uint8_t *to = pixels->palette[i];
    to[0] = i < count ? colours[i].red : (uint8_t)i;
    to[1] = i < count ? colours[i].green : (uint8_t)i;
    to[2] = i < count ? colours[i].blue : (uint8_t)i;
    to[3] = i < alphas ? alpha[i] : 255;
    pixels->has_clear_indices |= to[3] != 255;
  }
}

/* Pillow compares pixels of 8 bits with the value as the file has it, also where the file's pixels
 * have fewer bits. */
static void set_clear_colour(struct png *p, struct tm_image_pixels *pixels, bool is_grey)
{
  png_color_16p colour = NULL;
  png_get_tRNS(p->png, p->info, NULL, NULL, &colour);
  if (colour == NULL)
    return;
  pixels->has_clear_colour = true;
  pixels->clear[0] = is_grey ? colour->gray : colour->red;
  pixels->clear[1] = is_grey ? colour->gray : colour->green;
  pixels->clear[2] = is_grey ? colour->gray : colour->blue;
}

/* Bytes for each channel, indices for a palette. Called within setjmp(). */
static void set_pixels(struct png *p)
{
  struct tm_image_pixels *pixels = &p->d.pixels;
  bool is_wide = p->d.info.bits == 16, has_key = has_clear(p);
  int type = png_get_color_type(p->png, p->info);
  bool is_grey = type == PNG_COLOR_TYPE_GRAY || type == PNG_COLOR_TYPE_GRAY_ALPHA;
  if (type == PNG_COLOR_TYPE_PALETTE) {
    pixels->layout = TM_PIXELS_INDEX;
    png_set_packing(p->png);
    set_palette(p, pixels);
    return;
  }
  if (is_wide && has_key)
    png_set_tRNS_to_alpha(p->png);
  else if (has_key)
    set_clear_colour(p, pixels, is_grey);
  if (is_wide)
    png_set_strip_16(p->png);
  if (is_grey && p->d.info.bits < 8)
    png_set_expand_gray_1_2_4_to_8(p->png);
  bool has_alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || (is_wide && has_key);
  if (is_grey)
    pixels->layout = has_alpha ? TM_PIXELS_GREY_ALPHA : TM_PIXELS_GREY;
  else
    pixels->layout = has_alpha ? TM_PIXELS_RGBA : TM_PIXELS_RGB;
}

static bool start(struct png *p)
{
  if (setjmp(p->jump))
    return false;
  set_pixels(p);
  png_set_interlace_handling(p->png);
  png_start_read_image(p->png);
  return true;
}

static size_t row_bytes(const struct png *p)
{
  return (size_t)p->d.width * (size_t)tm_image_layout_bytes(p->d.pixels.layout);
}

static bool is_interlaced(const struct png *p)
{
  return png_get_interlace_type(p->png, p->info) != PNG_INTERLACE_NONE;
}

/* Behind the last row, libpng reads on to the end of the IDAT. If the file ends there, the row is
 * read. */
static bool has_last_row(const struct png *p)
{
  if (p->failure != FAILED_CUT)
    return false;
  if (is_interlaced(p))
    return png_get_current_pass_number(p->png) == 7;
  return (int64_t)png_get_current_row_number(p->png) == p->d.height;
}

static bool read_passes(struct png *p)
{
  if (setjmp(p->jump))
    return has_last_row(p);
  for (p->pass = 1; p->pass <= 7; p->pass++) {
    for (int32_t i = 0; i < p->d.height; i++) {
      if (tm_image_is_stopped(&p->d))
        leave(p, FAILED_STOPPED);
      png_read_row(p->png, p->whole + row_bytes(p) * (size_t)i, NULL);
    }
  }
  return true;
}

/* Rows of libpng, with those of the filters, and ours. */
static int64_t memory_of(const struct png *p)
{
  int64_t row = (int64_t)p->d.width * 8, bytes = (256 << 10) + 4 * row;
  return is_interlaced(p) ? bytes + (int64_t)p->d.width * p->d.height * 4 : bytes;
}

static int png_open(struct tm_image_decoder *d, struct tm_err *err)
{
  struct png *p = (struct png *)d;
  int rc = open_header(p, err);
  if (rc == 0)
    rc = tm_image_check_memory(d, memory_of(p), is_interlaced(p) ? "an interlaced PNG" : "a PNG",
                               err);
  if (rc != 0)
    return rc;
  if (!start(p))
    return refuse(p, err);
  if (!is_interlaced(p))
    return 0;
  p->whole = tm_xcalloc((size_t)d->height, row_bytes(p));
  if (!read_passes(p) && !(p->failure == FAILED_CUT && d->options.fills_missing))
    return refuse(p, err);
  return 0;
}

static bool read_row(struct png *p, uint8_t *row)
{
  if (setjmp(p->jump))
    return has_last_row(p);
  png_read_row(p->png, row, NULL);
  return true;
}

static int png_next(struct tm_image_decoder *d, uint8_t *row, struct tm_err *err)
{
  struct png *p = (struct png *)d;
  if (p->whole != NULL) {
    memcpy(row, p->whole + row_bytes(p) * (size_t)d->row, row_bytes(p));
    return 0;
  }
  if (!p->is_filling && !read_row(p, row)) {
    if (p->failure != FAILED_CUT || !d->options.fills_missing)
      return refuse(p, err);
    p->is_filling = true;
  }
  if (p->is_filling)
    memset(row, 0, row_bytes(p));
  return 0;
}

static void png_close(struct tm_image_decoder *d)
{
  release((struct png *)d);
}

const struct tm_image_format_ops tm_image_png = { sizeof(struct png), png_info_of, png_open,
                                                  png_next, png_close };
