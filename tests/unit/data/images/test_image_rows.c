/* test_image_rows.c - pictures of every format: header, limits, cuts, stops, other files. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "image_fixture.h"

static const struct made {
  enum tm_image_format format;
  int32_t channels;
  bool is_other;
} every[] = {
  { TM_IMAGE_JPEG, 1, false }, { TM_IMAGE_JPEG, 3, false }, { TM_IMAGE_JPEG, 3, true },
  { TM_IMAGE_PNG, 1, false },  { TM_IMAGE_PNG, 3, true },   { TM_IMAGE_PNG, 4, false },
  { TM_IMAGE_WEBP, 3, false }, { TM_IMAGE_WEBP, 4, true },  { TM_IMAGE_PNM, 1, false },
  { TM_IMAGE_PNM, 3, false },
};

static struct tm_buf make(const struct made *m)
{
  return picture_make(m->format, 40, 24, m->channels, m->is_other);
}

static void the_header_says_what_the_picture_is(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(every); i++) {
    struct tm_buf file = make(&every[i]);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_info info;
    assert_int_equal(tm_image_info(&source, &info, NULL), 0);
    assert_int_equal(info.format, every[i].format);
    assert_int_equal(info.width, 40);
    assert_int_equal(info.height, 24);
    assert_int_equal(info.channels, every[i].channels);
    assert_int_equal(info.bits, 8);
    assert_int_equal(info.orientation, 1);
    tm_buf_release(&file);
  }
}

static void rows_have_the_channels_that_are_wanted(void **state)
{
  static const int32_t wanted[] = { 0, 1, 3, 4 };
  for (size_t i = 0; i < TM_COUNT_OF(every) * 4; i++) {
    struct tm_buf file = make(&every[i / 4]);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_options options = picture_options(wanted[i % 4]);
    struct tm_image_rows rows;
    uint8_t *all = picture_read(&source, &options, &rows, NULL);
    assert_non_null(all);
    assert_int_equal(rows.channels, wanted[i % 4] ? wanted[i % 4] : every[i / 4].channels);
    free(all);
    tm_buf_release(&file);
  }
}

static void other_files_are_refused_by_name(void **state)
{
#define CASE(bytes, words)                                                                         \
  {                                                                                                \
    bytes, sizeof(bytes) - 1, words                                                                \
  }
  static const struct {
    const char *bytes;
    size_t len;
    const char *words;
  } cases[] = {
    CASE("", "the file is empty"),
    CASE("GIF89a", "the file is a GIF file; convert it to JPEG, PNG, WebP or PNM"),
    CASE("II*\0\x08\0\0\0", "a TIFF file"),
    CASE("MM\0*", "a TIFF file"),
    CASE("BM\x36\0\0\0", "a BMP file"),
    CASE("\0\0\0\x20"
         "ftypavif",
         "an AVIF file"),
    CASE("\0\0\0\x18"
         "ftypheic",
         "a HEIC file"),
    CASE("\0\0\0\x18"
         "ftypmif1",
         "a HEIC file"),
    CASE("\0\0\0\x18"
         "ftypmp42",
         "a video file"),
    CASE("%PDF-1.7", "a PDF file"),
    CASE("<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG file"),
    CASE("\xef\xbb\xbf<?xml version='1.0'?>\n<!-- drawn -->\n<svg/>", "an SVG file"),
    CASE("\n<!DOCTYPE html><html><body><svg/>", "an HTML page; the download may have failed"),
    CASE("<?xml version='1.0'?><Error/>", "an XML file"),
    CASE("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n",
         "a Git LFS pointer; run 'git lfs pull'"),
    CASE("\x1f\x8b\x08", "a gzip file"),
    CASE("hello", "the file is not an image; JPEG, PNG, WebP and PNM are read"),
    CASE("P7\nWIDTH 1\n", "not an image"),
    CASE("P6", "not an image"),
    CASE("RIFF\x10\0\0\0WAVE", "not an image"),
    CASE("\xff\xd8", "not an image"),
    CASE("<", "an XML file"),
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_image_source source = { "a/b.img", (const uint8_t *)cases[i].bytes, cases[i].len };
    struct tm_image_info info;
    struct tm_err err = TM_ERR_NONE;
    assert_int_equal(tm_image_info(&source, &info, &err), TM_EINPUT);
    assert_non_null(strstr(err.text, "cannot read 'a/b.img': "));
    assert_non_null(strstr(err.text, cases[i].words));
  }
}

static void more_pixels_than_the_limit_are_refused(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(every); i++) {
    struct tm_buf file = make(&every[i]);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_options options = picture_options(3);
    struct tm_image_rows rows;
    struct tm_err err = TM_ERR_NONE;
    options.max_pixels = 40 * 24 - 1;
    assert_int_equal(tm_image_open(&rows, &source, &options, &err), TM_ELIMIT);
    assert_string_equal(err.text,
                        "cannot read 'a/b.img': it has 40 x 24 = 960 pixels; 'max_pixels' is 959");
    options.max_pixels++;
    assert_int_equal(tm_image_open(&rows, &source, &options, &err), 0);
    tm_image_close(&rows);
    tm_buf_release(&file);
  }
}

/* 700 x 500: more than 1 MB where a picture is held whole. */
static void what_is_held_whole_counts_against_the_limit_of_memory(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(every); i++) {
    bool is_whole = every[i].format == TM_IMAGE_WEBP || every[i].is_other;
    struct tm_buf file =
        picture_make(every[i].format, 700, 500, every[i].channels, every[i].is_other);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_options options = picture_options(3);
    struct tm_image_rows rows;
    struct tm_err err = TM_ERR_NONE;
    options.max_memory = 1 << 20;
    uint8_t *all = picture_read(&source, &options, &rows, &err);
    assert_true((all == NULL) == is_whole);
    if (is_whole) {
      assert_int_equal(err.code, TM_ELIMIT);
      assert_non_null(strstr(err.text, "of 700 x 500 pixels takes "));
      assert_non_null(strstr(err.text, "'max_memory' is 1.0 MB"));
    }
    free(all);
    tm_buf_release(&file);
  }
}

