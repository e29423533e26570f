/* test_script_memory.c - the memory limit of a worker in Lua: what is refused, the message, and
 * that the worker survives. */
#include "unit.h"

#include "script_fixture.h"

#define MB INT64_C(1048576)

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

static void expect_refused(void)
{
  assert_true(fixture_run(&f, 1) < 0);
  assert_int_equal(f.error.status, TM_RUN_EXCEPTION);
  if (strstr(tm_buf_str(&f.error.message), "not enough memory (worker_memory_limit is 64 MB") ==
      NULL)
    assert_string_equal(tm_buf_str(&f.error.message), "");
}

/* Each way to request memory fails its try; the next run() has all of the memory again. */
static void exceeding_the_limit_fails_only_the_try(void **state)
{
  static const char *const ways[] = {
    "local s = ('x'):rep(100e6)",
    "local t = {} for i = 1, 1e8 do t[i] = { i } end",
    "local t = {} for i = 1, 1e8 do t[i] = 'string ' .. i end",
    "local t = require 'table.new' (1e8, 0)",
    "local p = require 'ffi'.new('char[?]', 100e6)",
    "local b = require 'string.buffer'.new() for i = 1, 1e8 do b:put('0123456789') end",
  };
  f.setup.memory_limit = 64 * MB;
  for (size_t i = 0; i < TM_COUNT_OF(ways); i++) {
    char *source = tm_xprintf("local calls = 0\n"
                              "function run(m) calls = calls + 1\n"
                              "  if calls %% 2 == 1 then %s end\n"
                              "  return { #('y'):rep(10e6) } end",
                              ways[i]);
    assert_int_equal(fixture_load(&f, source), 0);
    for (int again = 0; again < 2; again++) {
      expect_refused();
      assert_int_equal(fixture_run(&f, 1), 0);
      assert_string_equal(tm_buf_str(&f.rows), "10000000\n");
    }
    free(source);
  }
}

static void compiled_code_continues(void **state)
{
  f.setup.memory_limit = 64 * MB;
  assert_int_equal(fixture_load(&f, "function run(m)\n"
                                    "  local n = 0\n"
                                    "  for i = 1, 1e7 do n = n + i % 7 end\n"
                                    "  return { jit.status() and n } end"),
                   0);
  assert_int_equal(fixture_run(&f, 1), 0);
  assert_string_equal(tm_buf_str(&f.rows), "29999997\n");
}

/* 20 MB of live data and 600 MB of garbage, with a limit of 48 MB: the collector keeps up. */
static void garbage_alone_does_not_reach_the_limit(void **state)
{
  f.setup.memory_limit = 64 * MB;
  assert_int_equal(fixture_load(&f, "local kept = {}\n"
                                    "for i = 1, 200 do kept[i] = ('x'):rep(1e5 + i) end\n"
                                    "function run(m)\n"
                                    "  local n = 0\n"
                                    "  for i = 1, 3000 do n = n + #('y'):rep(1e5 + i) end\n"
                                    "  return { n } end"),
                   0);
  for (int again = 0; again < 2; again++) {
    int code = fixture_run(&f, 1);
    if (code != 0)
      assert_string_equal(tm_buf_str(&f.error.message), "");
  }
}

static void an_error_of_another_kind_is_left_as_it_is(void **state)
{
  f.setup.memory_limit = 64 * MB;
  assert_int_equal(fixture_load(&f, "function run(m)\n"
                                    "  pcall(function() return ('x'):rep(100e6) end)\n"
                                    "  error 'another' end"),
                   0);
  assert_true(fixture_run(&f, 1) < 0);
  assert_string_equal(tm_buf_str(&f.error.message), "another");
}

static void without_a_limit_nothing_is_refused(void **state)
{
  assert_int_equal(fixture_load(&f, "function run(m) return { #('x'):rep(100e6) } end"), 0);
  assert_int_equal(fixture_run(&f, 1), 0);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(exceeding_the_limit_fails_only_the_try, setup, teardown),
    cmocka_unit_test_setup_teardown(compiled_code_continues, setup, teardown),
    cmocka_unit_test_setup_teardown(garbage_alone_does_not_reach_the_limit, setup, teardown),
    cmocka_unit_test_setup_teardown(an_error_of_another_kind_is_left_as_it_is, setup, teardown),
    cmocka_unit_test_setup_teardown(without_a_limit_nothing_is_refused, setup, teardown),
});
