/* test_target.c - paths and queries of requests, as they are sent. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "portal/request/target.h"

static void a_path_becomes_its_decoded_segments(void **state)
{
  struct tm_target t;
  assert_int_equal(tm_target_parse(&t, "/p/jobs/a%20b%C3%A9%2e/x?q=1&r", NULL), 0);
  assert_int_equal(t.len, 4);
  assert_string_equal(t.segments[2], "a b\xc3\xa9.");
  assert_string_equal(t.query, "q=1&r");
  assert_false(t.is_folder);
  char *rest = tm_target_rest(&t, 2);
  assert_string_equal(rest, "a b\xc3\xa9./x");
  free(rest);
  tm_target_release(&t);
  assert_int_equal(tm_target_parse(&t, "/p/", NULL), 0);
  assert_true(t.is_folder && t.len == 1);
  tm_target_release(&t);
  assert_int_equal(tm_target_parse(&t, "/", NULL), 0);
  assert_true(t.is_folder && t.len == 0);
  tm_target_release(&t);
}

static void a_path_that_no_browser_sends_is_refused(void **state)
{
  static const char *const refused[] = {
    "",          "p",       "http://x/", "/a/../b", "/a/..",    "/.",     "/a/%2e%2e/b",
    "/%2E",      "/a/.%2e", "/a//b",     "//a",     "/a%00",    "/a%2fb", "/a%2F",
    "/a%",       "/a%2",    "/a%zz",     "/a b",    "/a\x01",   "/\xc3",  "/a\"b",
    "/a\\..\\b", "/a#b",    "/<script>", "/a\tb",   "/a/%2e/b", "*",      "/a\x7f",
  };
  struct tm_target t;
  struct tm_err err;
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++) {
    err.code = 0;
    assert_int_equal(tm_target_parse(&t, refused[i], &err), TM_EUSAGE);
    assert_true(err.text[0] != '\0');
    tm_target_release(&t);
  }
}

static void a_path_has_a_limit(void **state)
{
  struct tm_target t;
  struct tm_buf path = TM_BUF_NONE;
  for (int i = 0; i < TM_TARGET_SEGMENTS; i++)
    tm_buf_add_str(&path, "/a");
  assert_int_equal(tm_target_parse(&t, path.data, NULL), 0);
  tm_target_release(&t);
  tm_buf_add_str(&path, "/a");
  assert_int_equal(tm_target_parse(&t, path.data, NULL), TM_EUSAGE);
  tm_target_release(&t);
  while (path.len <= TM_TARGET_BYTES)
    tm_buf_add_str(&path, "aaaaaaaa");
  assert_int_equal(tm_target_parse(&t, path.data, NULL), TM_EUSAGE);
  tm_target_release(&t);
  tm_buf_release(&path);
}

static void expect_text(const char *query, const char *want)
{
  struct tm_buf out = TM_BUF_NONE;
  bool found = tm_target_text(query, "q", &out);
  assert_int_equal(found, want != NULL);
  assert_string_equal(tm_buf_str(&out), want ? want : "");
  tm_buf_release(&out);
}

static void values_of_a_query_are_decoded(void **state)
{
  expect_text("q=a+b%2B%26", "a b+&");
  expect_text("x=1&q=2&q=3", "2");
  expect_text("q=", "");
  expect_text("", NULL);
  expect_text("q", NULL);
  expect_text("qq=1", NULL);
  expect_text("q=a%00b", NULL);
  expect_text("q=a%", NULL);
  expect_text("q=a%4", NULL);
  assert_int_equal(tm_target_int("page=7", "page", 1), 7);
  assert_int_equal(tm_target_int("page=-7", "page", 1), 1);
  assert_int_equal(tm_target_int("page=x", "page", 1), 1);
  assert_int_equal(tm_target_int("page=99999999999999999999", "page", 1), 1);
}

UNIT_TESTS({
    cmocka_unit_test(a_path_becomes_its_decoded_segments),
    cmocka_unit_test(a_path_that_no_browser_sends_is_refused),
    cmocka_unit_test(a_path_has_a_limit),
    cmocka_unit_test(values_of_a_query_are_decoded),
});
