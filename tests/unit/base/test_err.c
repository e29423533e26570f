/* test_err.c - messages are set, wrapped and cut; every code has a name. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "base/err.h"

static void set_fills_code_and_message(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_err_set(&err, TM_EUSAGE, "unknown key '%s'", "x"), TM_EUSAGE);
  assert_int_equal(err.code, TM_EUSAGE);
  assert_string_equal(err.text, "unknown key 'x'");
  assert_int_equal(tm_err_set(NULL, -ENOENT, "nobody listens"), -ENOENT);
}

static void success_is_never_returned_as_failure(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_true(tm_err_set(&err, 0, "words") < 0);
  assert_true(err.code < 0);
}

static void system_adds_the_text_of_the_code(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  tm_err_system(&err, -ENOENT, "cannot open '%s'", "x");
  assert_string_equal(err.text, "cannot open 'x': no such file or directory");
  tm_err_system(&err, TM_EDAMAGE, "cannot read 'x'");
  assert_string_equal(err.text, "cannot read 'x': damaged file");
  assert_int_equal(tm_err_system(&err, -77777, "odd"), -77777);
  assert_string_equal(err.text, "odd: unknown error -77777");
}

static void wrap_goes_before(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  tm_err_set(&err, TM_ESCRIPT, "inner");
  assert_int_equal(tm_err_wrap(&err, "middle %d", 2), TM_ESCRIPT);
  tm_err_wrap(&err, "outer");
  assert_string_equal(err.text, "outer: middle 2: inner");
}

static void a_message_may_be_its_own_argument(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  tm_err_set(&err, TM_EUSAGE, "first");
  tm_err_set(&err, TM_EUSAGE, "%s and second", err.text);
  assert_string_equal(err.text, "first and second");
}

static void append_adds_at_the_end_and_is_cut(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  char text[3000];
  tm_err_set(&err, TM_EUSAGE, "front");
  tm_err_append(&err, "; %s");
  assert_string_equal(err.text, "front; %s");
  assert_int_equal(err.code, TM_EUSAGE);
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  tm_err_append(&err, text);
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
  tm_err_append(&err, "more");
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
  tm_err_append(NULL, "nobody listens");
}

static void long_words_are_cut(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  char text[3000];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  tm_err_set(&err, TM_EUSAGE, "%s", text);
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
  tm_err_wrap(&err, "%s", "front");
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
  assert_int_equal(strncmp(err.text, "front: x", 8), 0);
  tm_err_wrap(&err, "%s", text);
  tm_err_system(&err, -EIO, "%s", text);
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void cut_spares_characters(void **state)
{
  for (size_t shift = 0; shift < 4; shift++) {
    struct tm_err err = TM_ERR_NONE;
    char text[3000];
    memset(text, 'x', shift);
    for (size_t i = shift; i + 4 < sizeof text; i += 4)
      memcpy(text + i, "\xF0\x9F\x98\x80", 5);
    tm_err_set(&err, TM_EUSAGE, "%s", text);
    size_t len = strlen(err.text);
    assert_int_equal((len - shift) % 4, 0);
    assert_true(len + 4 >= sizeof err.text - 1);
  }
}

static void codes_have_names(void **state)
{
  assert_string_equal(tm_code_name(TM_ETHRESHOLD), "ETHRESHOLD");
  assert_string_equal(tm_code_name(-ENOENT), "ENOENT");
  assert_string_equal(tm_code_name(-ENOSPC), "ENOSPC");
  assert_string_equal(tm_code_text(-ENOSPC), "no space left on device");
  assert_string_equal(tm_code_name(-4095), "EOF");
  assert_string_equal(tm_code_name(0), "UNKNOWN");
  assert_string_equal(tm_code_text(1), "unknown error");
#define XX(name, code, text)                                                                       \
  assert_string_equal(tm_code_name(code), #name);                                                  \
  assert_string_equal(tm_code_text(TM_##name), text);
  TIDEMILL_ERROR_MAP(XX)
#undef XX
}

UNIT_TESTS({
    cmocka_unit_test(set_fills_code_and_message),
    cmocka_unit_test(success_is_never_returned_as_failure),
    cmocka_unit_test(system_adds_the_text_of_the_code),
    cmocka_unit_test(wrap_goes_before),
    cmocka_unit_test(a_message_may_be_its_own_argument),
    cmocka_unit_test(append_adds_at_the_end_and_is_cut),
    cmocka_unit_test(long_words_are_cut),
    cmocka_unit_test(cut_spares_characters),
    cmocka_unit_test(codes_have_names),
});
