/* test_png.c - PNG: limits, check sums, orientation, a cut. */
#include "unit.h"

#include <string.h>

#include "image_fixture.h"

static const char magic[] = "\x89PNG\r\n\x1a\n";

static void add_header(struct tm_buf *out, uint32_t width, uint32_t height, uint8_t kind,
                       uint8_t interlace)
{
  uint8_t h[13] = { [8] = 8, [9] = kind, [12] = interlace };
  for (int i = 0; i < 4; i++) {
    h[i] = (uint8_t)(width >> 8 * (3 - i));
    h[4 + i] = (uint8_t)(height >> 8 * (3 - i));
  }
  tm_buf_add(out, magic, 8);
  picture_add_part(out, "IHDR", h, sizeof(h));
}

/* An IDAT of `bytes` zeros, packed, and the end. */
static void add_zeros(struct tm_buf *out, size_t bytes)
{
  uint8_t *plain = tm_xcalloc(1, bytes), *packed = tm_xmalloc(compressBound(bytes));
  uLongf n = compressBound(bytes);
  assert_int_equal(compress(packed, &n, plain, bytes), Z_OK);
  picture_add_part(out, "IDAT", packed, n);
  picture_add_part(out, "IEND", "", 0);
  free(plain);
  free(packed);
}

static int open_file(const struct tm_buf *file, int64_t max_pixels, struct tm_err *err)
{
  struct tm_image_source source = picture_source(file);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  options.max_pixels = max_pixels;
  int rc = tm_image_open(&rows, &source, &options, err);
  if (rc == 0)
    tm_image_close(&rows);
  return rc;
}

/* 2.6 GB of pixels in a small file. */
static void a_bomb_is_refused_by_its_header(void **state)
{
  struct tm_buf file = TM_BUF_NONE, interlaced = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  add_header(&file, 29500, 29500, 2, 0);
  add_zeros(&file, 4 << 20);
  assert_int_equal(open_file(&file, 100000000, &err), TM_ELIMIT);
  assert_string_equal(err.text, "cannot read 'a/b.img': it has 29500 x 29500 = 870,250,000 pixels; "
                                "'max_pixels' is 100,000,000");
  add_header(&interlaced, 29500, 29500, 2, 1);
  add_zeros(&interlaced, 4 << 20);
  assert_int_equal(open_file(&interlaced, 1000000000, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text,
                         "an interlaced PNG of 29500 x 29500 pixels takes 3.2 GB of memory "
                         "while it is decoded; 'max_memory' is 1.0 GB"));
  tm_buf_release(&file);
  tm_buf_release(&interlaced);
}

static void the_largest_sizes_are_refused_with_both_numbers(void **state)
{
  struct tm_buf file = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  add_header(&file, 0x7fffffff, 0x7fffffff, 6, 0);
  add_zeros(&file, 1);
  assert_int_equal(open_file(&file, 100000000, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "4,611,686,014,132,420,609 pixels"));
  file.len = 0; /* one row that no machine holds */
  add_header(&file, 0x7fffffff, 1, 6, 0);
  add_zeros(&file, 1);
  assert_int_equal(open_file(&file, INT64_MAX, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "'max_memory' is 1.0 GB"));
  tm_buf_release(&file);
}

static void a_part_of_more_than_8_mb_is_refused(void **state)
{
  struct tm_buf file = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  size_t n = (size_t)9 << 20;
  char *text = tm_xcalloc(1, n);
  add_header(&file, 2, 2, 0, 0);
  picture_add_part(&file, "tEXt", text, n);
  add_zeros(&file, 6);
  assert_int_equal(open_file(&file, 100, &err), TM_ELIMIT);
  assert_non_null(
      strstr(err.text,
             "the PNG has a chunk of 9437184 bytes beside its pixels; at most 8388608 are read"));
  tm_buf_clear(&file);
  add_header(&file, 2, 2, 0, 0);
  picture_add_part(&file, "tEXt", text, (size_t)7 << 20);
  add_zeros(&file, 6);
  assert_int_equal(open_file(&file, 100, &err), 0);
  free(text);
  tm_buf_release(&file);
}

