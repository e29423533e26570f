/* test_short_numbers.c - every kernel takes every short number, takes nothing else, and gives the
 * values of strtod() and strtoll(). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/short_numbers.h"
#include "data/rows/value.h"
#include "random.h"

enum { TEXT_MAX = 12 };

static const enum tm_scan_kind kinds[] = { TM_SCAN_BYTES, TM_SCAN_AVX2 };

/* Perhaps a '-', digits, perhaps a point. */
static bool is_short(const char *text, bool *has_point)
{
  size_t digits = 0, points = 0, n = strlen(text);
  for (const char *p = text + (*text == '-'); *p != '\0'; p++) {
    digits += *p >= '0' && *p <= '9';
    points += *p == '.';
    if ((*p < '0' || *p > '9') && *p != '.')
      return false;
  }
  *has_point = points > 0;
  return n <= TM_SHORT_MAX && digits > 0 && points <= 1;
}

/* A text, behind other bytes. */
static void put(struct tm_short_texts *t, size_t i, const char *text, uint64_t before)
{
  size_t n = strlen(text);
  t->lens[i] = n;
  t->words[i] = before;
  for (size_t k = 0; k < n; k++)
    t->words[i] = t->words[i] >> 8 | (uint64_t)(unsigned char)text[k] << 56;
}

static void check_double(const char *text, bool is_good, double got)
{
  bool has_point;
  double want = strtod(text, NULL), slow = 0;
  if (is_good != is_short(text, &has_point))
    fail_msg("'%s' was %s", text, is_good ? "taken as a double" : "not taken as a double");
  if (is_good && memcmp(&got, &want, sizeof got) != 0)
    fail_msg("'%s' is %.17g, not %.17g", text, want, got);
  if (is_good)
    assert_true(tm_value_double(text, strlen(text), &slow) && memcmp(&got, &slow, 8) == 0);
}

static void check_long(const char *text, bool is_good, int64_t got)
{
  bool has_point;
  int64_t slow = 0;
  if (is_good != (is_short(text, &has_point) && !has_point))
    fail_msg("'%s' was %s", text, is_good ? "taken as a long" : "not taken as a long");
  if (is_good && got != strtoll(text, NULL, 10))
    fail_msg("'%s' is not %lld", text, (long long)got);
  if (is_good)
    assert_true(tm_value_long(text, strlen(text), &slow) && got == slow);
}

/* Takes n texts with each kernel. */
static void check(const char texts[TM_SHORT_MANY][TEXT_MAX], size_t n, struct random *r)
{
  struct tm_short_texts t = { .words = { 0 } };
  double doubles[TM_SHORT_MANY];
  int64_t longs[TM_SHORT_MANY];
  for (size_t i = 0; i < TM_SHORT_MANY; i++) /* those from n on are left from an earlier call */
    put(&t, i, i < n ? texts[i] : "1.5", random_next(r));
  for (size_t k = 0; k < TM_COUNT_OF(kinds); k++) {
    const struct tm_short_kernel *kernel = tm_short_kernel(kinds[k]);
    uint64_t d = kernel->doubles(&t, n, doubles), l = kernel->longs(&t, n, longs);
    assert_true(d >> n == 0 && l >> n == 0);
    for (size_t i = 0; i < n; i++) {
      check_double(texts[i], d >> i & 1, doubles[i]);
      check_long(texts[i], l >> i & 1, longs[i]);
    }
  }
}

static void random_texts(const char *characters, int times, uint64_t seed)
{
  struct random r = { seed };
  char texts[TM_SHORT_MANY][TEXT_MAX];
  for (int i = 0; i < times; i++) {
    size_t n = 1 + random_below(&r, TM_SHORT_MANY);
    for (size_t k = 0; k < n; k++) {
      size_t len = random_below(&r, 11);
      for (size_t c = 0; c < len; c++)
        texts[k][c] = characters[random_below(&r, (uint32_t)strlen(characters))];
      texts[k][len] = '\0';
    }
    check((const char(*)[TEXT_MAX])texts, n, &r);
  }
}

static void numbers(void **state)
{
  random_texts("0123456789012345678901234567890123456789.-", 20000, 1);
}

/* Neighbours of the characters that count, and bytes above 127. */
static void other_texts(void **state)
{
  random_texts("0189.-/:+,eE \t\"\x1d\x1e\x01\x3a\x80\xad\xae\xb0\xff", 20000, 2);
}

/* All texts of up to four of these, and all places of a point among eight. */
static void all_texts(void **state)
{
  static const char characters[] = "079.-+/:";
  struct random r = { 3 };
  char texts[TM_SHORT_MANY][TEXT_MAX] = { "" };
  for (unsigned i = 0; i < 8 * 8 * 8 * 8; i++)
    for (size_t len = 1; len <= 4; len++) {
      for (size_t c = 0; c < len; c++)
        texts[len - 1][c] = characters[i >> (3 * c) & 7];
      texts[len - 1][len] = '\0';
      check((const char(*)[TEXT_MAX])texts, 4, &r);
    }
  for (size_t point = 0; point < 8; point++) {
    strcpy(texts[point], "99999999");
    strcpy(texts[8 + point], "-9999999");
    texts[point][point] = texts[8 + point][point] = '.';
  }
  check((const char(*)[TEXT_MAX])texts, 16, &r);
}

UNIT_TESTS({
    cmocka_unit_test(numbers),
    cmocka_unit_test(other_texts),
    cmocka_unit_test(all_texts),
});
