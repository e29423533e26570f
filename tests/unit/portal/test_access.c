/* test_access.c - who may ask for what. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "portal/request/access.h"

#define TOKEN  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COOKIE "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const char *const names[] = { "portal.example", NULL };

static struct tm_access access_of_tests(void)
{
  struct tm_access a = { .names = names };
  strcpy(a.token, TOKEN);
  strcpy(a.session, COOKIE);
  return a;
}

static int check(struct tm_request_head head)
{
  struct tm_access a = access_of_tests();
  const char *words = NULL;
  if (!head.method)
    head.method = "GET";
  head.hosts = head.hosts ? head.hosts : 1;
  int status = tm_access_check(&a, &head, &words);
  assert_int_equal(status != 0, *words != '\0');
  return status;
}

static void only_our_own_hosts_are_answered(void **state)
{
  static const char *const ours[] = { "localhost",      "localhost:8080",      "127.0.0.1:1",
                                      "127.0.0.1",      "[::1]:65535",         "[::1]",
                                      "LOCALHOST:8080", "portal.example:8080", "Portal.Example" };
  static const char *const others[] = { "",
                                        "evil.example",
                                        "localhost.evil.example",
                                        "127.0.0.1.evil.example",
                                        "evil.example:8080",
                                        "localhost:",
                                        "localhost:x",
                                        "localhost:1:2",
                                        "localhost:123456",
                                        "127.0.0.2",
                                        "[::1",
                                        "[::2]",
                                        "[::1]x",
                                        "0.0.0.0:8080",
                                        "localhost@evil.example",
                                        " localhost",
                                        "portal.example.evil" };
  for (size_t i = 0; i < TM_COUNT_OF(ours); i++)
    assert_int_equal(check((struct tm_request_head) { .host = ours[i] }), 0);
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_int_equal(check((struct tm_request_head) { .host = others[i] }), 421);
  assert_int_equal(check((struct tm_request_head) { .host = NULL }), 421);
  assert_int_equal(check((struct tm_request_head) { .host = "localhost", .hosts = 2 }), 421);
}

static void another_site_may_only_lead_here(void **state)
{
  struct tm_request_head r = { .host = "localhost:1", .site = "cross-site" };
  assert_int_equal(check(r), 403);
  r.mode = "no-cors";
  r.dest = "image";
  assert_int_equal(check(r), 403);
  r.mode = "navigate";
  r.dest = "iframe";
  assert_int_equal(check(r), 403);
  r.dest = "document";
  assert_int_equal(check(r), 0);
  r.method = "POST";
  assert_int_equal(check(r), 403);
  r = (struct tm_request_head) { .host = "localhost:1", .site = "same-site", .mode = "cors" };
  assert_int_equal(check(r), 403);
  r.site = "same-origin";
  assert_int_equal(check(r), 0);
  r.site = "none";
  assert_int_equal(check(r), 0);
}

static void an_origin_must_be_our_own(void **state)
{
  struct tm_request_head r = { .host = "localhost:8080", .origin = "http://localhost:8080" };
  assert_int_equal(check(r), 0);
  static const char *const others[] = { "http://localhost",       "http://localhost:8081",
                                        "https://localhost:8080", "null",
                                        "http://evil.example",    "" };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++) {
    r.origin = others[i];
    assert_int_equal(check(r), 403);
  }
}

static void only_reading_is_answered(void **state)
{
  static const char *const others[] = { "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "" };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_int_equal(check((struct tm_request_head) { .host = "localhost", .method = others[i] }),
                     405);
  assert_int_equal(check((struct tm_request_head) { .host = "localhost", .method = "HEAD" }), 0);
  assert_int_equal(check((struct tm_request_head) { .host = "localhost", .bytes = 16385 }), 431);
}

#define PAGE "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static int check_action(struct tm_request_head r, bool allows_control)
{
  struct tm_access a = access_of_tests();
  const char *words = NULL;
  strcpy(a.page_token, PAGE);
  a.allows_control = allows_control;
  int status = tm_access_check(&a, &r, &words);
  assert_int_equal(status != 0, *words != '\0');
  return status;
}

static void an_action_comes_from_our_own_page(void **state)
{
  const struct tm_request_head good = { .method = "POST",
                                        .host = "localhost:8080",
                                        .hosts = 1,
                                        .origin = "http://localhost:8080",
                                        .site = "same-origin",
                                        .page_token = PAGE,
                                        .is_action = true };
  struct tm_request_head r = good;
  assert_int_equal(check_action(r, true), 0);
  assert_int_equal(check_action(r, false), 403);
  r.site = NULL; /* an older browser; the Origin is there */
  assert_int_equal(check_action(r, true), 0);
  static const char *const sites[] = { "none", "same-site", "cross-site", "" };
  for (size_t i = 0; i < TM_COUNT_OF(sites); i++) {
    r.site = sites[i];
    assert_int_equal(check_action(r, true), 403);
  }
  static const char *const origins[] = { NULL, "null", "http://localhost", "http://evil.example" };
  for (size_t i = 0; i < TM_COUNT_OF(origins); i++) {
    r = good;
    r.origin = origins[i];
    assert_int_equal(check_action(r, true), 403);
  }
  static const char *const tokens[] = { NULL, "", TOKEN, COOKIE, PAGE "a" };
  for (size_t i = 0; i < TM_COUNT_OF(tokens); i++) {
    r = good;
    r.page_token = tokens[i];
    assert_int_equal(check_action(r, true), 403);
  }
  static const char *const methods[] = { "GET", "HEAD", "PUT", "post" };
  for (size_t i = 0; i < TM_COUNT_OF(methods); i++) {
    r = good;
    r.method = methods[i];
    assert_int_equal(check_action(r, true), 405);
  }
  r = good;
  r.has_body = true;
  assert_int_equal(check_action(r, true), 413);
  r = good;
  r.is_action = false;
  assert_int_equal(check_action(r, true), 405);
}

