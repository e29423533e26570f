/* test_charsmap.c - sentencepiece's rules for characters: what they replace, and damaged ones. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/text/charsmap.h"

enum { UNITS = 2049, VALUE = 256 /* "has a value" */ };

/* The rules, by their bytes: C2 BD (1/2) -> "1", a fraction slash, "2"; 0D -> " "; 65 CC 81 -> an e
 * with an accent. */
static const char replacements[] = "1\u20442\0 \0\u00E9";

struct rig {
  uint32_t units[UNITS];
  const struct tm_utf8proc *u;
};

/* The unit at `at` is for this byte, and its children are at `base` ^ byte. */
static void put(struct rig *r, uint32_t at, uint32_t byte, uint32_t base, uint32_t has_value)
{
  r->units[at] = byte | has_value | (at ^ base) << 10;
}

static int set_up(void **state)
{
  struct rig *r = TM_NEW(struct rig);
  r->u = tm_utf8proc(NULL);
  for (size_t i = 0; i < UNITS; i++)
    r->units[i] = 0x7FFFFFFF;
  put(r, 0, 0, 256, 0);
  put(r, 256 ^ 0xC2, 0xC2, 1536, 0);
  put(r, 1536 ^ 0xBD, 0xBD, 1792, VALUE);
  r->units[1792] = 1U << 31 | 0;
  put(r, 256 ^ 0x0D, 0x0D, 2048, VALUE);
  r->units[2048] = 1U << 31 | 6;
  put(r, 256 ^ 0x65, 0x65, 512, 0);
  put(r, 512 ^ 0xCC, 0xCC, 1024, 0);
  put(r, 1024 ^ 0x81, 0x81, 1280, VALUE);
  r->units[1280] = 1U << 31 | 8;
  *state = r;
  return r->u ? 0 : -1;
}

static int tear_down(void **state)
{
  free(*state);
  return 0;
}

static void add_base64(struct tm_buf *out, const unsigned char *p, size_t n)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    uint32_t bits = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                    (i + 2 < n ? p[i + 2] : 0);
    for (int k = 0; k < 4; k++)
      tm_buf_add_char(out, i + (size_t)k > n ? '=' : digits[bits >> (18 - 6 * k) & 63]);
  }
}

static struct tm_charsmap *map_of(const struct rig *r, size_t units, struct tm_err *err)
{
  struct tm_buf bytes = TM_BUF_NONE, text = TM_BUF_NONE;
  tm_buf_add_u32(&bytes, (uint32_t)(units * 4));
  for (size_t i = 0; i < UNITS; i++)
    tm_buf_add_u32(&bytes, r->units[i]);
  tm_buf_add(&bytes, replacements, sizeof replacements);
  add_base64(&text, (const unsigned char *)bytes.data, bytes.len);
  struct tm_charsmap *m = tm_charsmap_parse(text.data, text.len, err);
  tm_buf_release(&bytes);
  tm_buf_release(&text);
  return m;
}

static void assert_text(const struct rig *r, const char *text, const char *wanted)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf out = TM_BUF_NONE;
  struct tm_charsmap *m = map_of(r, UNITS, &err);
  assert_non_null(m);
  tm_charsmap_apply(m, r->u, text, strlen(text), 1000, &out);
  assert_string_equal(tm_buf_str(&out), wanted);
  tm_buf_release(&out);
  tm_charsmap_free(m);
}

static void characters_with_a_rule_are_replaced(void **state)
{
  assert_text(*state, "a\u00BDb \u00BE", "a1\u20442b \u00BE");
  assert_text(*state, "e\u0301 e", "\u00E9 e");
  assert_text(*state, "", "");
}

/* As the reference does it: the rule of a cluster's front stands for a short cluster. */
static void short_clusters_are_replaced_as_a_whole(void **state)
{
  assert_text(*state, "\u00BD\u200D", "1\u20442");
  assert_text(*state, "\u00BD\u0301\u0301", "1\u20442\u0301\u0301"); /* of six bytes */
  assert_text(*state, "\r\n\r\r\n", "   ");
}

static void a_unit_that_leads_nowhere_finds_nothing(void **state)
{
  struct rig *r = *state;
  put(r, 256 ^ 0xC2, 0xC2, 1U << 20, 0);     /* beyond the array */
  put(r, 256 ^ 0x0D, 0x0D, 1U << 20, VALUE); /* its value, too */
  r->units[1280] = 1U << 31 | 0x7FFFFFF;     /* beyond the replacements */
  assert_text(r, "\u00BD\r e\u0301", "\u00BD\r e\u0301");
  r->units[1280] = 1U << 31 | 9; /* within a character */
  assert_text(r, "e\u0301", "e\u0301");
}

static void a_map_of_another_length_is_refused(void **state)
{
  static const size_t lengths[] = { 0, UNITS * 2, 0x40000000 - 1 };
  for (size_t i = 0; i < TM_COUNT_OF(lengths); i++) {
    struct tm_err err = TM_ERR_NONE;
    assert_null(map_of(*state, lengths[i], &err));
    assert_int_equal(err.code, TM_EDAMAGE);
    assert_string_equal(err.text, "the length of its array is wrong");
  }
  struct tm_err err = TM_ERR_NONE;
  assert_null(tm_charsmap_parse("AAA", 3, &err));
  assert_string_equal(err.text, "it is not base64");
  assert_null(tm_charsmap_parse("", 0, &err));
  assert_null(map_of(*state, UNITS / 2, &err)); /* here units are read as text */
  assert_string_equal(err.text, "its replacements are not UTF-8");
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(characters_with_a_rule_are_replaced, set_up, tear_down),
    cmocka_unit_test_setup_teardown(short_clusters_are_replaced_as_a_whole, set_up, tear_down),
    cmocka_unit_test_setup_teardown(a_unit_that_leads_nowhere_finds_nothing, set_up, tear_down),
    cmocka_unit_test_setup_teardown(a_map_of_another_length_is_refused, set_up, tear_down),
});
