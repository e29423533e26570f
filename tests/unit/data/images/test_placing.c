/* test_placing.c - sizes and regions as Pillow's ImageOps and torchvision work them out. */
#include "unit.h"

#include "data/images/placing.h"

static struct tm_placing place(const struct tm_sizing *s, int32_t width, int32_t height)
{
  struct tm_placing p;
  assert_int_equal(tm_place(s, width, height, &p, NULL), 0);
  return p;
}

static void without_options_the_picture_stays(void **state)
{
  (void)state;
  struct tm_placing p = place(&(struct tm_sizing) { 0 }, 30, 20);
  assert_int_equal(p.width, 30);
  assert_int_equal(p.out_height, 20);
  assert_int_equal(p.kept_width, 30);
  assert_true(p.right == 30 && p.bottom == 20);
}

static void cover_cuts_what_is_too_long(void **state)
{
  (void)state;
  struct tm_sizing s = { .fit = TM_FIT_COVER, .width = 10, .height = 10 };
  struct tm_placing p = place(&s, 40, 20);
  assert_true(p.left == 10 && p.right == 30 && p.top == 0 && p.bottom == 20);
  p = place(&s, 20, 50);
  assert_true(p.left == 0 && p.right == 20 && p.top == 15 && p.bottom == 35);
}

static void contain_pads_what_is_too_short(void **state)
{
  (void)state;
  struct tm_sizing s = { .fit = TM_FIT_CONTAIN, .width = 10, .height = 10 };
  struct tm_placing p = place(&s, 40, 20);
  assert_int_equal(p.width, 10);
  assert_int_equal(p.height, 5);
  assert_int_equal(p.y, 2); /* 2.5 to even */
  p = place(&s, 1000, 1);
  assert_int_equal(p.height, 1);
}

/* int(size * long / short), and round((long - crop) / 2) to even */
static void resize_and_crop_round_as_torchvision(void **state)
{
  (void)state;
  struct tm_sizing s = { .resize = 256, .crop_width = 224, .crop_height = 224 };
  struct tm_placing p = place(&s, 1152, 864);
  assert_int_equal(p.width, 341);
  assert_int_equal(p.height, 256);
  assert_int_equal(p.cut_x, 58); /* 58.5 */
  assert_int_equal(p.cut_y, 16);
  assert_int_equal(p.out_width, 224);
}

static void a_crop_of_a_smaller_picture_is_padded(void **state)
{
  (void)state;
  struct tm_sizing s = { .crop_width = 9, .crop_height = 9 };
  struct tm_placing p = place(&s, 4, 20);
  assert_int_equal(p.x, 2);
  assert_int_equal(p.kept_width, 4);
  assert_int_equal(p.kept_height, 9);
  assert_int_equal(p.cut_y, 6); /* 5.5 */
  assert_int_equal(p.out_width, 9);
}

static void a_side_that_is_too_long_is_refused(void **state)
{
  (void)state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_placing p;
  struct tm_sizing s = { .resize = 256 };
  assert_int_equal(tm_place(&s, 1, 60000, &p, &err), TM_ELIMIT);
  assert_string_equal(err.text, "its size would be 256 x 15360000; a side has at most 1000000 "
                                "pixels; set 'width' and 'height'");
}

static void points_are_mapped_into_the_output(void **state)
{
  (void)state;
  struct tm_sizing s = { .fit = TM_FIT_CONTAIN, .width = 20, .height = 20 };
  struct tm_placing p = place(&s, 40, 20);
  struct tm_mapping m;
  tm_placing_map(&p, &m);
  assert_true(m.scale_x == 0.5 && m.scale_y == 0.5 && m.offset_x == 0 && m.offset_y == 5);
  s.fit = TM_FIT_COVER;
  p = place(&s, 40, 20);
  tm_placing_map(&p, &m);
  assert_true(m.scale_x == 1 && m.offset_x == -10 && m.offset_y == 0);
}

static void a_reduced_picture_is_at_least_twice_the_result(void **state)
{
  (void)state;
  struct tm_sizing s = { .width = 100, .height = 100 };
  static const int32_t cases[][2] = { { 399, 1 }, { 400, 2 },  { 799, 2 },
                                      { 800, 4 }, { 1600, 8 }, { 9999, 8 } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tm_placing p = place(&s, cases[i][0], 10000);
    assert_int_equal(tm_placing_reduction(&p), cases[i][1]);
  }
}

static void a_size_is_fixed_by_width_or_crop(void **state)
{
  (void)state;
  int32_t width, height;
  assert_true(tm_sizing_is_fixed(&(struct tm_sizing) { .width = 3, .height = 4 }, &width, &height));
  assert_int_equal(height, 4);
  assert_true(tm_sizing_is_fixed(
      &(struct tm_sizing) { .resize = 9, .crop_width = 5, .crop_height = 5 }, &width, &height));
  assert_int_equal(width, 5);
  assert_false(tm_sizing_is_fixed(&(struct tm_sizing) { .resize = 9 }, &width, &height));
}

UNIT_TESTS({
    cmocka_unit_test(without_options_the_picture_stays),
    cmocka_unit_test(cover_cuts_what_is_too_long),
    cmocka_unit_test(contain_pads_what_is_too_short),
    cmocka_unit_test(resize_and_crop_round_as_torchvision),
    cmocka_unit_test(a_crop_of_a_smaller_picture_is_padded),
    cmocka_unit_test(a_side_that_is_too_long_is_refused),
    cmocka_unit_test(points_are_mapped_into_the_output),
    cmocka_unit_test(a_reduced_picture_is_at_least_twice_the_result),
    cmocka_unit_test(a_size_is_fixed_by_width_or_crop),
});