static void a_bad_check_sum_of_any_part_is_an_error(void **state)
{
  static const char *const parts[] = { "IHDR", "tEXt", "IDAT" };
  for (size_t i = 0; i < TM_COUNT_OF(parts); i++) {
    struct tm_buf file = TM_BUF_NONE;
    struct tm_err err = TM_ERR_NONE;
    struct tm_image_rows rows;
    struct tm_image_options options = picture_options(1);
    add_header(&file, 2, 2, 0, 0);
    picture_add_part(&file, "tEXt", "a\0b", 3);
    add_zeros(&file, 6);
    struct tm_image_source source = picture_source(&file);
    uint8_t *all = picture_read(&source, &options, &rows, &err);
    assert_non_null(all);
    free(all);
    uint8_t *at = memmem(file.data, file.len, parts[i], 4);
    at[4 + (at[-4] << 24 | at[-3] << 16 | at[-2] << 8 | at[-1])] ^= 1;
    assert_null(picture_read(&source, &options, &rows, &err));
    assert_int_equal(err.code, TM_EDAMAGE);
    assert_non_null(strstr(err.text, "CRC error"));
    tm_buf_release(&file);
  }
}

static void the_orientation_may_come_behind_the_pixels(void **state)
{
  for (int is_behind = 0; is_behind < 2; is_behind++) {
    struct tm_buf file = TM_BUF_NONE;
    struct tm_image_info info;
    uint8_t exif[26];
    picture_exif(exif, 6, true);
    add_header(&file, 2, 2, 0, 0);
    if (!is_behind)
      picture_add_part(&file, "eXIf", exif, sizeof(exif));
    add_zeros(&file, 6);
    if (is_behind) {
      file.len -= 12;
      picture_add_part(&file, "eXIf", exif, sizeof(exif));
      picture_add_part(&file, "IEND", "", 0);
    }
    struct tm_image_source source = picture_source(&file);
    assert_int_equal(tm_image_info(&source, &info, NULL), 0);
    assert_int_equal(info.orientation, 6);
    tm_buf_release(&file);
  }
}

static void a_cut_interlaced_png_names_the_pass(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_PNG, 40, 40, 3, true);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  source.len = source.len / 3;
  assert_null(picture_read(&source, &options, &rows, &err));
  assert_non_null(strstr(err.text, "the file is cut: it ends in pass "));
  assert_non_null(strstr(err.text, " of 7 of the interlaced PNG"));
  tm_buf_release(&file);
}

static void pixels_that_end_early_in_a_whole_file_are_damage(void **state)
{
  struct tm_buf file = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  struct tm_image_options options = picture_options(1);
  struct tm_image_rows rows;
  add_header(&file, 100, 100, 0, 0);
  add_zeros(&file, 101 * 50);
  struct tm_image_source source = picture_source(&file);
  assert_null(picture_read(&source, &options, &rows, &err));
  assert_int_equal(err.code, TM_EDAMAGE);
  assert_non_null(strstr(err.text, "the PNG is damaged: Not enough image data"));
  tm_buf_release(&file);
}

UNIT_TESTS({
    cmocka_unit_test(a_bomb_is_refused_by_its_header),
    cmocka_unit_test(the_largest_sizes_are_refused_with_both_numbers),
    cmocka_unit_test(a_part_of_more_than_8_mb_is_refused),
    cmocka_unit_test(a_bad_check_sum_of_any_part_is_an_error),
    cmocka_unit_test(the_orientation_may_come_behind_the_pixels),
    cmocka_unit_test(a_cut_interlaced_png_names_the_pass),
    cmocka_unit_test(pixels_that_end_early_in_a_whole_file_are_damage),
});
