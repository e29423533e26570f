/* Hosts on which Slurm is not to start a node. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "slurm/exclusions.h"

static void expect(const struct tm_exclusions *e, const char *users, const char *expected)
{
  char *text = tm_exclusions_text(e, users);
  assert_string_equal(text ? text : "", expected);
  free(text);
}

static void a_host_is_excluded_for_ten_minutes_after_its_last_loss(void **state)
{
  struct tm_exclusions e = { .is_untested = false };
  assert_true(tm_exclusions_add(&e, "cn01", 0));
  assert_true(tm_exclusions_add(&e, "cn02", TM_S));
  assert_true(tm_exclusions_add(&e, "cn01", 2 * TM_S));
  tm_exclusions_expire(&e, 600 * TM_S);
  expect(&e, NULL, "cn02,cn01");
  tm_exclusions_expire(&e, 601 * TM_S);
  expect(&e, NULL, "cn01");
  tm_exclusions_expire(&e, 602 * TM_S);
  expect(&e, NULL, "");
  tm_exclusions_release(&e);
}

static void those_of_the_user_stay(void **state)
{
  struct tm_exclusions e = { .is_untested = false };
  expect(&e, "login[1-2]", "login[1-2]");
  assert_true(tm_exclusions_add(&e, "cn01", 0));
  expect(&e, "login[1-2]", "login[1-2],cn01");
  tm_exclusions_expire(&e, INT64_MAX);
  expect(&e, "login[1-2]", "login[1-2]");
  tm_exclusions_release(&e);
}

static void as_long_as_slurm_refuses_the_oldest_ends(void **state)
{
  struct tm_exclusions e = { .is_untested = false };
  char *host;
  assert_false(tm_exclusions_are_untested(&e));
  tm_exclusions_add(&e, "cn01", 0);
  tm_exclusions_add(&e, "cn02", 1);
  assert_true(tm_exclusions_are_untested(&e));
  host = tm_exclusions_tested(&e, false);
  assert_string_equal(host, "cn01");
  free(host);
  assert_true(tm_exclusions_are_untested(&e)); /* it must be asked again */
  tm_exclusions_asked(&e);
  assert_null(tm_exclusions_tested(&e, true));
  assert_false(tm_exclusions_are_untested(&e));
  expect(&e, NULL, "cn02");
  tm_exclusions_add(&e, "cn03", 2);
  tm_exclusions_asked(&e);
  free(tm_exclusions_tested(&e, false));
  free(tm_exclusions_tested(&e, false));
  assert_false(tm_exclusions_are_untested(&e)); /* none is left */
  assert_null(tm_exclusions_tested(&e, false));
  tm_exclusions_release(&e);
}

static void a_host_that_is_added_meanwhile_is_untested(void **state)
{
  struct tm_exclusions e = { .is_untested = false };
  tm_exclusions_add(&e, "cn01", 0);
  tm_exclusions_asked(&e);
  assert_false(tm_exclusions_are_untested(&e));
  tm_exclusions_add(&e, "cn02", 0);
  assert_null(tm_exclusions_tested(&e, true));
  assert_true(tm_exclusions_are_untested(&e));
  tm_exclusions_asked(&e);
  assert_null(tm_exclusions_tested(&e, true));
  assert_false(tm_exclusions_are_untested(&e));
  tm_exclusions_release(&e);
}

static void a_question_without_an_answer_is_asked_again(void **state)
{
  struct tm_exclusions e = { .is_untested = false };
  tm_exclusions_add(&e, "cn01", 0);
  tm_exclusions_asked(&e);
  tm_exclusions_unanswered(&e);
  assert_true(tm_exclusions_are_untested(&e));
  expect(&e, NULL, "cn01");
  tm_exclusions_release(&e);
}

static void only_plain_names_are_excluded_without_their_domain(void **state)
{
  static const char *const bad[] = { "",       "-cn01",  "cn01,cn02", "cn[1-99]", "cn 01",
                                     "cn01\n", ".local", "cn01;x",    "\xc3\xbc" };
  struct tm_exclusions e = { .is_untested = false };
  char longest[200];
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    assert_false(tm_exclusions_add(&e, bad[i], 0));
  memset(longest, 'a', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  assert_false(tm_exclusions_add(&e, longest, 0));
  assert_true(tm_exclusions_add(&e, "cn_01-a.example.org", 0));
  expect(&e, NULL, "cn_01-a");
  tm_exclusions_release(&e);
}

UNIT_TESTS({
    cmocka_unit_test(a_host_is_excluded_for_ten_minutes_after_its_last_loss),
    cmocka_unit_test(those_of_the_user_stay),
    cmocka_unit_test(as_long_as_slurm_refuses_the_oldest_ends),
    cmocka_unit_test(a_host_that_is_added_meanwhile_is_untested),
    cmocka_unit_test(a_question_without_an_answer_is_asked_again),
    cmocka_unit_test(only_plain_names_are_excluded_without_their_domain),
});
