/* test_image_pixels.c - pixels of every layout, converted to 1, 3 and 4 channels. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "data/images/image_pixels.h"

static void pixels_are_converted_as_pillow_does(void **state)
{
  static const struct {
    enum tm_image_layout layout;
    uint8_t from[4], grey, rgba[4];
  } cases[] = {
    { TM_PIXELS_GREY, { 7 }, 7, { 7, 7, 7, 255 } },
    { TM_PIXELS_GREY_ALPHA, { 7, 9 }, 7, { 7, 7, 7, 9 } },
    { TM_PIXELS_RGB, { 255, 0, 0 }, 76, { 255, 0, 0, 255 } },
    { TM_PIXELS_RGBA, { 0, 255, 0, 3 }, 150, { 0, 255, 0, 3 } },
    { TM_PIXELS_CMYK, { 255, 128, 0, 255 }, 151, { 255, 128, 0, 255 } },
    { TM_PIXELS_CMYK, { 255, 128, 0, 100 }, 59, { 100, 50, 0, 255 } },
    { TM_PIXELS_INDEX, { 2 }, 29, { 0, 0, 255, 40 } },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_image_pixels p = { .layout = cases[i].layout };
    uint8_t to[4];
    memcpy(p.palette[2], "\0\0\xff\x28", 4);
    tm_image_convert(&p, cases[i].from, 1, 1, to);
    assert_int_equal(to[0], cases[i].grey);
    tm_image_convert(&p, cases[i].from, 1, 3, to);
    assert_memory_equal(to, cases[i].rgba, 3);
    tm_image_convert(&p, cases[i].from, 1, 4, to);
    assert_memory_equal(to, cases[i].rgba, 4);
  }
}

static void the_transparent_colour_counts_only_where_alpha_is_wanted(void **state)
{
  struct tm_image_pixels p = { .layout = TM_PIXELS_RGB,
                               .has_clear_colour = true,
                               .clear = { 1, 2, 3 } };
  uint8_t to[8];
  assert_int_equal(tm_image_own_channels(&p), 4);
  tm_image_convert(&p, (const uint8_t *)"\1\2\3\1\2\4", 2, 4, to);
  assert_memory_equal(to, "\1\2\3\0\1\2\4\xff", 8);
  tm_image_convert(&p, (const uint8_t *)"\1\2\3\1\2\4", 2, 3, to);
  assert_memory_equal(to, "\1\2\3\1\2\4", 6);
  p.clear[0] = 257; /* 16 bits of the file; no byte has it */
  tm_image_convert(&p, (const uint8_t *)"\1\2\3", 1, 4, to);
  assert_int_equal(to[3], 255);
}

UNIT_TESTS({
    cmocka_unit_test(pixels_are_converted_as_pillow_does),
    cmocka_unit_test(the_transparent_colour_counts_only_where_alpha_is_wanted),
});