static void ten_wrong_tokens_a_second_are_looked_at(void **state)
{
  struct tm_access a = access_of_tests();
  assert_int_equal(tm_access_token(&a, TOKEN, 5 * TM_S), TM_ACCESS_RIGHT);
  for (int i = 0; i < TM_ACCESS_WRONG; i++)
    assert_int_equal(tm_access_token(&a, i % 2 ? "" : TOKEN "0", 5 * TM_S), TM_ACCESS_WRONG_KEY);
  assert_int_equal(tm_access_token(&a, TOKEN, 5 * TM_S + 1), TM_ACCESS_TOO_MANY);
  assert_int_equal(tm_access_cookie(&a, "tidemill=" COOKIE, 5 * TM_S + 1), TM_ACCESS_TOO_MANY);
  assert_int_equal(tm_access_token(&a, TOKEN, 6 * TM_S), TM_ACCESS_RIGHT);
}

static void a_bearer_has_the_token(void **state)
{
  struct tm_access a = access_of_tests();
  assert_int_equal(tm_access_bearer(&a, "Bearer " TOKEN, 0), TM_ACCESS_RIGHT);
  assert_int_equal(tm_access_bearer(&a, "bearer " TOKEN, 0), TM_ACCESS_RIGHT);
  assert_int_equal(tm_access_bearer(&a, "Basic " TOKEN, 0), TM_ACCESS_WRONG_KEY);
  assert_int_equal(tm_access_bearer(&a, "Bearer " COOKIE, 0), TM_ACCESS_WRONG_KEY);
  assert_int_equal(tm_access_bearer(&a, NULL, 0), TM_ACCESS_WRONG_KEY);
}

static void one_right_cookie_of_several_is_enough(void **state)
{
  struct tm_access a = access_of_tests();
  static const char *const right[] = { "tidemill=" COOKIE, "a=b; tidemill=" COOKIE "; c=d",
                                       "tidemill=old; tidemill=" COOKIE, "tidemill=" COOKIE " ;x" };
  static const char *const wrong[] = { "",
                                       "tidemill=",
                                       "tidemill",
                                       "xtidemill=" COOKIE,
                                       "tidemill=" TOKEN,
                                       "tidemill=" COOKIE "0",
                                       ";;; =;" };
  for (size_t i = 0; i < TM_COUNT_OF(right); i++)
    assert_int_equal(tm_access_cookie(&a, right[i], (int64_t)i * TM_S), TM_ACCESS_RIGHT);
  for (size_t i = 0; i < TM_COUNT_OF(wrong); i++)
    assert_int_equal(tm_access_cookie(&a, wrong[i], (int64_t)(i + 9) * TM_S), TM_ACCESS_WRONG_KEY);
  assert_int_equal(tm_access_cookie(&a, NULL, 0), TM_ACCESS_WRONG_KEY);
}

static void secrets_are_random_digits(void **state)
{
  char one[TM_SECRET_LEN + 1], other[TM_SECRET_LEN + 1];
  assert_int_equal(tm_secret_make(one, TM_SECRET_LEN, NULL), 0);
  assert_int_equal(tm_secret_make(other, TM_SECRET_LEN, NULL), 0);
  assert_true(tm_secret_is_digits(one, TM_SECRET_LEN));
  assert_string_not_equal(one, other);
  assert_true(tm_secret_is(one, one, TM_SECRET_LEN));
  assert_false(tm_secret_is(one, one, TM_SECRET_LEN - 1));
  assert_false(tm_secret_is("", "", 0)); /* one that was not made is never right */
}

UNIT_TESTS({
    cmocka_unit_test(only_our_own_hosts_are_answered),
    cmocka_unit_test(another_site_may_only_lead_here),
    cmocka_unit_test(an_origin_must_be_our_own),
    cmocka_unit_test(only_reading_is_answered),
    cmocka_unit_test(an_action_comes_from_our_own_page),
    cmocka_unit_test(ten_wrong_tokens_a_second_are_looked_at),
    cmocka_unit_test(a_bearer_has_the_token),
    cmocka_unit_test(one_right_cookie_of_several_is_enough),
    cmocka_unit_test(secrets_are_random_digits),
});
