/* test_entry_name.c - good and bad names of entries, and the patterns that select them. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "data/archive/entry_name.h"

static void names_are_cleaned_or_refused(void **state)
{
  static const struct {
    const char *name;
    size_t len;
    const char *clean, *fault; /* the name that is kept or shown; a part of the message */
  } cases[] = {
    { "a/b", 3, "a/b", NULL },         { "./a//./b/", 9, "a/b", NULL },
    { "..a/b..", 7, "..a/b..", NULL }, { "a\\..\\b", 6, "a\\..\\b", NULL },
    { "...", 3, "...", NULL },         { "", 0, "(no name)", "no name" },
    { "./", 2, "./", "no name" },      { "/a", 2, "/a", "absolute" },
    { "//a", 3, "//a", "absolute" },   { "..", 2, "..", "'..'" },
    { "a/..", 4, "a/..", "'..'" },     { "a/../b", 6, "a/../b", "'..'" },
    { "../a", 4, "../a", "'..'" },     { "a\0b", 3, "a?b", "NUL" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_buf out = TM_BUF_NONE;
    const char *fault = tm_entry_name_clean(&out, cases[i].name, cases[i].len);
    assert_string_equal(tm_buf_str(&out), cases[i].clean);
    assert_true(!fault == !cases[i].fault);
    assert_true(!fault || strstr(fault, cases[i].fault));
    tm_buf_release(&out);
  }
  struct tm_buf out = TM_BUF_NONE;
  char *longest = tm_xmalloc(TM_ENTRY_NAME_MAX + 1);
  memset(longest, 'x', TM_ENTRY_NAME_MAX + 1);
  assert_null(tm_entry_name_clean(&out, longest, TM_ENTRY_NAME_MAX));
  assert_non_null(tm_entry_name_clean(&out, longest, TM_ENTRY_NAME_MAX + 1));
  free(longest);
  tm_buf_release(&out);
}

static void patterns_match_the_same_as_a_walk(void **state)
{
  static const struct {
    const char *pattern, *name;
    bool is_taken;
  } cases[] = {
    { "*.png", "a.png", true },
    { "*.png", "d/a.png", false },
    { "**/*.png", "a.png", true },
    { "**/*.png", "d/e/a.png", true },
    { "**/*.png", "d/.e/a.png", false },
    { "**/*.png", ".a.png", false },
    { "d", "d/e/a.png", true },
    { "d/", "d/a.png", true },
    { "d/", "d", false },
    { "d", "d", true },
    { "d", "de", false },
    { "d", "d/.hidden", false },
    { "d/e/*.png", "d/e/a.png", true },
    { "d/e/*.png", "d/ef/a.png", false },
    { "d/e/f", "d/e/f", true },
    { "d/e/f", "d/e", false },
    { "{a,b}/*", "b/x", true },
    { "{a,b}/*", "c/x", false },
    { "**", "x/y", true },
    { ".*", ".x", true },
    { "*/*", "a/b", true },
    { "*/*", "a/b/c", true },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_glob g;
    assert_int_equal(tm_glob_init(&g, cases[i].pattern, NULL), 0);
    bool is_taken = tm_entry_name_matches(&g, cases[i].name);
    if (is_taken != cases[i].is_taken)
      print_error("%s over %s\n", cases[i].pattern, cases[i].name);
    assert_int_equal(is_taken, cases[i].is_taken);
    tm_glob_release(&g);
  }
}

UNIT_TESTS({
    cmocka_unit_test(names_are_cleaned_or_refused),
    cmocka_unit_test(patterns_match_the_same_as_a_walk),
});
