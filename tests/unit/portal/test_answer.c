/* test_answer.c - answers, and the headers that none leaves out. */
#include "unit.h"

#include <string.h>

#include "portal/answer.h"

static const char *value_of(enum tm_answer_kind kind, const char *name)
{
  const char *const *h = tm_answer_headers(kind);
  for (size_t i = 0; h[i]; i += 2)
    if (strcmp(h[i], name) == 0)
      return h[i + 1];
  return "";
}

static void every_kind_has_the_headers_of_safety(void **state)
{
  for (int kind = TM_ANSWER_PAGE; kind <= TM_ANSWER_OUTPUT; kind++) {
    assert_string_equal(value_of(kind, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(value_of(kind, "Referrer-Policy"), "no-referrer");
    assert_string_equal(value_of(kind, "Cross-Origin-Opener-Policy"), "same-origin");
    assert_string_equal(value_of(kind, "Cross-Origin-Resource-Policy"), "same-origin");
    assert_string_equal(value_of(kind, "X-Frame-Options"), "DENY");
    assert_string_equal(value_of(kind, "Access-Control-Allow-Origin"), "");
    assert_true(*value_of(kind, "Content-Type"));
    assert_true(strncmp(value_of(kind, "Cache-Control"), "no-", 3) == 0);
  }
}

static void a_page_runs_nothing_but_our_script(void **state)
{
  const char *policy = value_of(TM_ANSWER_PAGE, "Content-Security-Policy");
  assert_non_null(strstr(policy, "default-src 'none'"));
  assert_non_null(strstr(policy, "script-src 'self'"));
  assert_non_null(strstr(policy, "frame-ancestors 'none'"));
  assert_non_null(strstr(policy, "require-trusted-types-for 'script'"));
  assert_null(strstr(policy, "unsafe"));
}

static void a_file_of_a_job_is_never_a_page(void **state)
{
  enum tm_answer_kind kinds[] = { TM_ANSWER_TEXT, TM_ANSWER_ATTACHMENT, TM_ANSWER_OUTPUT };
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++) {
    assert_non_null(strstr(value_of(kinds[i], "Content-Security-Policy"), "sandbox"));
    assert_null(strstr(value_of(kinds[i], "Content-Type"), "html"));
    assert_string_equal(value_of(kinds[i], "Cache-Control"), "no-store");
  }
  assert_string_equal(value_of(TM_ANSWER_ATTACHMENT, "Content-Disposition"), "attachment");
}

static void nothing_breaks_a_header(void **state)
{
  struct tm_answer a;
  tm_answer_init(&a, 200, TM_ANSWER_PAGE);
  tm_answer_header(&a, "Location", "/a%s", "\r\nSet-Cookie: x");
  tm_answer_header(&a, "Location", "/\xc3\xa9");
  assert_int_equal(a.headers.len, 0);
  tm_answer_header(&a, "Location", "/%d", 7);
  assert_string_equal(a.headers.at[0].value, "/7");
  tm_answer_release(&a);
}

static void what_a_browser_has_is_not_sent_again(void **state)
{
  struct tm_answer a;
  tm_answer_init(&a, 200, TM_ANSWER_PIECE);
  tm_buf_add_str(&a.body, "text");
  tm_answer_match(&a, "\"other\"");
  assert_int_equal(a.status, 200);
  char tag[32];
  strcpy(tag, a.headers.at[0].value);
  tm_answer_match(&a, tag);
  assert_int_equal(a.status, 304);
  assert_int_equal(a.body.len, 0);
  tm_answer_release(&a);
}

UNIT_TESTS({
    cmocka_unit_test(every_kind_has_the_headers_of_safety),
    cmocka_unit_test(a_page_runs_nothing_but_our_script),
    cmocka_unit_test(a_file_of_a_job_is_never_a_page),
    cmocka_unit_test(nothing_breaks_a_header),
    cmocka_unit_test(what_a_browser_has_is_not_sent_again),
});
