/* test_worker_mark.c - marks tell jobs and keepers apart, and which keepers are over. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "node/worker_mark.h"

static void a_mark_tells_one_job_from_another(void **state)
{
  static const char *const dirs[] = { "/jobs/a", "/jobs/a:b", "/jobs/a%3ab", "/jobs/a,b",
                                      "/jobs/ab" };
  char first[1200], second[1200];
  for (size_t i = 0; i < TM_COUNT_OF(dirs); i++)
    for (size_t j = 0; j < TM_COUNT_OF(dirs); j++) {
      char *a = tm_job_mark(dirs[i]), *b = tm_job_mark(dirs[j]);
      assert_int_equal(strncmp(a, b, strlen(a)) == 0, i == j);
      assert_null(strchr(a, ','));
      free(a);
      free(b);
    }
  memset(first, 'x', sizeof first - 1);
  first[sizeof first - 1] = '\0';
  strcpy(second, first);
  second[sizeof second - 2] = 'y';
  char *a = tm_job_mark(first), *b = tm_job_mark(second);
  assert_string_not_equal(a, b);
  assert_true(strlen(a) < 600);
  free(a);
  free(b);
}

static void the_mark_of_a_keeper_follows_that_of_the_job(void **state)
{
  char *mark = tm_incarnation_mark("/jobs/a:b", &(struct tm_incarnation) { 0xabc, 12, 3 });
  assert_string_equal(mark, "/jobs/a%3ab:0000000000000abc.12.3:");
  free(mark);
}

static void the_mark_of_a_launch_says_whether_it_is_kept(void **state)
{
  static const struct tm_incarnation i = { 0xabc, 0, 3 };
  char *mark = tm_launch_mark("/jobs/a", &i, true, 7);
  assert_string_equal(mark, "/jobs/a:0000000000000abc.0.3:kept:7");
  free(mark);
  mark = tm_launch_mark("/jobs/a", &i, false, 7);
  assert_string_equal(mark, "/jobs/a:0000000000000abc.0.3:launch:7");
  free(mark);
}

static void a_keeper_is_over_when_its_node_has_a_later_one(void **state)
{
  static const struct tm_incarnation present = { 0xabc, 1, 10 };
  static const struct {
    const char *rest;
    bool is_over;
  } cases[] = {
    { "0000000000000abc.1.9:process000:0", true },
    { "0000000000000abc.1.10:process000:0", false },
    { "0000000000000abc.1.11:process000:0", false },
    { "0000000000000abc.0.9:process000:0", false }, /* another node of this session */
    { "0000000000000abc.11.0:process000:0", false },
    { "0000000000000abd.1.10:process000:0", true }, /* another session */
    { "0000000000000abd.0.99:process000:0", true },
    { "process000:0", true }, /* of a version without incarnations */
    { "", true },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    if (tm_incarnation_is_over(cases[i].rest, &present) != cases[i].is_over)
      fail_msg("'%s'", cases[i].rest);
}

UNIT_TESTS({
    cmocka_unit_test(a_mark_tells_one_job_from_another),
    cmocka_unit_test(the_mark_of_a_keeper_follows_that_of_the_job),
    cmocka_unit_test(the_mark_of_a_launch_says_whether_it_is_kept),
    cmocka_unit_test(a_keeper_is_over_when_its_node_has_a_later_one),
});
