/* test_resample.c - the kernels agree, a part is the part of the whole, and a picture that is put
 * in turned or mirrored gives the same bytes. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "data/images/alpha.h"
#include "data/images/resample.h"
#include "random.h"

struct picture {
  int32_t width, height, channels;
  uint8_t *at;
};

static struct picture make_picture(int32_t width, int32_t height, int32_t channels)
{
  size_t n = (size_t)width * (size_t)height * (size_t)channels;
  return (struct picture) { width, height, channels, tm_xcalloc(1, n + TM_RESAMPLE_PADDING) };
}

static struct picture random_picture(struct random *r)
{
  static const int32_t channels[] = { 1, 3, 4 };
  bool is_small = random_below(r, 2) == 0;
  uint32_t max = is_small ? 12 : 120;
  struct picture p = make_picture(1 + (int32_t)random_below(r, max),
                                  1 + (int32_t)random_below(r, max), channels[random_below(r, 3)]);
  size_t n = (size_t)p.width * (size_t)p.height * (size_t)p.channels;
  bool is_hard = random_below(r, 3) == 0;
  for (size_t i = 0; i < n; i++)
    p.at[i] = is_hard ? (uint8_t)(random_below(r, 2) * 255) : (uint8_t)random_below(r, 256);
  return p;
}

static struct tm_resample_axis whole_axis(int32_t size, int32_t out)
{
  return (struct tm_resample_axis) { size, 0, (float)size, out, 0, out, false };
}

static uint8_t *pixel(const struct picture *p, int32_t x, int32_t y)
{
  return p->at + ((size_t)y * (size_t)p->width + (size_t)x) * (size_t)p->channels;
}

/* The result as it comes: its first row is the first that was taken. */
static struct picture resample(const struct picture *p, const struct tm_resample_options *options)
{
  struct tm_resample *r;
  assert_int_equal(tm_resample_open(&r, options, NULL), 0);
  struct picture out = make_picture(options->columns.count, options->rows.count, p->channels);
  size_t in_bytes = (size_t)p->width * (size_t)p->channels, taken = 0;
  size_t out_bytes = (size_t)out.width * (size_t)out.channels;
  uint8_t *row = tm_xcalloc(1, in_bytes + TM_RESAMPLE_PADDING);
  for (int32_t y = 0; y < p->height; y++) {
    memcpy(row, pixel(p, 0, y), in_bytes);
    tm_resample_put(r, row);
    while (tm_resample_take(r, out.at + taken * out_bytes))
      taken++;
  }
  assert_int_equal(taken, options->rows.count);
  tm_resample_close(r);
  free(row);
  return out;
}

static void assert_same(const struct picture *a, const struct picture *b)
{
  assert_int_equal(a->width, b->width);
  assert_int_equal(a->height, b->height);
  assert_memory_equal(a->at, b->at, (size_t)a->width * (size_t)a->height * (size_t)a->channels);
}

static struct tm_resample_options random_options(struct random *r, const struct picture *p)
{
  struct tm_resample_options o = {
    .columns = whole_axis(p->width, 1 + (int32_t)random_below(r, 90)),
    .rows = whole_axis(p->height, 1 + (int32_t)random_below(r, 90)),
    .channels = p->channels,
    .filter = (enum tm_filter)random_below(r, 5),
    .max_memory = 1 << 26,
    .kind = TM_RESAMPLE_PLAIN,
  };
  if (random_below(r, 3) == 0) {
    o.columns.from = (float)p->width * 0.21F;
    o.rows.to = (float)p->height * 0.83F;
  }
  return o;
}

static bool has_kind(enum tm_resample_kind kind)
{
  struct tm_resample_options o = {
    .columns = whole_axis(1, 1),
    .rows = whole_axis(1, 1),
    .channels = 1,
    .filter = TM_FILTER_BILINEAR,
    .max_memory = 1 << 20,
    .kind = kind,
  };
  struct tm_resample *r;
  int rc = tm_resample_open(&r, &o, NULL);
  tm_resample_close(r);
  return rc == 0;
}

static void kernels_agree(void **state)
{
  (void)state;
  struct random r = { 17 };
  for (int i = 0; i < 300 && has_kind(TM_RESAMPLE_AVX2); i++) {
    struct picture p = random_picture(&r);
    struct tm_resample_options o = random_options(&r, &p);
    struct picture want = resample(&p, &o);
    o.kind = TM_RESAMPLE_AVX2;
    struct picture got = resample(&p, &o);
    assert_same(&want, &got);
    free(p.at);
    free(want.at);
    free(got.at);
  }
}

static void a_part_is_the_part_of_the_whole(void **state)
{
  (void)state;
  struct random r = { 17 };
  for (int i = 0; i < 100; i++) {
    struct picture p = random_picture(&r);
    struct tm_resample_options o = random_options(&r, &p);
    o.kind = TM_RESAMPLE_BEST;
    struct picture whole = resample(&p, &o);
    o.columns.first = (int32_t)random_below(&r, (uint32_t)o.columns.out);
    o.columns.count = o.columns.out - o.columns.first;
    o.rows.first = (int32_t)random_below(&r, (uint32_t)o.rows.out);
    o.rows.count = 1 + (int32_t)random_below(&r, (uint32_t)(o.rows.out - o.rows.first));
    struct picture part = resample(&p, &o);
    for (int32_t y = 0; y < part.height; y++)
      assert_memory_equal(pixel(&part, 0, y), pixel(&whole, o.columns.first, o.rows.first + y),
                          (size_t)part.width * (size_t)part.channels);
    free(p.at);
    free(whole.at);
    free(part.at);
  }
}

