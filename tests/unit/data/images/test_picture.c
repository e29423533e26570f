/* test_picture.c - from the bytes of a file to elements: layouts, padding, scaling, orders of
 * channels, limits. tests/images/pipeline.py compares with Pillow and numpy. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "data/images/picture.h"

static const char colours[] = "P6 2 2 255\n\x01\x02\x03\x0b\x0c\x0d\x15\x16\x17\x1f\x20\x21";

static struct tm_picture_options plain(void)
{
  return (struct tm_picture_options) {
    .filter = TM_FILTER_BILINEAR,
    .scaling = { TM_TENSOR_UINT8, 1, { 0 }, { 1, 1, 1, 1 } },
    .max_pixels = 1000000,
    .max_memory = 1 << 20,
  };
}

static int read_into(const void *text, size_t len, const struct tm_picture_options *o,
                     const atomic_bool *stop, void *data, struct tm_err *err)
{
  static struct tm_pixel_table table;
  struct tm_image_source source = { "a.ppm", text, len };
  struct tm_picture p;
  tm_pixel_table_fill(&table, &o->scaling);
  int rc = tm_picture_open(&p, &source, o, stop, err);
  if (rc < 0)
    return rc;
  rc = tm_picture_read(&p, &table, data, err);
  tm_picture_close(&p);
  return rc;
}

static void read_colours(const struct tm_picture_options *o, void *data)
{
  assert_int_equal(read_into(colours, sizeof colours - 1, o, NULL, data, NULL), 0);
}

static void pixels_lie_as_the_layout_says(void **state)
{
  (void)state;
  uint8_t data[12];
  struct tm_picture_options o = plain();
  read_colours(&o, data);
  assert_memory_equal(data, colours + 11, 12);
  o.is_planar = true;
  read_colours(&o, data);
  assert_memory_equal(data, "\x01\x0b\x15\x1f\x02\x0c\x16\x20\x03\x0d\x17\x21", 12);
  o.channels = TM_CHANNELS_BGR;
  read_colours(&o, data);
  assert_memory_equal(data, "\x03\x0d\x17\x21\x02\x0c\x16\x20\x01\x0b\x15\x1f", 12);
  o.channels = TM_CHANNELS_GRAY;
  read_colours(&o, data);
  assert_memory_equal(data, "\x02\x0c\x16\x20", 4);
}

static void what_is_missing_is_padded(void **state)
{
  (void)state;
  uint8_t data[4 * 2 * 3];
  struct tm_picture_options o = plain();
  o.sizing = (struct tm_sizing) { .fit = TM_FIT_CONTAIN, .width = 4, .height = 2 };
  o.fill[0] = 7;
  o.fill[2] = 9;
  read_colours(&o, data);
  assert_memory_equal(data, "\x07\x00\x09\x01\x02\x03\x0b\x0c\x0d\x07\x00\x09", 12);
}

/* What numpy makes of ((x * scale) - mean) / std in float32. */
static void values_are_scaled_in_float32(void **state)
{
  (void)state;
  float data[12];
  struct tm_picture_options o = plain();
  o.scaling = (struct tm_pixel_scaling) {
    TM_TENSOR_FLOAT32, 1 / 255.0, { 0.485, 0.456, 0.406 }, { 0.229, 0.224, 0.225, 1 }
  };
  read_colours(&o, data);
  for (int i = 0; i < 3; i++) {
    volatile float scaled = (float)(i + 1) * (float)(1 / 255.0);
    volatile float centred = scaled - (float)o.scaling.mean[i];
    assert_true(data[i] == centred / (float)o.scaling.std[i]);
  }
}

static void integers_are_rounded_and_saturated(void **state)
{
  (void)state;
  int8_t data[12];
  struct tm_picture_options o = plain();
  o.scaling = (struct tm_pixel_scaling) { TM_TENSOR_INT8, 8.5, { 0 }, { 1, 1, 1, 1 } };
  read_colours(&o, data);
  assert_int_equal(data[0], 8); /* 8.5 to even */
  assert_int_equal(data[1], 17);
  assert_int_equal(data[2], 26); /* 25.5 */
  assert_int_equal(data[11], 127);
}

static void an_element_of_each_size_is_written(void **state)
{
  (void)state;
  struct tm_picture_options o = plain();
  uint64_t data[12];
  double *doubles = (void *)data;
  o.scaling.type = TM_TENSOR_FLOAT64;
  o.scaling.scale = 0.1;
  read_colours(&o, data);
  assert_true(doubles[1] == 2 * 0.1);
  o.scaling.type = TM_TENSOR_INT64;
  o.scaling.scale = 1;
  read_colours(&o, data);
  assert_int_equal(data[11], 0x21);
  o.scaling.type = TM_TENSOR_FLOAT16;
  read_colours(&o, data);
  assert_int_equal(((uint16_t *)(void *)data)[0], 0x3c00);
}

static void limits_name_the_picture(void **state)
{
  (void)state;
  struct tm_err err = TM_ERR_NONE;
  uint8_t data[12];
  struct tm_picture_options o = plain();
  o.max_memory = 70000;
  o.sizing = (struct tm_sizing) { .width = 9999, .height = 1 };
  assert_int_equal(read_into(colours, sizeof colours - 1, &o, NULL, data, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "cannot read 'a.ppm': decoding and resizing it takes "));
  assert_non_null(strstr(err.text, " of memory; 'max_memory' is 68.4 KB"));
  o = plain();
  o.sizing = (struct tm_sizing) { .resize = 1000000 };
  assert_int_equal(read_into("P5 1 9 255\n123456789", 20, &o, NULL, data, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "cannot read 'a.ppm': its size would be 1000000 x 9000000"));
}

/* Resizing takes 684 KB here, and decoding 64 KB. */
static void what_decoding_takes_counts_when_resizing(void **state)
{
  (void)state;
  struct tm_err err = TM_ERR_NONE;
  static uint8_t data[30000];
  struct tm_picture_options o = plain();
  o.sizing = (struct tm_sizing) { .width = 9999, .height = 1 };
  o.max_memory = 770000;
  assert_int_equal(read_into(colours, sizeof colours - 1, &o, NULL, data, &err), 0);
  o.max_memory = 730000;
  assert_int_equal(read_into(colours, sizeof colours - 1, &o, NULL, data, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "decoding and resizing it takes 748 KB of memory"));
}

static void a_stop_ends_it(void **state)
{
  (void)state;
  struct tm_err err = TM_ERR_NONE;
  uint8_t data[12];
  atomic_bool stop = true;
  struct tm_picture_options o = plain();
  assert_int_equal(read_into(colours, sizeof colours - 1, &o, &stop, data, &err), -ECANCELED);
}

UNIT_TESTS({
    cmocka_unit_test(pixels_lie_as_the_layout_says),
    cmocka_unit_test(what_is_missing_is_padded),
    cmocka_unit_test(values_are_scaled_in_float32),
    cmocka_unit_test(integers_are_rounded_and_saturated),
    cmocka_unit_test(an_element_of_each_size_is_written),
    cmocka_unit_test(limits_name_the_picture),
    cmocka_unit_test(what_decoding_takes_counts_when_resizing),
    cmocka_unit_test(a_stop_ends_it),
});
