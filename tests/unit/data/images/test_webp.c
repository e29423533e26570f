/* test_webp.c - WebP: without loss, orientation, animations, a cut. */
#include "unit.h"

#include <string.h>

#include "image_fixture.h"

static void put24(uint8_t *p, int32_t n)
{
  for (int i = 0; i < 3; i++)
    p[i] = (uint8_t)(n >> 8 * i);
}

static void add_part(struct tm_buf *out, const char *name, const void *p, size_t n)
{
  tm_buf_add(out, name, 4);
  tm_buf_add_u32(out, (uint32_t)n);
  tm_buf_add(out, p, n);
  if (n & 1)
    tm_buf_add_char(out, 0);
}

/* "RIFF", and VP8X with these flags and this canvas. */
static void begin(struct tm_buf *out, uint8_t flags, int32_t width, int32_t height)
{
  uint8_t x[10] = { flags };
  put24(x + 4, width - 1);
  put24(x + 7, height - 1);
  tm_buf_add(out, "RIFF\0\0\0\0WEBP", 12);
  add_part(out, "VP8X", x, sizeof(x));
}

static void end(struct tm_buf *out)
{
  tm_put_u32(out->data + 4, (uint32_t)out->len - 8);
}

/* A frame without loss, 4 x 3, at 2, 4. */
static void add_frame(struct tm_buf *out)
{
  struct tm_buf still = picture_make(TM_IMAGE_WEBP, 4, 3, 4, true), frame = TM_BUF_NONE;
  uint8_t head[16] = { 0 };
  put24(head, 1);
  put24(head + 3, 2);
  put24(head + 6, 3);
  put24(head + 9, 2);
  tm_buf_add(&frame, head, sizeof(head));
  tm_buf_add(&frame, still.data + 12, still.len - 12);
  add_part(out, "ANMF", frame.data, frame.len);
  tm_buf_release(&still);
  tm_buf_release(&frame);
}

static void pixels_without_loss_come_back(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_WEBP, 31, 17, 4, true);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_options options = picture_options(0);
  struct tm_image_rows rows;
  uint8_t *all = picture_read(&source, &options, &rows, NULL);
  uint8_t *pixels = picture_pixels(31, 17, 4);
  assert_int_equal(rows.channels, 4);
  for (int i = 0; i < 31 * 17; i++) /* where a pixel is clear, its colour is not kept */
    assert_memory_equal(all + 4 * i + (pixels[4 * i + 3] == 0 ? 3 : 0),
                        pixels + 4 * i + (pixels[4 * i + 3] == 0 ? 3 : 0),
                        pixels[4 * i + 3] == 0 ? 1 : 4);
  free(all);
  free(pixels);
  tm_buf_release(&file);
}

static void the_orientation_is_that_of_exif(void **state)
{
  struct tm_buf still = picture_make(TM_IMAGE_WEBP, 4, 3, 3, false), file = TM_BUF_NONE;
  struct tm_image_info info;
  uint8_t exif[26];
  picture_exif(exif, 8, false);
  begin(&file, 8, 4, 3);
  tm_buf_add(&file, still.data + 12, still.len - 12);
  add_part(&file, "EXIF", exif, sizeof(exif));
  end(&file);
  struct tm_image_source source = picture_source(&file);
  assert_int_equal(tm_image_info(&source, &info, NULL), 0);
  assert_int_equal(info.orientation, 8);
  tm_buf_release(&still);
  tm_buf_release(&file);
}

static void an_animation_gives_its_first_frame_on_a_clear_canvas(void **state)
{
  struct tm_buf file = TM_BUF_NONE;
  struct tm_image_options options = picture_options(0);
  struct tm_image_rows rows;
  begin(&file, 2 | 16, 10, 9);
  add_part(&file, "ANIM", "\xff\xff\xff\xff\0\0", 6);
  add_frame(&file);
  end(&file);
  struct tm_image_source source = picture_source(&file);
  uint8_t *all = picture_read(&source, &options, &rows, NULL);
  assert_non_null(all);
  assert_int_equal(rows.width, 10);
  assert_int_equal(rows.height, 9);
  for (int32_t i = 0; i < 90; i++) {
    int32_t x = i % 10 - 2, y = i / 10 - 4;
    bool is_in = x >= 0 && x < 4 && y >= 0 && y < 3;
    assert_int_equal(all[4 * i + 3], is_in ? picture_value(x, y, 3) : 0);
    assert_int_equal(all[4 * i + 1], is_in ? picture_value(x, y, 1) : 0);
  }
  free(all);
  tm_buf_release(&file);
}

static void a_frame_outside_of_the_canvas_is_damage(void **state)
{
  struct tm_buf file = TM_BUF_NONE;
  struct tm_image_options options = picture_options(0);
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  begin(&file, 2 | 16, 5, 9);
  add_frame(&file);
  end(&file);
  struct tm_image_source source = picture_source(&file);
  assert_int_equal(tm_image_open(&rows, &source, &options, &err), TM_EDAMAGE);
  assert_non_null(strstr(err.text, "the WebP is damaged: libwebp cannot decode it"));
  file.len = 30; /* without any frame */
  end(&file);
  source = picture_source(&file);
  assert_int_equal(tm_image_open(&rows, &source, &options, &err), TM_EDAMAGE);
  tm_buf_release(&file);
}

static void a_cut_is_an_error_also_where_rows_are_filled(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_WEBP, 300, 300, 3, false);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  int row = 0;
  source.len = source.len * 3 / 4;
  options.fills_missing = true;
  assert_int_equal(tm_image_open(&rows, &source, &options, &err), TM_EDAMAGE);
  assert_int_equal(
      sscanf(err.text, "cannot read 'a/b.img': the file is cut: it ends after row %d of 300", &row),
      1);
  assert_in_range(row, 100, 280);
  tm_buf_release(&file);
}

/* 400 x 400: lossy 3 bytes a pixel, without loss 7, with lossy colours and an alpha 9. What is
 * coded without loss takes a little for its codes. */
static void memory_depends_on_how_the_pixels_are_coded(void **state)
{
  static const int32_t each[][2] = { { 3, 7 }, { 9, 9 } };
  for (int i = 0; i < 4; i++) {
    struct tm_buf file = picture_make(TM_IMAGE_WEBP, 400, 400, i / 2 ? 4 : 3, i & 1);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_options options = picture_options(3);
    struct tm_image_rows rows;
    int64_t pixels = 400 * 400 * each[i / 2][i & 1] + 400 * 128 + (1 << 20);
    options.max_memory = pixels + (i == 0 ? 0 : 1 << 20);
    assert_int_equal(tm_image_open(&rows, &source, &options, NULL), 0);
    tm_image_close(&rows);
    options.max_memory = pixels - (i == 0);
    assert_int_equal(tm_image_open(&rows, &source, &options, NULL), TM_ELIMIT);
    tm_buf_release(&file);
  }
}

UNIT_TESTS({
    cmocka_unit_test(memory_depends_on_how_the_pixels_are_coded),
    cmocka_unit_test(pixels_without_loss_come_back),
    cmocka_unit_test(the_orientation_is_that_of_exif),
    cmocka_unit_test(an_animation_gives_its_first_frame_on_a_clear_canvas),
    cmocka_unit_test(a_frame_outside_of_the_canvas_is_damage),
    cmocka_unit_test(a_cut_is_an_error_also_where_rows_are_filled),
});
