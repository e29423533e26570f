/* test_glob.c - names against patterns from tests/cases/glob.txt; limits; patterns that are made to
 * be slow. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cases.h"
#include "data/files/glob.h"

static void names_match_as_the_table_says(void **state)
{
  struct case_line line = { .number = 0 };
  FILE *f = fopen(TM_TESTS_DIR "/cases/glob.txt", "r");
  int cases = 0, wrong = 0;
  assert_non_null(f);
  for (; case_next(f, &line); cases++) {
    if (line.words_len != 3)
      fail_msg("glob.txt:%d: three words are expected", line.number);
    bool want = strcmp(line.words[2], "yes") == 0;
    if (tm_glob_match_name(line.words[0], line.words[1]) != want) {
      print_error("glob.txt:%d: '%s' '%s' is not '%s'\n", line.number, line.words[0], line.words[1],
                  line.words[2]);
      wrong++;
    }
  }
  fclose(f);
  assert_true(cases > 80);
  assert_int_equal(wrong, 0);
}

static void patterns_are_recognised(void **state)
{
  static const char *const yes[] = { "*", "a?", "[a]", "{a,b}", "a\\*" };
  static const char *const no[] = { "", "a", "a/b.c", "}]", "!^,-" };
  for (size_t i = 0; i < 5; i++) {
    assert_true(tm_glob_is_pattern(yes[i]));
    assert_false(tm_glob_is_pattern(no[i]));
  }
}

static void walk_starts_as_deep_as_it_can(void **state)
{
  static const struct {
    const char *pattern, *start;
    bool is_absolute;
  } cases[] = {
    { "a/b/*.csv", "a/b", false },
    { "*.csv", "", false },
    { "/a/./b//c*", "a/b", true },
    { "a/b\\*/c*", "a/b*", false },
    { "{a/b,a/c}/*", "a", false },
    { "{a,b}/c", "", false },
    { "a/{b,b}/{*,x}", "a/b", false },
    { "a", "", false },
    { "a/**", "a", false },
    { "{/d/a,/d/b}/c*", "d", true },
  };
  struct tm_glob g;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    assert_int_equal(tm_glob_init(&g, cases[i].pattern, NULL), 0);
    assert_string_equal(g.start, cases[i].start);
    assert_int_equal(g.is_absolute, cases[i].is_absolute);
    tm_glob_release(&g);
  }
}

static void too_much_is_refused_with_a_message(void **state)
{
  struct tm_glob g;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf many = TM_BUF_NONE;
  assert_int_equal(tm_glob_init(&g, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", &err), 0);
  tm_glob_release(&g);
  assert_int_equal(tm_glob_init(&g, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", &err),
                   TM_ELIMIT);
  assert_non_null(strstr(err.text, "more than 256 patterns"));
  for (int i = 0; i < TM_GLOB_PLACES; i++)
    tm_buf_add_str(&many, "a/");
  assert_int_equal(tm_glob_init(&g, tm_buf_str(&many), &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "too many parts"));
  memset(tm_buf_extend(&many, 64 << 10), 'a', 64 << 10);
  assert_int_equal(tm_glob_init(&g, tm_buf_str(&many), &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "longer than"));
  assert_int_equal(tm_glob_init(&g, "{/a,b}/*", &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "one by one"));
  tm_buf_release(&many);
}

/* Would take longer than anybody waits, where every '*' were tried at every place. */
static void many_stars_end_soon(void **state)
{
  char pattern[200], name[2000];
  for (int i = 0; i < 99; i++)
    memcpy(pattern + 2 * i, "*a", 2);
  strcpy(pattern + 198, "b");
  memset(name, 'a', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  assert_false(tm_glob_match_name(pattern, name));
  name[sizeof(name) - 2] = 'b';
  assert_true(tm_glob_match_name(pattern, name));
}

UNIT_TESTS({
    cmocka_unit_test(names_match_as_the_table_says),
    cmocka_unit_test(patterns_are_recognised),
    cmocka_unit_test(walk_starts_as_deep_as_it_can),
    cmocka_unit_test(too_much_is_refused_with_a_message),
    cmocka_unit_test(many_stars_end_soon),
});
