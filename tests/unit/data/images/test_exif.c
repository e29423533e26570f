/* test_exif.c - the orientation in EXIF data, also of damaged ones. */
#include "unit.h"

#include <string.h>

#include "data/images/exif.h"
#include "image_fixture.h"

static void orientations_of_both_byte_orders_are_read(void **state)
{
  uint8_t exif[32] = "Exif\0";
  for (int is_big = 0; is_big < 2; is_big++) {
    for (int i = 1; i <= 8; i++) {
      picture_exif(exif + 6, i, is_big);
      assert_int_equal(tm_exif_orientation(exif + 6, 26), i);
      assert_int_equal(tm_exif_orientation(exif, 32), i);
    }
  }
}

static void values_that_are_no_orientation_count_as_upright(void **state)
{
  uint8_t exif[26];
  picture_exif(exif, 0, false);
  assert_int_equal(tm_exif_orientation(exif, 26), 1);
  picture_exif(exif, 9, true);
  assert_int_equal(tm_exif_orientation(exif, 26), 1);
  picture_exif(exif, 6, false);
  exif[12] = 4; /* another type */
  assert_int_equal(tm_exif_orientation(exif, 26), 1);
}

/* In memory of exactly its size, for the sanitizer. */
static void data_cut_anywhere_count_as_upright(void **state)
{
  uint8_t exif[26];
  picture_exif(exif, 6, true);
  for (size_t n = 0; n < 22; n++) {
    uint8_t *copy = tm_xmalloc(n);
    memcpy(copy, exif, n);
    assert_int_equal(tm_exif_orientation(copy, n), 1);
    free(copy);
  }
}

static void a_directory_outside_of_the_data_is_not_followed(void **state)
{
  uint8_t exif[26];
  picture_exif(exif, 6, false);
  memset(exif + 4, 0xff, 4);
  assert_int_equal(tm_exif_orientation(exif, 26), 1);
  exif[4] = 25;
  memset(exif + 5, 0, 3);
  assert_int_equal(tm_exif_orientation(exif, 26), 1);
}

UNIT_TESTS({
    cmocka_unit_test(orientations_of_both_byte_orders_are_read),
    cmocka_unit_test(values_that_are_no_orientation_count_as_upright),
    cmocka_unit_test(data_cut_anywhere_count_as_upright),
    cmocka_unit_test(a_directory_outside_of_the_data_is_not_followed),
});
