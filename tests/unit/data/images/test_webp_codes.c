/* test_webp_codes.c - the codes of a WebP without loss: what libwebp writes is read, and a file
 * with too many is refused before libwebp sees it. */
#include "unit.h"

#include <string.h>

#include "data/images/webp_codes.h"
#include "data/images/webp_marks.h"
#include "image_fixture.h"
#include "random.h"

/* ---- bits, the lowest first ---- */

struct bits {
  struct tm_buf out;
  uint64_t held;
  int n;
};

static void put(struct bits *b, uint32_t value, int n)
{
  b->held |= (uint64_t)value << b->n;
  for (b->n += n; b->n >= 8; b->n -= 8, b->held >>= 8)
    tm_buf_add_char(&b->out, (char)b->held);
}

static uint32_t reversed(uint32_t byte)
{
  uint32_t out = 0;
  for (int i = 0; i < 8; i++)
    out |= (byte >> i & 1) << (7 - i);
  return out;
}

/* A code in which each byte has 8 bits, in an alphabet with `others` behind the bytes. */
static void put_bytes_code(struct bits *b, int others)
{
  put(b, 0, 1);
  put(b, 12 - 4, 4);
  for (int i = 0; i < 12; i++) /* lengths of the symbols 17, 18, 0, 1 to 5, 16, 6, 7, 8 */
    put(b, i == 11 || (others > 0 && i == 2), 3);
  put(b, 0, 1);
  for (int i = 0; others > 0 && i < 256 + others; i++)
    put(b, i < 256, 1);
}

/* A code of the symbol 0, which takes no bits. */
static void put_one_code(struct bits *b)
{
  put(b, 1, 4);
}

/* 1024 x 1024 of one colour, in parts of 4 x 4 with a group of codes each, of which there are
 * `groups`. */
static struct tm_buf make(uint32_t groups, int cache_bits)
{
  struct bits b = { TM_BUF_NONE, 0, 0 };
  put(&b, 0x2f, 8);
  put(&b, 1023, 14);
  put(&b, 1023, 14);
  put(&b, 0, 4 + 1); /* no alpha, version 0; no transform */
  put(&b, cache_bits > 0, 1);
  if (cache_bits > 0)
    put(&b, (uint32_t)cache_bits, 4);
  put(&b, 1, 1);
  put(&b, 0, 3 + 1); /* parts of 4 x 4; without a cache */
  put_bytes_code(&b, 24);
  put_bytes_code(&b, 0);
  for (int i = 0; i < 3; i++)
    put_one_code(&b);
  for (uint32_t i = 0; i < 65536; i++) {
    put(&b, reversed(i % groups & 255), 8);
    put(&b, reversed(i % groups >> 8), 8);
  }
  for (uint32_t i = 0; i < groups * 5; i++)
    put_one_code(&b);
  put(&b, 0, 32);
  return b.out;
}

static struct tm_buf in_a_file(const struct tm_buf *lossless)
{
  struct tm_buf out = TM_BUF_NONE;
  size_t len = lossless->len + (lossless->len & 1);
  tm_buf_add(&out, "RIFF", 4);
  tm_buf_add_u32(&out, (uint32_t)len + 12);
  tm_buf_add(&out, "WEBPVP8L", 8);
  tm_buf_add_u32(&out, (uint32_t)lossless->len);
  tm_buf_add(&out, lossless->data, lossless->len);
  if (lossless->len & 1)
    tm_buf_add_char(&out, 0);
  return out;
}

static struct tm_webp_codes codes_of(const struct tm_buf *lossless, size_t len)
{
  return tm_webp_codes((const uint8_t *)lossless->data + 5, len - 5, 1024, 1024);
}

static void groups_are_counted(void **state)
{
  static const uint32_t groups[] = { 1, 999, 1001, 65536 };
  for (size_t i = 0; i < TM_COUNT_OF(groups); i++) {
    for (int cache_bits = 0; cache_bits < 12; cache_bits += 11) {
      struct tm_buf lossless = make(groups[i], cache_bits);
      struct tm_webp_codes codes = codes_of(&lossless, lossless.len);
      int64_t each = cache_bits ? 20616 : 12416;
      assert_int_equal(codes.groups, groups[i]);
      assert_int_equal(codes.memory, 65536 * 4 + groups[i] * (each + 4));
      tm_buf_release(&lossless);
    }
  }
}

