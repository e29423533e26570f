/* test_jpeg.c - JPEG: scales, scans, orientation, the end. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "data/images/jpeg_marks.h"
#include "image_fixture.h"

/* `file` with the bytes put in at `at`. */
static struct tm_buf with(const struct tm_buf *file, size_t at, const void *p, size_t n)
{
  struct tm_buf out = TM_BUF_NONE;
  tm_buf_add(&out, file->data, at);
  tm_buf_add(&out, p, n);
  tm_buf_add(&out, file->data + at, file->len - at);
  return out;
}

static void a_scaled_jpeg_is_the_mean_of_its_pixels(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_JPEG, 67, 41, 1, false);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_options options = picture_options(1);
  struct tm_image_rows whole, rows;
  uint8_t *pixels = picture_read(&source, &options, &whole, NULL);
  for (int32_t scale = 2; scale <= 8; scale *= 2) {
    options.scale = scale;
    uint8_t *all = picture_read(&source, &options, &rows, NULL);
    assert_int_equal(rows.width, (67 + scale - 1) / scale);
    assert_int_equal(rows.height, (41 + scale - 1) / scale);
    assert_int_equal(rows.info.width, 67);
    long sum = 0;
    for (int32_t i = 0; i < scale * scale; i++)
      sum += pixels[i / scale * 67 + i % scale];
    assert_in_range(all[0] + 3, sum / (scale * scale), sum / (scale * scale) + 6);
    free(all);
  }
  free(pixels);
  tm_buf_release(&file);
}

/* The last scan of the file, repeated. */
static struct tm_buf with_scans(const struct tm_buf *file, int count)
{
  size_t at = 0, last = 0;
  struct tm_jpeg_segment s;
  struct tm_buf out = TM_BUF_NONE;
  while (tm_jpeg_next_segment((const uint8_t *)file->data, file->len, &at, &s)) {
    if (s.mark == TM_JPEG_SCAN)
      last = (size_t)((const char *)s.data - file->data) - 4;
  }
  int scans = tm_jpeg_scans((const uint8_t *)file->data, file->len, 1000);
  tm_buf_add(&out, file->data, file->len - 2);
  for (; scans < count; scans++)
    tm_buf_add(&out, file->data + last, file->len - 2 - last);
  tm_buf_add(&out, file->data + file->len - 2, 2);
  assert_int_equal(tm_jpeg_scans((const uint8_t *)out.data, out.len, 1000), count);
  return out;
}

/* Were it decoded at all, it would be stopped. */
static void more_scans_than_the_limit_are_refused_before_the_first_one(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_JPEG, 64, 64, 3, true);
  struct tm_buf bomb = with_scans(&file, 310), most = with_scans(&file, 100);
  struct tm_image_source source = picture_source(&bomb);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  atomic_bool stop = true;
  options.stop = &stop;
  assert_int_equal(tm_image_open(&rows, &source, &options, &err), TM_ELIMIT);
  assert_string_equal(err.text,
                      "cannot read 'a/b.img': the JPEG has more than 100 scans, the limit");
  source = picture_source(&most);
  assert_int_equal(tm_image_open(&rows, &source, &options, &err), -ECANCELED);
  stop = false;
  uint8_t *all = picture_read(&source, &options, &rows, &err);
  assert_non_null(all);
  free(all);
  tm_buf_release(&file);
  tm_buf_release(&bomb);
  tm_buf_release(&most);
}

static void the_orientation_is_that_of_exif(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_JPEG, 8, 8, 1, false);
  for (int i = 1; i <= 8; i++) {
    uint8_t part[10 + 26] = "\xff\xe1\x00\x22"
                            "Exif\0";
    picture_exif(part + 10, i, i & 1);
    struct tm_buf turned = with(&file, 2, part, sizeof(part));
    struct tm_image_source source = picture_source(&turned);
    struct tm_image_options options = picture_options(0);
    struct tm_image_rows rows;
    struct tm_image_info info;
    assert_int_equal(tm_image_info(&source, &info, NULL), 0);
    assert_int_equal(info.orientation, i);
    uint8_t *all = picture_read(&source, &options, &rows, NULL);
    assert_int_equal(rows.info.orientation, i);
    free(all);
    tm_buf_release(&turned);
  }
  tm_buf_release(&file);
}

