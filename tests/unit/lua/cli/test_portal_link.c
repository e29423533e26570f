/* test_portal_link.c - the URL of a job's page. */
#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/portal_link.h"

static void a_link_has_no_token(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  assert_true(tm_portal_link_of(&out, "http://127.0.0.1:8080/0123/?token=abc", "a-1\xc3\xa9 ?"));
  assert_string_equal(out.data, "http://127.0.0.1:8080/0123/jobs/a-1%C3%A9%20%3F");
  tm_buf_release(&out);
}

static void a_url_that_is_not_a_portals_has_no_link(void **state)
{
  static const char *const others[] = { "", "http://127.0.0.1/", "javascript:x/?token=1",
                                        "/?token=1" };
  struct tm_buf out = TM_BUF_NONE;
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_false(tm_portal_link_of(&out, others[i], "a"));
  assert_int_equal(out.len, 0);
  assert_false(tm_portal_link_add(&out, "/nothing/jobs/a"));
  assert_false(tm_portal_link_add(&out, "a"));
}

UNIT_TESTS({
    cmocka_unit_test(a_link_has_no_token),
    cmocka_unit_test(a_url_that_is_not_a_portals_has_no_link),
});