static void what_is_cut_before_its_groups_has_none(void **state)
{
  struct tm_buf lossless = make(3, 0);
  for (size_t n = 5; n < 65536 * 2; n += n < 100 ? 1 : 997)
    assert_int_equal(codes_of(&lossless, n).groups, 0);
  tm_buf_release(&lossless);
}

/* libwebp decodes 10,000 groups. With more, it is not asked. */
static void too_many_groups_are_refused(void **state)
{
  static const struct {
    uint32_t groups;
    int64_t max_memory;
    const char *words;
  } cases[] = {
    { 1000, 1 << 30, NULL },
    { 10001, 1 << 30, "the WebP has more than 10000 groups of codes, the limit" },
    { 65536, 1 << 30, "the WebP has more than 10000 groups of codes, the limit" },
    { 10000, 100 << 20, "a WebP of 1024 x 1024 pixels takes 127 MB of memory" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_buf lossless = make(cases[i].groups, 0), file = in_a_file(&lossless);
    struct tm_image_source source = picture_source(&file);
    struct tm_image_options options = picture_options(3);
    struct tm_image_rows rows;
    struct tm_err err = TM_ERR_NONE;
    options.max_memory = cases[i].max_memory;
    assert_int_equal(tm_image_open(&rows, &source, &options, &err), cases[i].words ? TM_ELIMIT : 0);
    if (cases[i].words)
      assert_non_null(strstr(err.text, cases[i].words));
    else
      tm_image_close(&rows);
    tm_buf_release(&lossless);
    tm_buf_release(&file);
  }
}

/* Palettes, copies, caches and several groups are among them. */
static void what_libwebp_writes_is_read(void **state)
{
  struct random r = { 1 };
  for (int i = 0; i < 60; i++) {
    int32_t width = 1 + (int32_t)random_below(&r, 300), height = 1 + (int32_t)random_below(&r, 90);
    uint32_t colours = i % 3 ? 256 : 1 + (uint32_t)random_below(&r, 20);
    size_t noise = random_below(&r, 30);
    uint8_t *pixels = picture_pixels(width, height, 4);
    for (int32_t k = 0; k < width * height * 4; k++) {
      uint32_t value =
          pixels[k] / (k / 4 % width < width / 2 ? 1U : 9U) + (uint32_t)random_below(&r, noise + 1);
      pixels[k] = (uint8_t)(k % 4 == 3 ? 255 - i % 2 * (value % 7) : value % colours);
    }
    struct tm_buf file = TM_BUF_NONE;
    picture_make_webp(pixels, width, height, 4, true, &file);
    size_t n;
    const uint8_t *lossless = tm_webp_lossless((const uint8_t *)file.data, file.len, &n);
    assert_non_null(lossless);
    struct tm_webp_codes codes = tm_webp_codes(lossless, n, width, height);
    assert_in_range(codes.groups, 1, 2600);
    assert_in_range(codes.memory, 12416, codes.groups * 20620 + width * height + 65536);
    free(pixels);
    tm_buf_release(&file);
  }
}

static void it_is_found_where_libwebp_reads(void **state)
{
  static const char alphas[] = "ALPH\x04\0\0\0\1abcALPH\x03\0\0\0\1xy\0VP8 \1\0\0\0z";
  static const char none[] = "ALPH\x04\0\0\0\1abcALPH\x03\0\0\0\0xy\0VP8 \1\0\0\0z";
  static const char bare[] = "RIFF\0\0\0\0WEBP\x2f"
                             "abcdpixels";
  size_t n;
  const uint8_t *p = tm_webp_lossless((const uint8_t *)alphas, sizeof alphas - 1, &n);
  assert_int_equal(n, 2);
  assert_memory_equal(p, "xy", 2);
  assert_null(tm_webp_lossless((const uint8_t *)none, sizeof none - 1, &n));
  p = tm_webp_lossless((const uint8_t *)bare, sizeof bare - 1, &n);
  assert_int_equal(n, 6);
  assert_memory_equal(p, "pixels", 6);
}

UNIT_TESTS({
    cmocka_unit_test(groups_are_counted),
    cmocka_unit_test(what_is_cut_before_its_groups_has_none),
    cmocka_unit_test(too_many_groups_are_refused),
    cmocka_unit_test(what_libwebp_writes_is_read),
    cmocka_unit_test(it_is_found_where_libwebp_reads),
});
