/* test_pnm.c - the six kinds of PNM, as bytes. */
#include "unit.h"

#include <string.h>

#include "image_fixture.h"

#define FILE_AND(bytes, pixels)                                                                    \
  {                                                                                                \
    bytes, sizeof(bytes) - 1, pixels, sizeof(pixels) - 1                                           \
  }

static void pixels_of_every_kind_are_read(void **state)
{
  static const struct {
    const char *bytes;
    size_t len;
    const char *pixels;
    size_t count;
  } cases[] = {
    FILE_AND("P1\n3 2\n101\n0 1 0", "\0\xff\0\xff\0\xff"),
    FILE_AND("P1 # one\n3 # two\n1\n1#x 0\n10", "\0\0\xff"),
    FILE_AND("P2 3 1 255\n0 7\r\n255\n", "\0\x07\xff"),
    FILE_AND("P2 3 1 15\n0 1 15", "\0\x11\xff"),
    FILE_AND("P2 2 1 65535\n4660 65535 ", "\x12\xff"),
    FILE_AND("P3 1 1 1\n1 0 1\n", "\xff\0\xff"),
    FILE_AND("P4 10 2\n\xaa\x80\0\0", "\0\xff\0\xff\0\xff\0\xff\0\xff"
                                      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
    FILE_AND("P5 2 2 255\nabcd", "abcd"),
    FILE_AND("P5 2 1 100\n\x32\xc8", "\x80\xff"), /* half is rounded to even, more is white */
    FILE_AND("P5 2 1 65535\n\x12\x34\xff\xff", "\x12\xff"),
    FILE_AND("P6 1 2 255\r\nabcdef", "\nabcde"), /* one blank, as Pillow has it */
    FILE_AND("P6 1 1 1023\n\x03\xff\0\0\x01\xff", "\xff\0\x7f"),
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_image_source source = { "x", (const uint8_t *)cases[i].bytes, cases[i].len };
    struct tm_image_options options = picture_options(0);
    struct tm_image_rows rows;
    struct tm_err err = TM_ERR_NONE;
    uint8_t *all = picture_read(&source, &options, &rows, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rows.width * rows.height * rows.channels, cases[i].count);
    assert_memory_equal(all, cases[i].pixels, cases[i].count);
    free(all);
  }
}

static void what_is_wrong_is_named(void **state)
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
    CASE("P5 ", "the file is cut: it ends in its header"),
    CASE("P5 2 # 3 4", "the file is cut: it ends in its header"),
    CASE("P5 x 2 255\n", "the width of the PNM is not a number from 1 to 2147483647"),
    CASE("P5 2 0 255\n", "the height of the PNM is not a number from 1 to 2147483647"),
    CASE("P5 2 99999999999 255\n", "the height of the PNM is not a number"),
    CASE("P5 2 2 65536\n", "the maximum of the PNM is not a number from 1 to 65535"),
    CASE("P5 2 -2 255\n", "the height of the PNM is not a number"),
    CASE("P5 2 2 255\nabc", "the file is cut: it ends after row 1 of 2"),
    CASE("P4 9 1\na", "the file is cut: it ends after row 0 of 1"),
    CASE("P2 2 2 255\n1 2 3", "the file is cut: it ends after row 1 of 2"),
    CASE("P2 2 2 255\n1 2 3 256",
         "row 2 of the PNM has a value that is not a number from 0 to 255"),
    CASE("P3 1 1 255\n1 2 x", "row 1 of the PNM has a value that is not a number from 0 to 255"),
    CASE("P1 2 1\n12", "row 1 of the PNM has a value that is not a number from 0 to 1"),
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_image_source source = { "x", (const uint8_t *)cases[i].bytes, cases[i].len };
    struct tm_image_options options = picture_options(0);
    struct tm_image_rows rows;
    struct tm_err err = TM_ERR_NONE;
    assert_null(picture_read(&source, &options, &rows, &err));
    assert_int_equal(err.code, TM_EDAMAGE);
    assert_non_null(strstr(err.text, cases[i].words));
  }
}

static void the_header_says_how_many_bits_a_value_has(void **state)
{
  static const struct {
    const char *bytes;
    int bits;
  } cases[] = { { "P1 1 1\n", 1 },
                { "P2 1 1 15\n", 4 },
                { "P6 1 1 255\n", 8 },
                { "P5 1 1 256\n", 9 },
                { "P5 1 1 65535\n", 16 } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_image_source source = { "x", (const uint8_t *)cases[i].bytes,
                                      strlen(cases[i].bytes) };
    struct tm_image_info info;
    assert_int_equal(tm_image_info(&source, &info, NULL), 0);
    assert_int_equal(info.bits, cases[i].bits);
  }
}

UNIT_TESTS({
    cmocka_unit_test(pixels_of_every_kind_are_read),
    cmocka_unit_test(what_is_wrong_is_named),
    cmocka_unit_test(the_header_says_how_many_bits_a_value_has),
});