static void a_picture_that_is_stopped_says_so(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(every); i++) {
    atomic_bool stop = false;
    struct tm_buf file = make(&every[i]);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_options options = picture_options(3);
    struct tm_image_rows rows;
    struct tm_err err = TM_ERR_NONE;
    uint8_t row[40 * 3];
    options.stop = &stop;
    assert_int_equal(tm_image_open(&rows, &source, &options, &err), 0);
    assert_int_equal(tm_image_next(&rows, row, &err), 0);
    stop = true;
    assert_int_equal(tm_image_next(&rows, row, &err), -ECANCELED);
    assert_non_null(strstr(err.text, "cannot read 'a/b.img': decoding was stopped"));
    stop = false; /* it can go on, as nothing was lost */
    for (int32_t left = rows.height - 1; left > 0; left--)
      assert_int_equal(tm_image_next(&rows, row, &err), 0);
    tm_image_close(&rows);
    stop = true; /* what is read whole stops when it is opened */
    bool is_whole = every[i].format == TM_IMAGE_WEBP || every[i].is_other;
    assert_int_equal(tm_image_open(&rows, &source, &options, &err), is_whole ? -ECANCELED : 0);
    tm_image_close(&rows);
    tm_buf_release(&file);
  }
}

/* In memory of exactly its size, for the sanitizer. Of a PNG, what is behind the pixels may be
 * missing: IEND, two check sums, and the mark that ends the packed bytes. */
static void check_cut(const struct made *m, const struct tm_buf *file, size_t n)
{
  uint8_t *copy = tm_xmalloc(n);
  struct tm_image_source source = { "a/b.img", copy, n };
  struct tm_image_options options = picture_options(0);
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  memcpy(copy, file->data, n);
  uint8_t *all = picture_read(&source, &options, &rows, &err);
  bool is_png = m->format == TM_IMAGE_PNG;
  if (all != NULL) {
    assert_true(is_png && n + 12 + 4 + 4 + 1 >= file->len);
  } else {
    assert_false(is_png && n + 12 + 4 + 4 >= file->len);
    assert_int_equal(err.code, n < 12 && err.code == TM_EINPUT ? TM_EINPUT : TM_EDAMAGE);
    assert_true(err.code == TM_EINPUT || strstr(err.text, "the file is cut: it ends ") != NULL);
  }
  free(all);
  options.fills_missing = true;
  all = picture_read(&source, &options, &rows, &err);
  assert_true(all != NULL || m->format == TM_IMAGE_WEBP ||
              n < (m->format == TM_IMAGE_JPEG  ? 700
                   : m->format == TM_IMAGE_PNG ? 41
                                               : 12));
  free(all);
  free(copy);
}

static void a_file_cut_anywhere_is_an_error_or_filled(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(every); i++) {
    struct tm_buf file = make(&every[i]);
    for (size_t n = 1; n < file.len; n++)
      check_cut(&every[i], &file, n);
    tm_buf_release(&file);
  }
}

static void an_error_says_after_which_row_the_file_ends(void **state)
{
  struct tm_buf file = picture_make(TM_IMAGE_PNM, 10, 10, 3, false);
  struct tm_image_source source = picture_source(&file);
  struct tm_image_options options = picture_options(3);
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  source.len -= 31;
  assert_null(picture_read(&source, &options, &rows, &err));
  assert_string_equal(err.text,
                      "cannot read 'a/b.img': the file is cut: it ends after row 8 of 10");
  options.fills_missing = true;
  uint8_t *all = picture_read(&source, &options, &rows, &err);
  assert_non_null(all);
  for (int i = 0; i < 60; i++) {
    assert_int_equal(all[8 * 30 + i], 0);
    assert_int_equal(all[i], picture_value(i / 3 % 10, i / 30, i % 3));
  }
  free(all);
  tm_buf_release(&file);
}

UNIT_TESTS({
    cmocka_unit_test(the_header_says_what_the_picture_is),
    cmocka_unit_test(rows_have_the_channels_that_are_wanted),
    cmocka_unit_test(other_files_are_refused_by_name),
    cmocka_unit_test(more_pixels_than_the_limit_are_refused),
    cmocka_unit_test(what_is_held_whole_counts_against_the_limit_of_memory),
    cmocka_unit_test(a_picture_that_is_stopped_says_so),
    cmocka_unit_test(a_file_cut_anywhere_is_an_error_or_filled),
    cmocka_unit_test(an_error_says_after_which_row_the_file_ends),
});
