/* image_seeds.c - small pictures of every kind, for the fuzz targets of images to begin with.
 *
 *   image_seeds FOLDER     writes FOLDER/image_jpeg/0, ... image_png, image_webp, image_pnm
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>

#include "image_fixture.h"

static const char *folder;

static void save(const char *format, struct tm_buf *file)
{
  static int count;
  char path[4096];
  snprintf(path, sizeof(path), "%s/image_%s/%d", folder, format, count++);
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(file->data, 1, file->len, f) != file->len || fclose(f) != 0) {
    fprintf(stderr, "cannot write '%s'\n", path);
    exit(1);
  }
  tm_buf_release(file);
}

/* Bits of `kind`: progressive, arithmetic coding, restarts, full colour, a row of blocks alone. */
static void save_jpeg(int channels, unsigned kind)
{
  struct jpeg_compress_struct c;
  struct jpeg_error_mgr errors;
  unsigned char *bytes = NULL;
  unsigned long n = 0;
  int width = 17, height = kind & 16 ? 8 : 19;
  uint8_t *pixels = picture_pixels(width, height, channels);
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  jpeg_mem_dest(&c, &bytes, &n);
  c.image_width = (JDIMENSION)width;
  c.image_height = (JDIMENSION)height;
  c.input_components = channels;
  c.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, 60, TRUE);
  if (channels == 4 && kind & 4)
    jpeg_set_colorspace(&c, JCS_YCCK);
  if (kind & 1)
    jpeg_simple_progression(&c);
  c.arith_code = kind & 2 ? TRUE : FALSE;
  c.restart_interval = kind & 4 ? 1 : 0;
  if (kind & 8)
    c.comp_info[0].h_samp_factor = c.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&c, TRUE);
  for (int i = 0; i < height; i++) {
    JSAMPROW row = pixels + i * width * channels;
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  struct tm_buf file = TM_BUF_NONE;
  tm_buf_add(&file, bytes, n);
  save("jpeg", &file);
  free(bytes);
  free(pixels);
}

/* `filters` counts through the five filters, row by row. */
static void save_png(uint8_t kind, uint8_t bits, uint8_t interlace)
{
  static const uint8_t channels[] = { 1, 0, 3, 1, 2, 0, 4 };
  enum { WIDTH = 11, HEIGHT = 9 };
  uint8_t h[13] = { [3] = WIDTH, [7] = HEIGHT, [8] = bits, [9] = kind, [12] = interlace };
  uint8_t plain[8 * 2 * WIDTH * HEIGHT], packed[4096], exif[26];
  size_t row = ((size_t)WIDTH * channels[kind] * bits + 7) / 8 + 1, n = row * HEIGHT;
  uLongf len = sizeof(packed);
  struct tm_buf file = TM_BUF_NONE;
  if (interlace)
    n += 2 * row; /* more rows, which are shorter */
  for (size_t i = 0; i < n; i++)
    plain[i] = interlace      ? (uint8_t)(i % 5)
               : i % row == 0 ? (uint8_t)(i / row % 5)
                              : (uint8_t)(i * 7);
  tm_require(compress(packed, &len, plain, n) == Z_OK);
  tm_buf_add(&file, "\x89PNG\r\n\x1a\n", 8);
  picture_add_part(&file, "IHDR", h, sizeof(h));
  if (kind == 3)
    picture_add_part(&file, "PLTE", plain, 3 * (1 << (bits < 4 ? bits : 4)));
  if (kind < 4)
    picture_add_part(&file, "tRNS", "\0\7\0\16\0\25", kind == 0 ? 2 : kind == 2 ? 6 : 2);
  picture_exif(exif, 6, true);
  picture_add_part(&file, "eXIf", exif, sizeof(exif));
  picture_add_part(&file, "IDAT", packed, len / 2);
  picture_add_part(&file, "IDAT", packed + len / 2, len - len / 2);
  picture_add_part(&file, "IEND", "", 0);
  save("png", &file);
}

