/* test_image_write.c - what is written is read again. */
#include "unit.h"

#include <string.h>

#include "image_fixture.h"

static void pixels_of_a_png_come_back(void **state)
{
  for (int32_t i = 0; i < 6; i++) {
    int32_t channels = (int32_t[]) { 1, 3, 4 }[i / 2];
    struct tm_buf file = picture_make(TM_IMAGE_PNG, 33, 19, channels, i & 1);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_options options = picture_options(0);
    struct tm_image_rows rows;
    uint8_t *all = picture_read(&source, &options, &rows, NULL);
    uint8_t *pixels = picture_pixels(33, 19, channels);
    assert_int_equal(rows.channels, channels);
    assert_memory_equal(all, pixels, (size_t)(33 * 19 * channels));
    free(all);
    free(pixels);
    tm_buf_release(&file);
  }
}

static struct tm_buf write_flat(enum tm_image_format format, int32_t quality, bool is_progressive)
{
  uint8_t pixels[32 * 32 * 3];
  struct tm_buf out = TM_BUF_NONE;
  struct tm_image_pixel_rows rows = { pixels, 32, 32, 3 };
  struct tm_image_write_options options = { format, quality, is_progressive };
  for (int i = 0; i < 32 * 32; i++)
    memcpy(pixels + 3 * i, i % 32 < 16 ? "\xc8\x20\x20" : "\x20\x20\xc8", 3);
  assert_int_equal(tm_image_write(&rows, &options, &out, NULL), 0);
  return out;
}

static void a_jpeg_has_the_quality_that_was_asked_for(void **state)
{
  struct tm_buf low = write_flat(TM_IMAGE_JPEG, 5, false),
                high = write_flat(TM_IMAGE_JPEG, 95, false);
  struct tm_buf own = write_flat(TM_IMAGE_JPEG, 0, false),
                same = write_flat(TM_IMAGE_JPEG, 75, false);
  struct tm_image_source source = picture_source(&high);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  assert_true(low.len < high.len);
  assert_int_equal(own.len, same.len);
  assert_memory_equal(own.data, same.data, own.len);
  uint8_t *all = picture_read(&source, &options, &rows, NULL);
  assert_in_range(all[0], 0xc8 - 4, 0xc8 + 4);
  assert_in_range(all[31 * 3 + 2], 0xc8 - 4, 0xc8 + 4);
  free(all);
  tm_buf_release(&low);
  tm_buf_release(&high);
  tm_buf_release(&own);
  tm_buf_release(&same);
}

static void bytes_go_behind_those_of_the_buffer(void **state)
{
  uint8_t grey[] = { 1, 2, 3, 4 };
  struct tm_image_pixel_rows rows = { grey, 2, 2, 1 };
  struct tm_buf out = TM_BUF_NONE;
  tm_buf_add_str(&out, "before");
  for (int i = 0; i < 2; i++) {
    struct tm_image_write_options options = { i ? TM_IMAGE_PNG : TM_IMAGE_JPEG, 0, false };
    size_t at = out.len;
    assert_int_equal(tm_image_write(&rows, &options, &out, NULL), 0);
    assert_memory_equal(out.data + at, i ? "\x89PNG" : "\xff\xd8\xff\xe0", 4);
  }
  assert_memory_equal(out.data, "before", 6);
  assert_memory_equal(out.data + out.len - 8, "IEND", 4);
  tm_buf_release(&out);
}

static void what_a_format_cannot_have_is_refused(void **state)
{
  static const struct {
    struct tm_image_pixel_rows rows;
    struct tm_image_write_options options;
    const char *words;
  } cases[] = {
    { { NULL, 1, 1, 3 }, { TM_IMAGE_WEBP, 0, false }, "images are written as PNG or JPEG" },
    { { NULL, 1, 1, 4 },
      { TM_IMAGE_JPEG, 0, false },
      "cannot write 4 channels: a JPEG has 1 (grey) or 3 (RGB)" },
    { { NULL, 1, 1, 2 },
      { TM_IMAGE_PNG, 0, false },
      "cannot write 2 channels: a PNG has 1 (grey), 3 (RGB) or 4 (RGBA)" },
    { { NULL, 65501, 1, 3 },
      { TM_IMAGE_JPEG, 0, false },
      "cannot write 65501 x 1 pixels: a JPEG has 1 to 65500 in each direction" },
    { { NULL, 0, 1, 3 }, { TM_IMAGE_PNG, 0, false }, "cannot write 0 x 1 pixels" },
    { { NULL, 1, 1, 3 },
      { TM_IMAGE_JPEG, 101, false },
      "the quality of a JPEG is a number from 1 to 100, not 101" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_buf out = TM_BUF_NONE;
    struct tm_err err = TM_ERR_NONE;
    assert_int_equal(tm_image_write(&cases[i].rows, &cases[i].options, &out, &err), TM_EUSAGE);
    assert_non_null(strstr(err.text, cases[i].words));
    assert_int_equal(out.len, 0);
  }
}

UNIT_TESTS({
    cmocka_unit_test(pixels_of_a_png_come_back),
    cmocka_unit_test(a_jpeg_has_the_quality_that_was_asked_for),
    cmocka_unit_test(bytes_go_behind_those_of_the_buffer),
    cmocka_unit_test(what_a_format_cannot_have_is_refused),
});
