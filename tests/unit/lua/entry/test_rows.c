/* test_rows.c - the return value of run() becomes rows, or a message says why not. */
#include "unit.h"

#include "script_fixture.h"

#include <locale.h>

static struct fixture f;

static int setup(void **state)
{
  fixture_init(&f);
  return 0;
}

static int teardown(void **state)
{
  fixture_release(&f);
  return 0;
}

/* A script whose run() returns the values of `expression`. */
static void load_return(const char *expression)
{
  char *source = tm_xprintf(
      "local ffi = require 'ffi'\n\nfunction run(mini_batch)\n  return %s\nend\n", expression);
  assert_int_equal(fixture_load(&f, source), 0);
  free(source);
}

static void elements_become_rows(void **state)
{
  static const struct {
    const char *returned, *rows;
  } cases[] = {
    { "{}", "" },
    { "{ 'a', 'b' }", "a\nb\n" },
    { "{ '' }", "\n" },
    { "{ 'tab\\there', '\\195\\164', '\\255' }", "tab\there\n\xc3\xa4\n\xff\n" },
    { "{ true, false }", "true\nfalse\n" },
    { "{ 1, 0, -17 }", "1\n0\n-17\n" },
    { "{ 2^53 - 1, -(2^53 - 1) }", "9007199254740991\n-9007199254740991\n" },
    { "{ 100000000000000 }", "100000000000000\n" },
    { "{ 0.1, 0.5, -2.25 }", "0.1\n0.5\n-2.25\n" },
    { "{ 0.1 + 0.2, 1/3 }", "0.30000000000000004\n0.3333333333333333\n" },
    { "{ 2^53, 2^64, 1e300 }", "9007199254740992\n1.8446744073709552e+19\n1e+300\n" },
    { "{ 0/0, 1/0, -1/0 }", "nan\ninf\n-inf\n" },
    { "{ 9223372036854775807LL, -9223372036854775807LL - 1, 18446744073709551615ULL }",
      "9223372036854775807\n-9223372036854775808\n18446744073709551615\n" },
    { "{ 0LL, ffi.new('int64_t', -5), ffi.new('uint64_t', 7) }", "0\n-5\n7\n" },
    { "{ {} }", "[]\n" },
    { "{ { 1, 'x', true } }", "[1,\"x\",true]\n" },
    { "{ { b = 1, a = { c = 0.1 } }, { 1 } }", "{\"a\":{\"c\":0.1},\"b\":1}\n[1]\n" },
    { "{ { text = 'one\\ntwo' } }", "{\"text\":\"one\\ntwo\"}\n" },
    { "(function() local t = {} for i = 5, 1, -1 do t[i] = i end return t end)()",
      "1\n2\n3\n4\n5\n" },
    { "setmetatable({ 'raw' }, { __index = function() error 'not raw' end })", "raw\n" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    load_return(cases[i].returned);
    expect_rows(&f, 1, cases[i].rows);
  }
}

static void line_breaks_are_escaped_on_request(void **state)
{
  f.setup.escapes_line_breaks = true;
  load_return("{ 'a\\nb\\r', 'c\\\\n', { 'd\\n' } }");
  expect_rows(&f, 1, "a\\nb\\r\nc\\\\n\n[\"d\\n\"]\n");
  f.setup.escapes_line_breaks = false;
}

static void elements_are_counted(void **state)
{
  load_return("{ 'a', 'b', 'c' }");
  expect_rows(&f, 5, "a\nb\nc\n");
  assert_int_equal(f.returned, 3);
}

static void rows_are_appended_to_existing_ones(void **state)
{
  load_return("{ 'b' }");
  fixture_run(&f, 1);
  tm_buf_clear(&f.rows);
  tm_buf_add_str(&f.rows, "a\n");
  assert_int_equal(f.script.run(f.script.data, &f.call, &f.rows, &f.returned, &f.error), 0);
  assert_string_equal(f.rows.data, "a\nb\n");
}

static void a_wrong_return_is_named(void **state)
{
  static const struct {
    const char *returned, *words;
  } cases[] = {
    { "", "run() returned nothing (nil); expected an array with one element for each item that "
          "succeeded" },
    { "nil", "run() returned nil; expected an array" },
    { "nil, 'no such file'", "run() returned nil and 'no such file'; expected an array" },
    { "false", "run() returned false; expected" },
    { "42", "run() returned a number; expected" },
    { "'a'", "run() returned a string; expected" },
    { "print", "run() returned a function; expected" },
    { "io.stdout", "run() returned a userdata; expected" },
    { "require('tidemill.frame').from_table({ a = { 1 } }).c.a",
      "run() returned a column of a data frame; expected an array with one element for each item "
      "that succeeded; column:to_table() is such an array" },
    { "require('tidemill.tensor').new('int8', { 1 })",
      "run() returned a tensor; expected an array with one element for each item that succeeded; "
      "t:to_table() has its elements in lists" },
    { "(function() local df = require('tidemill.frame').from_table { a = { 1 } } df.c.a = 5 "
      "return df end)()",
      "run() assigned df.c.a of the data frame that it returned; a data frame does not change; "
      "df:with_column(name, values) makes one" },
    { "{ 'a', 'b', nil, 'd' }", "run() returned an array with a hole at 3 (4 elements); expected" },
    { "{ nil, 'b' }", "run() returned an array with a hole at 1 (2 elements)" },
    { "{ [1] = 'a', [1000000] = 'z' }", "an array with a hole at 2 (1000000 elements)" },
    { "{ ok = true }", "run() returned a table with the key 'ok'; expected" },
    { "{ 'a', n = 1 }", "run() returned a table with the key 'n'" },
    { "{ [0] = 'a', 'b' }", "run() returned a table with the key 0;" },
    { "{ 'a', [1.5] = 'b' }", "run() returned a table with the key 1.5;" },
    { "{ 'a', [true] = 'b' }", "run() returned a table with a boolean as a key" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    load_return(cases[i].returned);
    expect_failure(&f, TM_RUN_WRONG_RETURN, cases[i].words);
    assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:3");
    assert_int_equal(f.error.stack.len, 0);
  }
}

static void an_element_that_is_not_a_row_is_named(void **state)
{
  static const struct {
    const char *returned, *words;
  } cases[] = {
    { "{ 'a', 'b\\nc' }", "element 2 of the result of run() has a line break in it" },
    { "{ 'a\\r' }", "element 1 of the result of run() has a line break in it" },
    { "{ 'a', print }", "element 2 of the result of run() is a function; expected a string" },
    { "{ io.stdout }", "element 1 of the result of run() is a userdata" },
    { "{ require('tidemill.tensor').new('int8', { 1 }) }",
      "element 1 of the result of run() is a tensor; expected a string, a number, a boolean or a "
      "table; t:to_table() has its elements in lists" },
    { "{ { scores = require('tidemill.tensor').new('int8', { 1 }) } }",
      "'scores' is a tensor; t:to_table() has its elements in lists" },
    { "{ coroutine.create(print) }", "element 1 of the result of run() is a thread" },
    { "{ ffi.new('int[2]') }", "element 1 of the result of run() is an FFI value" },
    { "{ 'a', { f = print } }", "element 2 of the result of run() cannot be written as JSON" },
    { "{ { 1, x = 2 } }", "element 1 of the result of run() cannot be written as JSON" },
    { "{ (function() local t = {} t.t = t return t end)() }", "element 1 of the result of run()" },
    { "{ { '\\255' } }",
      "element 1 of the result of run() cannot be written as JSON: '[1]' is a string that "
      "is not UTF-8" },
    { "{ { ['\\255'] = 1 } }", "is not UTF-8" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    load_return(cases[i].returned);
    expect_failure(&f, TM_RUN_WRONG_RETURN, cases[i].words);
  }
}

static void summary_only_counts_and_looks_at_nothing(void **state)
{
  f.setup.append_row = false;
  load_return("{ print, 'a\\nb', { print } }");
  expect_rows(&f, 3, "");
  assert_int_equal(f.returned, 3);
  load_return("{}");
  expect_rows(&f, 3, "");
  assert_int_equal(f.returned, 0);
  load_return("nil");
  expect_failure(&f, TM_RUN_WRONG_RETURN, "run() returned nil");
  load_return("{ 1, nil, 3 }");
  expect_failure(&f, TM_RUN_WRONG_RETURN, "a hole at 2");
}

/* Creates a locale with a comma in numbers, because the machine may only have C. Needs localedef,
 * from libc's own package. */
static bool set_comma_locale(void)
{
  fixture_write(&f, "comma.src",
                "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\n"
                "END LC_NUMERIC\nLC_CTYPE\nEND LC_CTYPE\n");
  char *command = tm_xprintf("localedef --no-archive -c -i %s/comma.src %s/xx_XX >/dev/null 2>&1",
                             f.dir, f.dir);
  int status = system(command); /* 1: created, with warnings about what the source leaves out */
  free(command);
  setenv("LOCPATH", f.dir, 1);
  return status != -1 && setlocale(LC_NUMERIC, "xx_XX") != NULL;
}

static void the_locale_does_not_change_numbers(void **state)
{
  char sample[8];
  if (!set_comma_locale())
    skip();
  snprintf(sample, sizeof sample, "%g", 0.5);
  assert_string_equal(sample, "0,5");
  load_return("{ 0.5, 0.1 + 0.2, 1e300, { x = 0.25 }, 1234567 }");
  expect_rows(&f, 1, "0.5\n0.30000000000000004\n1e+300\n{\"x\":0.25}\n1234567\n");
  snprintf(sample, sizeof sample, "%g", 0.5); /* and the host's locale is still set */
  assert_string_equal(sample, "0,5");
  setlocale(LC_NUMERIC, "C");
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(elements_become_rows, setup, teardown),
    cmocka_unit_test_setup_teardown(elements_are_counted, setup, teardown),
    cmocka_unit_test_setup_teardown(line_breaks_are_escaped_on_request, setup, teardown),
    cmocka_unit_test_setup_teardown(rows_are_appended_to_existing_ones, setup, teardown),
    cmocka_unit_test_setup_teardown(a_wrong_return_is_named, setup, teardown),
    cmocka_unit_test_setup_teardown(an_element_that_is_not_a_row_is_named, setup, teardown),
    cmocka_unit_test_setup_teardown(summary_only_counts_and_looks_at_nothing, setup, teardown),
    cmocka_unit_test_setup_teardown(the_locale_does_not_change_numbers, setup, teardown),
});
