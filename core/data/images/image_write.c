/* image_write.c - PNG by libpng, JPEG by libjpeg-turbo.
 *
 * Both leave a call that fails by our longjmp(); everything that changes is in struct writer. */
#include "data/images/image_write.h"

#include <setjmp.h>
#include <stdio.h> /* before jpeglib.h, which needs it */

#include <jpeglib.h>
#include <png.h>

#include "base/mem.h"

enum { STEP = 64 << 10, DEFAULT_QUALITY = 75 };

struct writer {
  const struct tm_image_pixel_rows *rows;
  const struct tm_image_write_options *options;
  struct tm_buf *out;
  struct jpeg_compress_struct c;
  struct jpeg_error_mgr errors;
  struct jpeg_destination_mgr bytes;
  png_structp png;
  png_infop info;
  jmp_buf jump;
  char reason[JMSG_LENGTH_MAX];
};

static const uint8_t *row_at(const struct writer *w, int32_t i)
{
  return w->rows->at + (size_t)w->rows->width * (size_t)w->rows->channels * (size_t)i;
}

static void on_jpeg_error(j_common_ptr c)
{
  struct writer *w = c->client_data;
  c->err->format_message(c, w->reason);
  longjmp(w->jump, 1);
}

static void on_jpeg_output(j_common_ptr c)
{
}

static void give_room(struct writer *w)
{
  w->bytes.next_output_byte = (JOCTET *)tm_buf_extend(w->out, STEP);
  w->bytes.free_in_buffer = STEP;
}

static void on_jpeg_start(j_compress_ptr c)
{
  give_room(c->client_data);
}

static boolean on_jpeg_full(j_compress_ptr c)
{
  give_room(c->client_data);
  return TRUE;
}

static void on_jpeg_end(j_compress_ptr c)
{
  struct writer *w = c->client_data;
  w->out->len -= w->bytes.free_in_buffer;
}

static bool write_jpeg(struct writer *w)
{
  w->c.err = jpeg_std_error(&w->errors);
  w->c.client_data = w;
  w->errors.error_exit = on_jpeg_error;
  w->errors.output_message = on_jpeg_output;
  if (setjmp(w->jump))
    return false;
  jpeg_create_compress(&w->c);
  w->bytes = (struct jpeg_destination_mgr) { .init_destination = on_jpeg_start,
                                             .empty_output_buffer = on_jpeg_full,
                                             .term_destination = on_jpeg_end };
  w->c.dest = &w->bytes;
  w->c.image_width = (JDIMENSION)w->rows->width;
  w->c.image_height = (JDIMENSION)w->rows->height;
  w->c.input_components = w->rows->channels;
  w->c.in_color_space = w->rows->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&w->c);
  jpeg_set_quality(&w->c, w->options->quality != 0 ? w->options->quality : DEFAULT_QUALITY, TRUE);
  if (w->options->is_progressive)
    jpeg_simple_progression(&w->c);
  jpeg_start_compress(&w->c, TRUE);
  while (w->c.next_scanline < w->c.image_height) {
    JSAMPROW rows[] = { (JSAMPROW)(uintptr_t)row_at(w, (int32_t)w->c.next_scanline) };
    jpeg_write_scanlines(&w->c, rows, 1);
  }
  jpeg_finish_compress(&w->c);
  return true;
}

static _Noreturn void on_png_error(png_structp png, png_const_charp words)
{
  struct writer *w = png_get_error_ptr(png);
  snprintf(w->reason, sizeof(w->reason), "%s", words);
  longjmp(w->jump, 1);
}

static void on_png_warning(png_structp png, png_const_charp words)
{
}

static void on_png_bytes(png_structp png, png_bytep from, size_t n)
{
  struct writer *w = png_get_io_ptr(png);
  tm_buf_add(w->out, from, n);
}

static void on_png_flush(png_structp png)
{
}

static bool write_png(struct writer *w)
{
  static const int types[] = { 0, PNG_COLOR_TYPE_GRAY, 0, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA };
  if (setjmp(w->jump))
    return false;
  w->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, w, on_png_error, on_png_warning);
  w->info = w->png == NULL ? NULL : png_create_info_struct(w->png);
  if (w->info == NULL)
    return false;
  png_set_write_fn(w->png, w, on_png_bytes, on_png_flush);
  png_set_user_limits(w->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(w->png, w->info, (png_uint_32)w->rows->width, (png_uint_32)w->rows->height, 8,
               types[w->rows->channels],
               w->options->is_progressive ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w->png, w->info);
  for (int pass = png_set_interlace_handling(w->png); pass > 0; pass--) {
    for (int32_t i = 0; i < w->rows->height; i++)
      png_write_row(w->png, row_at(w, i));
  }
  png_write_end(w->png, w->info);
  return true;
}

static int check(const struct tm_image_pixel_rows *rows,
                 const struct tm_image_write_options *options, struct tm_err *err)
{
  bool is_jpeg = options->format == TM_IMAGE_JPEG;
  int32_t most = is_jpeg ? JPEG_MAX_DIMENSION : PNG_UINT_31_MAX;
  if (!is_jpeg && options->format != TM_IMAGE_PNG)
    return tm_err_set(err, TM_EUSAGE, "images are written as PNG or JPEG");
  if (rows->width < 1 || rows->height < 1 || rows->width > most || rows->height > most)
    return tm_err_set(err, TM_EUSAGE,
                      "cannot write %d x %d pixels: a %s has 1 to %d in each direction",
                      (int)rows->width, (int)rows->height, is_jpeg ? "JPEG" : "PNG", (int)most);
  if (rows->channels != 1 && rows->channels != 3 && (is_jpeg || rows->channels != 4))
    return tm_err_set(err, TM_EUSAGE, "cannot write %d channels: a %s has %s", (int)rows->channels,
                      is_jpeg ? "JPEG" : "PNG",
                      is_jpeg ? "1 (grey) or 3 (RGB)" : "1 (grey), 3 (RGB) or 4 (RGBA)");
  if (is_jpeg && (options->quality < 0 || options->quality > 100))
    return tm_err_set(err, TM_EUSAGE, "the quality of a JPEG is a number from 1 to 100, not %d",
                      (int)options->quality);
  return 0;
}

int tm_image_write(const struct tm_image_pixel_rows *rows,
                   const struct tm_image_write_options *options, struct tm_buf *out,
                   struct tm_err *err)
{
  int rc = check(rows, options, err);
  if (rc != 0)
    return rc;
  struct writer *w = TM_NEW(struct writer);
  size_t before = out->len;
  w->rows = rows;
  w->options = options;
  w->out = out;
  bool is_written = options->format == TM_IMAGE_JPEG ? write_jpeg(w) : write_png(w);
  if (!is_written) {
    out->len = before;
    rc = tm_err_set(err, TM_EUSAGE, "cannot write the image: %s",
                    w->reason[0] != '\0' ? w->reason : "the library has no memory");
  }
  jpeg_destroy_compress(&w->c);
  if (w->png != NULL)
    png_destroy_write_struct(&w->png, &w->info);
  free(w);
  return rc;
}