/* The picture as it would be stored: columns, rows, or both last first; rows as columns. */
static struct picture turn(const struct picture *p, bool flip_x, bool flip_y, bool swaps)
{
  struct picture out = swaps ? make_picture(p->height, p->width, p->channels)
                             : make_picture(p->width, p->height, p->channels);
  for (int32_t y = 0; y < p->height; y++) {
    for (int32_t x = 0; x < p->width; x++) {
      int32_t to_x = flip_x ? p->width - 1 - x : x, to_y = flip_y ? p->height - 1 - y : y;
      memcpy(swaps ? pixel(&out, to_y, to_x) : pixel(&out, to_x, to_y), pixel(p, x, y),
             (size_t)p->channels);
    }
  }
  return out;
}

static void what_is_put_in_turned_gives_the_same_bytes(void **state)
{
  (void)state;
  struct random r = { 17 };
  for (int i = 0; i < 80; i++) {
    struct picture p = random_picture(&r);
    struct tm_resample_options o = random_options(&r, &p);
    o.kind = TM_RESAMPLE_BEST;
    struct picture want = resample(&p, &o);
    bool flip_x = i & 1, flip_y = i & 2, swaps = i & 4;
    struct picture stored = turn(&p, flip_x, flip_y, swaps);
    o.columns.is_reversed = flip_x;
    o.rows.is_reversed = flip_y;
    struct tm_resample_axis columns = o.columns;
    if (swaps) {
      o.columns = o.rows;
      o.rows = columns;
      o.rows_first = true;
    }
    struct picture got = resample(&stored, &o);
    /* rows that come last first are in that order in `got`; columns are not */
    struct picture turned =
        swaps ? turn(&got, false, flip_x, false) : turn(&got, false, flip_y, false);
    struct picture upright = turn(&turned, false, false, swaps);
    assert_same(&want, &upright);
    free(p.at);
    free(want.at);
    free(stored.at);
    free(got.at);
    free(turned.at);
    free(upright.at);
  }
}

/* The bytes are those of Pillow 9.4. */
static void known_bytes_come_out(void **state)
{
  (void)state;
  uint8_t at[8 + TM_RESAMPLE_PADDING] = { 0, 255, 17, 99, 200, 3, 140, 66 };
  static const struct {
    enum tm_filter filter;
    uint8_t want[3];
  } cases[] = { { TM_FILTER_NEAREST, { 255, 200, 140 } },
                { TM_FILTER_BOX, { 91, 150, 70 } },
                { TM_FILTER_BILINEAR, { 112, 105, 91 } },
                { TM_FILTER_BICUBIC, { 107, 108, 88 } },
                { TM_FILTER_LANCZOS, { 105, 110, 87 } } };
  struct picture p = { 8, 1, 1, at };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_resample_options o = { .columns = whole_axis(8, 3),
                                     .rows = whole_axis(1, 1),
                                     .channels = 1,
                                     .filter = cases[i].filter,
                                     .max_memory = 1 << 20 };
    struct picture got = resample(&p, &o);
    assert_memory_equal(got.at, cases[i].want, 3);
    free(got.at);
  }
}

static void colours_are_weighted_by_their_alpha(void **state)
{
  (void)state;
  uint8_t at[8 + TM_RESAMPLE_PADDING] = { 200, 100, 50, 255, 9, 9, 9, 0 };
  struct picture p = { 2, 1, 4, at };
  struct tm_resample_options o = { .columns = whole_axis(2, 1),
                                   .rows = whole_axis(1, 1),
                                   .channels = 4,
                                   .filter = TM_FILTER_BOX,
                                   .max_memory = 1 << 20 };
  struct picture got = resample(&p, &o);
  static const uint8_t want[] = { 199, 99, 49, 128 };
  assert_memory_equal(got.at, want, 4);
  free(got.at);
}

static void memory_is_counted_before_it_is_taken(void **state)
{
  (void)state;
  struct tm_resample_options o = { .columns = whole_axis(1, 20000),
                                   .rows = whole_axis(100000000, 1),
                                   .channels = 3,
                                   .filter = TM_FILTER_LANCZOS,
                                   .max_memory = 1 << 30 };
  struct tm_resample *r;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_resample_open(&r, &o, &err), TM_ELIMIT);
  assert_null(r);
  assert_string_equal(err.text, "resizing it takes 32.8 TB of memory; 'max_memory' is 1.0 GB");
}

static void alpha_is_laid_over_a_colour(void **state)
{
  (void)state;
  uint8_t row[] = { 200, 100, 50, 255, 10, 20, 30, 0, 255, 0, 90, 100 };
  static const uint8_t background[] = { 1, 2, 3 };
  static const uint8_t want[] = { 200, 100, 50, 1, 2, 3, 101, 1, 37 };
  tm_alpha_lay_over(row, 3, background, row);
  assert_memory_equal(row, want, sizeof want);
  uint8_t gray[] = { 255, 255, 255, 10, 20, 30, 0, 0, 255 };
  tm_row_to_gray(gray, 3, gray);
  assert_int_equal(gray[0], 255);
  assert_int_equal(gray[1], 18);
  assert_int_equal(gray[2], 29);
}

UNIT_TESTS({
    cmocka_unit_test(kernels_agree),
    cmocka_unit_test(a_part_is_the_part_of_the_whole),
    cmocka_unit_test(what_is_put_in_turned_gives_the_same_bytes),
    cmocka_unit_test(known_bytes_come_out),
    cmocka_unit_test(colours_are_weighted_by_their_alpha),
    cmocka_unit_test(memory_is_counted_before_it_is_taken),
    cmocka_unit_test(alpha_is_laid_over_a_colour),
});