static void save_pngs(void)
{
  static const uint8_t kinds[][2] = { { 0, 1 }, { 0, 2 },  { 0, 4 }, { 0, 8 }, { 0, 16 },
                                      { 2, 8 }, { 2, 16 }, { 3, 1 }, { 3, 4 }, { 3, 8 },
                                      { 4, 8 }, { 4, 16 }, { 6, 8 }, { 6, 16 } };
  for (size_t i = 0; i < TM_COUNT_OF(kinds) * 2; i++)
    save_png(kinds[i / 2][0], kinds[i / 2][1], i & 1);
  for (int i = 0; i < 6; i++) {
    struct tm_buf file = picture_make(TM_IMAGE_PNG, 13, 9, (int32_t[]) { 1, 3, 4 }[i / 2], i & 1);
    save("png", &file);
  }
}

static void add_webp_part(struct tm_buf *out, const char *name, const void *p, size_t n)
{
  tm_buf_add(out, name, 4);
  tm_buf_add_u32(out, (uint32_t)n);
  tm_buf_add(out, p, n);
  if (n & 1)
    tm_buf_add_char(out, 0);
}

/* An animation of one frame, at 2, 2 of a canvas of 16 x 16, with EXIF. */
static void save_animation(int32_t channels, bool is_lossless)
{
  struct tm_buf still = picture_make(TM_IMAGE_WEBP, 9, 7, channels, is_lossless);
  struct tm_buf frame = TM_BUF_NONE, file = TM_BUF_NONE;
  static const uint8_t head[16] = { 1, 0, 0, 1, 0, 0, 8, 0, 0, 6 };
  static const uint8_t x[10] = { 2 | 8 | 16, 0, 0, 0, 15, 0, 0, 15 };
  uint8_t exif[26];
  size_t skip = memcmp(still.data + 12, "VP8X", 4) == 0 ? 30 : 12;
  picture_exif(exif, 6, false);
  tm_buf_add(&frame, head, sizeof(head));
  tm_buf_add(&frame, still.data + skip, still.len - skip);
  tm_buf_add(&file, "RIFF\0\0\0\0WEBP", 12);
  add_webp_part(&file, "VP8X", x, sizeof(x));
  add_webp_part(&file, "ANIM", "\0\0\0\0\0\0", 6);
  add_webp_part(&file, "ANMF", frame.data, frame.len);
  add_webp_part(&file, "EXIF", exif, sizeof(exif));
  tm_put_u32(file.data + 4, (uint32_t)file.len - 8);
  save("webp", &file);
  tm_buf_release(&still);
  tm_buf_release(&frame);
}

static void save_webps(void)
{
  for (int i = 0; i < 4; i++) {
    struct tm_buf file = picture_make(TM_IMAGE_WEBP, 19, 17, i & 1 ? 4 : 3, i & 2);
    save("webp", &file);
    save_animation(i & 1 ? 4 : 3, i & 2);
  }
}

static void save_pnms(void)
{
  static const char *const texts[] = {
    "P1\n# bits\n5 2\n10101\n0 1 0 1 0\n",
    "P2 3 2 # grey\n15\n0 1 15\n3 4 5",
    "P2 2 2 65535\n0 65535\n1000 2000\n",
    "P3\n2\t2\r\n255\n1 2 3 4 5 6\n7 8 9 10 11 255\n",
    "P3 1 1 1023 0 512 1023\n",
    "P4\n12 2\nabcd",
    "P5 3 2 255\nabcdef",
    "P5 2 1 9999\nabcd",
    "P6 2 1 255\nabcdef",
    "P6 1 1 65535\nabcdef",
    "P6 2 1 100\n\x10\x20\x30\x40\x50\x60",
  };
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++) {
    struct tm_buf file = TM_BUF_NONE;
    tm_buf_add_str(&file, texts[i]);
    save("pnm", &file);
  }
}

int main(int argc, char **argv)
{
  static const char *const formats[] = { "jpeg", "png", "webp", "pnm" };
  char path[4096];
  if (argc != 2) {
    fprintf(stderr, "usage: image_seeds FOLDER\n");
    return 2;
  }
  folder = argv[1];
  mkdir(folder, 0777);
  for (size_t i = 0; i < TM_COUNT_OF(formats); i++) {
    snprintf(path, sizeof(path), "%s/image_%s", folder, formats[i]);
    mkdir(path, 0777);
  }
  for (unsigned kind = 0; kind < 32; kind++) {
    save_jpeg(3, kind);
    if (kind < 8) {
      save_jpeg(1, kind);
      save_jpeg(4, kind);
    }
  }
  save_pngs();
  save_webps();
  save_pnms();
  return 0;
}