static void a_jpeg_without_its_end_is_cut(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_JPEG, 64, 64, 1, false);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_options options = picture_options(0);
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  source.len -= 2;
  assert_null(picture_read(&source, &options, &rows, &err));
  assert_non_null(strstr(err.text, "the file is cut: it ends after row "));
  tm_buf_release(&file);
}

/* Grey of the value 128 comes from blocks without data. */
static void missing_rows_are_grey(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_JPEG, 64, 64, 3, false);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  options.fills_missing = true;
  source.len = source.len * 3 / 4;
  uint8_t *all = picture_read(&source, &options, &rows, NULL);
  assert_non_null(all);
  assert_int_not_equal(all[0], 128);
  for (int i = 0; i < 64 * 3; i++)
    assert_int_equal(all[63 * 64 * 3 + i], 128);
  free(all);
  tm_buf_release(&file);
}

/* libjpeg takes its numbers, here 255 channels, before it refuses it. The file is cut within it. */
static void a_second_header_does_not_change_the_rows(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_JPEG, 16, 16, 3, true);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  struct tm_jpeg_segment s = { 0 };
  uint8_t row[16 * 3 + 8192];
  size_t at = 0;
  while (s.mark != TM_JPEG_SCAN)
    assert_true(tm_jpeg_next_segment((const uint8_t *)file.data, file.len, &at, &s));
  assert_true(tm_jpeg_next_segment((const uint8_t *)file.data, file.len, &at, &s));
  file.len = (size_t)((const char *)s.data - file.data) - 4;
  tm_buf_add(&file, "\xff\xc2\0\x11\x08\0\x10\0\x10", 9);
  struct tm_image_source source = picture_source(&file);
  options.fills_missing = true;
  memset(row, 7, sizeof(row));
  assert_int_equal(tm_image_open(&rows, &source, &options, NULL), 0);
  for (int i = 0; i < 16; i++)
    assert_int_equal(tm_image_next(&rows, row, NULL), 0);
  tm_image_close(&rows);
  for (size_t i = 0; i < sizeof(row); i++)
    assert_int_equal(row[i], i < 16 * 3 ? 0 : 7);
  tm_buf_release(&file);
}

static void channels_that_no_model_takes_are_refused(void **state)
{
  static const uint8_t two[] =
      "\xff\xd8\xff\xc0\x00\x0e\x08\x00\x10\x00\x10\x02\x01\x11\x00\x02\x11\x00"
      "\xff\xda\x00\x0a\x02\x01\x00\x02\x00\x00\x3f\x00\xff\xd9";
  struct tm_image_source source = { "a/b.img", two, sizeof(two) - 1 };
  struct tm_image_info info;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_image_info(&source, &info, &err), TM_EINPUT);
  assert_non_null(strstr(err.text, "the JPEG has 2 channels; 1 (grey), 3 (colours) and 4 (CMYK)"));
}

static void what_libjpeg_says_is_in_the_message(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_JPEG, 8, 8, 1, false);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_info info;
  struct tm_err err = TM_ERR_NONE;
  char *size = memmem(file.data, file.len, "\xff\xc0", 2);
  size[4] = 12; /* bits */
  assert_int_equal(tm_image_info(&source, &info, &err), TM_EDAMAGE);
  assert_string_equal(err.text, "cannot read 'a/b.img': the JPEG is damaged: Unsupported JPEG data "
                                "precision 12");
  tm_buf_release(&file);
}

UNIT_TESTS({
    cmocka_unit_test(a_scaled_jpeg_is_the_mean_of_its_pixels),
    cmocka_unit_test(more_scans_than_the_limit_are_refused_before_the_first_one),
    cmocka_unit_test(the_orientation_is_that_of_exif),
    cmocka_unit_test(a_jpeg_without_its_end_is_cut),
    cmocka_unit_test(missing_rows_are_grey),
    cmocka_unit_test(a_second_header_does_not_change_the_rows),
    cmocka_unit_test(channels_that_no_model_takes_are_refused),
    cmocka_unit_test(what_libjpeg_says_is_in_the_message),
});
