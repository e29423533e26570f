/* test_normal_form.c - normal forms, and classes of characters. (tests/tokenizer compares both with
 * another implementation.) */
#include "unit.h"

#include <string.h>

#include "data/text/normal_form.h"

static const struct tm_utf8proc *unicode;

static int load(void **state)
{
  unicode = tm_utf8proc(NULL);
  return unicode ? 0 : -1;
}

static void assert_form(enum tm_normal_form form, const char *text, const char *wanted)
{
  struct tm_chars chars = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  tm_normal_form(unicode, form, text, strlen(text), &chars, &out);
  assert_string_equal(tm_buf_str(&out), wanted);
  tm_buf_release(&out);
  TM_ARRAY_RELEASE(&chars);
}

static void forms_are_those_of_unicode(void **state)
{
  static const struct {
    const char *text, *forms[4]; /* NFC, NFD, NFKC, NFKD */
  } cases[] = {
    { "plain", { "plain", "plain", "plain", "plain" } },
    { "\u00E9", { "\u00E9", "e\u0301", "\u00E9", "e\u0301" } },
    { "e\u0301", { "\u00E9", "e\u0301", "\u00E9", "e\u0301" } },
    { "\uFB01", { "\uFB01", "\uFB01", "fi", "fi" } },
    { "\u212B", { "\u00C5", "A\u030A", "\u00C5", "A\u030A" } },
    { "\uAC01", { "\uAC01", "\u1100\u1161\u11A8", "\uAC01", "\u1100\u1161\u11A8" } },
    { "\u0958", { "\u0915\u093C", "\u0915\u093C", "\u0915\u093C", "\u0915\u093C" } },
    /* marks are put in order, and those of one class keep theirs */
    { "q\u0307\u0323", { "q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307" } },
    { "q\u0301\u0300", { "q\u0301\u0300", "q\u0301\u0300", "q\u0301\u0300", "q\u0301\u0300" } },
    { "\u1E9B\u0323", { "\u1E9B\u0323", "\u017F\u0323\u0307", "\u1E69", "s\u0323\u0307" } },
    { "\uFDFA",
      { "\uFDFA", "\uFDFA",
        "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064A\u0647 "
        "\u0648\u0633\u0644\u0645",
        "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064A\u0647 "
        "\u0648\u0633\u0644\u0645" } },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    for (enum tm_normal_form form = TM_NFC; form <= TM_NFKD; form++)
      assert_form(form, cases[i].text, cases[i].forms[form]);
  }
}

/* In quadratic time this would take minutes. */
static void a_text_of_marks_takes_linear_time(void **state)
{
  enum { PAIRS = 300000 };
  struct tm_chars chars = { 0 };
  struct tm_buf text = TM_BUF_NONE, out = TM_BUF_NONE;
  for (int i = 0; i < PAIRS; i++)
    tm_buf_add_str(&text, "\u0301\u0323"); /* of classes 230 and 220 */
  tm_normal_form(unicode, TM_NFC, text.data, text.len, &chars, &out);
  assert_int_equal(out.len, text.len);
  for (int i = 0; i < PAIRS; i++) {
    assert_memory_equal(out.data + 2 * i, "\u0323", 2);
    assert_memory_equal(out.data + 2 * (PAIRS + i), "\u0301", 2);
  }
  tm_buf_release(&text);
  tm_buf_release(&out);
  TM_ARRAY_RELEASE(&chars);
}

static void characters_are_written_as_they_are_read(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  for (int32_t c = 0; c <= 0x10FFFF; c++) {
    size_t len;
    if (c >= 0xD800 && c <= 0xDFFF)
      continue;
    tm_buf_clear(&b);
    tm_char_add(&b, c);
    assert_int_equal(tm_char_at(b.data, &len), c);
    assert_int_equal(len, b.len);
    assert_ptr_equal(tm_char_before(b.data, b.data + b.len), b.data);
  }
  tm_buf_release(&b);
}

static void blanks_are_those_with_the_property(void **state)
{
  size_t n = 0;
  for (int32_t c = 0; c <= 0x10FFFF; c++)
    n += tm_char_is_space(c);
  assert_int_equal(n, 25); /* White_Space of PropList.txt */
  assert_true(tm_char_is_space(0x85) && tm_char_is_space(0x3000) && !tm_char_is_space(0x200B));
}

static void words_have_letters_marks_digits_and_connectors(void **state)
{
  static const int32_t in[] = { 'a',    '_',    '7',    0xE9,   0x301,  0x663,
                                0x203F, 0x24B6, 0x2160, 0x200D, 0x4E00, 0x1F130 },
                       out[] = { ' ', '-', '$', 0xB2, 0xBD, 0x2019, 0x3000, 0x1F600, 0x2460 };
  for (size_t i = 0; i < TM_COUNT_OF(in); i++)
    assert_true(tm_char_is_word(unicode, in[i]));
  for (size_t i = 0; i < TM_COUNT_OF(out); i++)
    assert_false(tm_char_is_word(unicode, out[i]));
}

UNIT_HOOKS(.setup = load);

UNIT_TESTS({
    cmocka_unit_test(forms_are_those_of_unicode),
    cmocka_unit_test(a_text_of_marks_takes_linear_time),
    cmocka_unit_test(characters_are_written_as_they_are_read),
    cmocka_unit_test(blanks_are_those_with_the_property),
    cmocka_unit_test(words_have_letters_marks_digits_and_connectors),
});
