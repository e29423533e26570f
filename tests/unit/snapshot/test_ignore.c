/* test_ignore.c - which names .tidemillignore leaves out. */
#include "unit.h"

#include "store_fixture.h"

#include "snapshot/ignore.h"

static struct tm_ignore read_text(const char *dir, const char *text)
{
  struct tm_ignore ig = { 0 };
  struct tm_err err = TM_ERR_NONE;
  store_put(dir, TM_IGNORE_NAME, text, 1);
  if (tm_ignore_read(&ig, tm_fs_real(), dir, &err) < 0)
    fail_msg("%s", err.text);
  return ig;
}

/* `names`: each "path line" or, for a folder, "path/ line"; line 0: it is copied. */
static void assert_lines(const char *dir, const char *text, const char *const *names)
{
  struct tm_ignore ig = read_text(dir, text);
  for (; *names; names++) {
    char *name = tm_xstrdup(*names), *blank = strchr(name, ' ');
    int line = atoi(blank + 1);
    bool is_folder = blank[-1] == '/';
    blank[is_folder ? -1 : 0] = '\0';
    if (tm_ignore_line(&ig, name, is_folder) != line)
      fail_msg("'%s' is left out by line %d, not %d", *names, tm_ignore_line(&ig, name, is_folder),
               line);
    free(name);
  }
  tm_ignore_release(&ig);
}

static void a_name_fits_however_deep(void **state)
{
  const char *const names[] = {
    "a.csv 1", "b/c/a.csv 1", "a.csv.gz 0", "x.csv/ 1", ".a.csv 0", NULL
  };
  assert_lines(*state, "*.csv\n", names);
}

static void a_slash_ties_it_to_the_top(void **state)
{
  const char *const names[] = {
    "data 1", "b/data 0", "out/cache 2", "b/out/cache 0", "out 0", NULL
  };
  assert_lines(*state, "/data\nout/cache\n", names);
}

static void a_slash_at_the_end_is_of_folders(void **state)
{
  const char *const names[] = { "out/ 1", "out 0", "b/out/ 1", "top/ 2", "b/top/ 0", NULL };
  assert_lines(*state, "out/\n/top/\n", names);
}

static void two_stars_are_any_number_of_folders(void **state)
{
  const char *const names[] = { "a/b 1",   "a/x/b 1", "a/x/y/b 1", "b 0",
                                "a/x/c 0", "x/z 2",   "z 2",       NULL };
  assert_lines(*state, "a/**/b\n**/z\n", names);
}

static void the_last_line_that_fits_decides(void **state)
{
  const char *const names[] = { "a.txt 2", "keep.txt 0", "gone.txt 4", NULL };
  assert_lines(*state, "# text\n*.txt\n!keep.txt\ngone.txt\n\n", names);
}

static void blanks_and_ends_of_lines_do_not_count(void **state)
{
  const char *const names[] = { "a 1", "b 2", "c 4", NULL };
  assert_lines(*state, "a  \t\r\nb\r\n   \nc", names);
}

static void without_a_file_nothing_is_left_out(void **state)
{
  struct tm_ignore ig = { 0 };
  assert_int_equal(tm_ignore_read(&ig, tm_fs_real(), *state, NULL), 0);
  assert_int_equal(tm_ignore_line(&ig, "a", false), 0);
  tm_ignore_release(&ig);
}

static void an_invalid_pattern_is_refused_with_its_line(void **state)
{
  static const char *const bad[] = { "a\n../b\n", "a\nb/./c\n", "a\nb//c\n", "a\n/\n", "a\n!\n" };
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    struct tm_ignore ig = { 0 };
    struct tm_err err = TM_ERR_NONE;
    store_put(*state, TM_IGNORE_NAME, bad[i], 1);
    assert_int_equal(tm_ignore_read(&ig, tm_fs_real(), *state, &err), TM_EUSAGE);
    assert_non_null(strstr(err.text, "/" TM_IGNORE_NAME ":2: '"));
    tm_ignore_release(&ig);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(a_name_fits_however_deep),
    TEST(a_slash_ties_it_to_the_top),
    TEST(a_slash_at_the_end_is_of_folders),
    TEST(two_stars_are_any_number_of_folders),
    TEST(the_last_line_that_fits_decides),
    TEST(blanks_and_ends_of_lines_do_not_count),
    TEST(without_a_file_nothing_is_left_out),
    TEST(an_invalid_pattern_is_refused_with_its_line),
});
