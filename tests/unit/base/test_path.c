/* test_path.c - joins and splits paths; ".." never leaves the root. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"

#define assert_text(call, expected)                                                                \
  do {                                                                                             \
    char *text_ = (call);                                                                          \
    assert_string_equal(text_, expected);                                                          \
    free(text_);                                                                                   \
  } while (0)

static void join(void **state)
{
  assert_text(tm_path_join("a", "b"), "a/b");
  assert_text(tm_path_join("a/", "b"), "a/b");
  assert_text(tm_path_join("/", "b"), "/b");
  assert_text(tm_path_join("a", "/b"), "/b");
  assert_text(tm_path_join("", "b"), "b");
  assert_text(tm_path_join(NULL, "b"), "b");
  assert_text(tm_path_join("a", ""), "a");
  assert_true(tm_path_is_absolute("/x"));
  assert_false(tm_path_is_absolute("x/"));
  assert_false(tm_path_is_absolute(""));
}

static void absolute_takes_out_dots(void **state)
{
  static const struct {
    const char *dir, *path, *expected;
  } cases[] = {
    { "/a", "b", "/a/b" },
    { "/a", "./b//c/.", "/a/b/c" },
    { "/a/b", "../c", "/a/c" },
    { "/a", "..", "/" },
    { "/a", "../../../c", "/c" },
    { "/", "..", "/" },
    { "/a", "/x/../y/", "/y" },
    { "/a", "", "/a" },
    { "/", "", "/" },
    { "/a", "...", "/a/..." },
    { "/a", "..b/.c", "/a/..b/.c" },
    { "//a//", "b", "/a/b" },
    { "a", "../b", "b" },
    { "a", "..", "." },
    { "a", "../../b", "../b" },
    { "", "../..", "../.." },
    { "..", "a/..", ".." },
    { "ab", "../..c/..", "." },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_text(tm_path_absolute(cases[i].dir, cases[i].path), cases[i].expected);
}

static void parts(void **state)
{
  static const struct {
    const char *path, *base, *dir, *stem;
  } cases[] = {
    { "a/b.txt", "b.txt", "a", "b" },
    { "b", "b", ".", "b" },
    { "/b", "b", "/", "b" },
    { "//b", "b", "/", "b" },
    { "a//b", "b", "a", "b" },
    { "a/", "", "a", "" },
    { "/", "", "/", "" },
    { "", "", ".", "" },
    { "x.d/a.tar.gz", "a.tar.gz", "x.d", "a.tar" },
    { "x.d/a", "a", "x.d", "a" },
    { ".bashrc", ".bashrc", ".", ".bashrc" },
    { "a.", "a.", ".", "a" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    assert_string_equal(tm_path_base(cases[i].path), cases[i].base);
    assert_text(tm_path_dir(cases[i].path), cases[i].dir);
    assert_text(tm_path_stem(cases[i].path), cases[i].stem);
  }
}

static void endings_are_of_either_case(void **state)
{
  assert_true(tm_path_has_ending("a/b.csv", ".csv"));
  assert_true(tm_path_has_ending("a/B.CsV", ".csv"));
  assert_false(tm_path_has_ending("a/b.csvx", ".csv"));
  assert_false(tm_path_has_ending("sv", ".csv"));
  assert_false(tm_path_has_ending("a.csv.gz", ".csv"));
  assert_true(tm_path_has_inner_ending("a.csv", ".csv"));
  assert_true(tm_path_has_inner_ending("a.CSV.GZ", ".csv"));
  assert_true(tm_path_has_inner_ending("a.tsv.zst", ".tsv"));
  assert_false(tm_path_has_inner_ending("a.gz.csv", ".gz"));
  assert_true(tm_path_is_packed("a.Gz"));
  assert_true(tm_path_is_packed("a.tar.bz2"));
  assert_false(tm_path_is_packed("a.csv"));
  assert_false(tm_path_is_packed("gz"));
}

static void a_table_has_the_format_of_its_ending(void **state)
{
  assert_string_equal(tm_path_table_format("a/b.csv"), "csv");
  assert_string_equal(tm_path_table_format("b.TSV.gz"), "tsv");
  assert_string_equal(tm_path_table_format("b.jsonl"), "jsonl");
  assert_string_equal(tm_path_table_format("b.csv.ndjson"), "jsonl");
  assert_null(tm_path_table_format("b.txt"));
  assert_null(tm_path_table_format("csv"));
}

static void is_named_as_a_word(void **state)
{
  static const struct {
    const char *text, *path;
    enum tm_path_naming expected;
  } cases[] = {
    { "cannot read '/in/a.txt'", "/in/a.txt", TM_PATH_NAMED_IN_FULL },
    { "/in/a.txt: bad, and xa.txt", "/in/a.txt", TM_PATH_NAMED_IN_FULL },
    { "bad a.txt", "/in/a.txt", TM_PATH_NAMED_BY_BASE },
    { "bad in/a.txt", "/in/a.txt", TM_PATH_NAMED_BY_BASE },
    { "bad t 13.txt", "/in/t 13.txt", TM_PATH_NAMED_BY_BASE },
    { "bad aa.txt", "/in/a.txt", TM_PATH_UNNAMED },
    { "bad a.txt2", "/in/a.txt", TM_PATH_UNNAMED },
    { "/mnt/in/a.txt2: bad", "/in/a.txt", TM_PATH_UNNAMED },
    { "line 1: expected 1.5", "/in/1", TM_PATH_UNNAMED },
    { "line 1: expected 1.5", "/in/1.5", TM_PATH_UNNAMED },
    { "bad /in/1", "/in/1", TM_PATH_NAMED_IN_FULL },
    { "bad", "", TM_PATH_UNNAMED },
    { "", "/in/", TM_PATH_UNNAMED },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_int_equal(tm_path_naming(cases[i].text, cases[i].path), cases[i].expected);
}

UNIT_TESTS({
    cmocka_unit_test(join),
    cmocka_unit_test(absolute_takes_out_dots),
    cmocka_unit_test(parts),
    cmocka_unit_test(endings_are_of_either_case),
    cmocka_unit_test(a_table_has_the_format_of_its_ending),
    cmocka_unit_test(is_named_as_a_word),
});
