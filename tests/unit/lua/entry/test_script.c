/* test_script.c - an entry script in Lua: loading it, the arguments of its hooks, its errors. */
#include "unit.h"

#include "script_fixture.h"

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

static void assert_contains(const struct tm_buf *text, const char *words)
{
  if (strstr(tm_buf_str(text), words) == NULL)
    assert_string_equal(tm_buf_str(text), words);
}

static void assert_lacks(const struct tm_buf *text, const char *words)
{
  if (strstr(tm_buf_str(text), words) != NULL)
    fail_msg("'%s' holds '%s'", tm_buf_str(text), words);
}

/* The script cannot be loaded, or its init() fails, with `words` in the message, at `where`. */
static void expect_refusal(const char *source, const char *words, const char *where)
{
  assert_true(fixture_load(&f, source) < 0);
  assert_false(f.has_no_run);
  assert_int_equal(f.error.status, TM_INIT_EXCEPTION);
  assert_contains(&f.error.message, words);
  assert_string_equal(tm_buf_str(&f.error.where), where);
}

static void run_is_given_paths(void **state)
{
  assert_int_equal(fixture_load(&f,
                                "function run(mini_batch)\n"
                                "  local out = {}\n"
                                "  for i, path in ipairs(mini_batch) do out[i] = path .. '!' end\n"
                                "  out[#out + 1] = #mini_batch\n"
                                "  return out\n"
                                "end\n"),
                   0);
  expect_rows(&f, 3, "/in/1!\n/in/2!\n/in/3!\n3\n");
  expect_rows(&f, 0, "0\n");
  expect_rows(&f, 1, "/in/1!\n1\n");
}

static void hooks_come_from_the_returned_table_or_the_environment(void **state)
{
  assert_int_equal(fixture_load(&f, "local M = {}\n"
                                    "local n = 0\n"
                                    "function M.init() n = n + 1 end\n"
                                    "function M.run() return { n } end\n"
                                    "function run() return { 'global' } end\n"
                                    "return M\n"),
                   0);
  expect_rows(&f, 1, "1\n");
  assert_int_equal(fixture_load(&f, "function run() return { x } end\n"
                                    "function init() x = 'of the environment' end\n"
                                    "return true\n"),
                   0);
  expect_rows(&f, 1, "of the environment\n");
  assert_int_equal(fixture_load(&f, "return setmetatable({}, { __index = { run = function()\n"
                                    "  return { 'inherited' } end } })\n"),
                   0);
  expect_rows(&f, 1, "inherited\n");
}

static void the_environment_is_the_scripts_own(void **state)
{
  fixture_write(&f, "other.lua", "return { x = rawget(_G, 'x'), run = rawget(_G, 'run') }");
  assert_int_equal(fixture_load(&f, "x = 1\n"
                                    "function run()\n"
                                    "  local other = require 'other'\n"
                                    "  return { tostring(other.x), tostring(other.run), x }\n"
                                    "end\n"),
                   0);
  expect_rows(&f, 1, "nil\nnil\n1\n");
}

static void a_script_without_run_says_so(void **state)
{
  assert_true(fixture_load(&f, "function init() error 'not reached' end") < 0);
  assert_true(f.has_no_run);
  assert_contains(&f.error.message, "'my/score.lua' defines no function run(mini_batch)");
}

static void a_run_that_is_not_a_function_counts_as_missing(void **state)
{
  assert_true(fixture_load(&f, "run = 7") < 0);
  assert_true(f.has_no_run);
  assert_contains(&f.error.message,
                  "'my/score.lua' defines 'run' as a number; expected a function");
}

static void a_hook_that_is_not_a_function_is_refused(void **state)
{
  expect_refusal("function run() end init = {}", "'init' is a table; expected a function", "");
}

static void loading_fails_with_the_users_place(void **state)
{
  expect_refusal("function run(\n  return\nend", "near 'return'", "my/score.lua:2");
  expect_refusal("#!/usr/bin/env lua\n\nerror 'at load'\n", "at load", "my/score.lua:3");
  assert_contains(&f.error.stack, "my/score.lua:3:");
  expect_refusal("require 'no.such.module'", "module 'no.such.module' not found", "my/score.lua:1");
}

static void a_missing_file_is_an_init_failure(void **state)
{
  bool has_no_run = false;
  assert_int_equal(tm_lua_script_open(&f.script, tm_lua_modules(), NULL), 0);
  assert_true(f.script.load(f.script.data, &f.setup, &has_no_run, &f.error) < 0);
  assert_int_equal(f.error.status, TM_INIT_EXCEPTION);
  assert_contains(&f.error.message, "score.lua");
  assert_contains(&f.error.message, "no such file");
}

static void init_fails_with_message_stack_and_place(void **state)
{
  expect_refusal("local function load_model()\n"
                 "  error('no model')\n"
                 "end\n"
                 "function init()\n"
                 "  load_model()\n"
                 "end\n"
                 "function run() return {} end\n",
                 "no model", "my/score.lua:2");
  assert_string_equal(tm_buf_str(&f.error.message), "no model");
  assert_contains(&f.error.stack, "my/score.lua:2:");
  assert_contains(&f.error.stack, "my/score.lua:5:");
}

static void every_kind_of_error_is_described(void **state)
{
  static const struct {
    const char *raise, *message;
  } cases[] = {
    { "error('plain')", "plain" },
    { "error('no place', 0)", "no place" },
    { "error()", "error object is nil" },
    { "error({})", "error object is a table" },
    { "error({ message = 'inside' })", "inside" },
    { "error(setmetatable({}, { __tostring = function() return 'described' end }))", "described" },
    { "error(setmetatable({}, { __tostring = function() error 'again' end }))",
      "error object is a table" },
    { "error(7)", "7" },
    { "error(true)", "true" },
    { "error(print)", "function" },
    { "local x; x.y = 1", "attempt to index local 'x' (a nil value)" },
    { "coroutine.yield()", "yield" },
    { "context.try = 7", "the context of a mini-batch cannot be written to" },
    { "local function f() return 1 + f() end f()", "stack overflow" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    char *source = tm_xprintf("function run(mini_batch, context)\n  %s\nend\n", cases[i].raise);
    assert_int_equal(fixture_load(&f, source), 0);
    free(source);
    expect_failure(&f, TM_RUN_EXCEPTION, cases[i].message);
    assert_lacks(&f.error.message, "score.lua:2");
    assert_lacks(&f.error.stack, "tidemill/");
  }
}

static void the_place_of_an_error_is_the_users_innermost_line(void **state)
{
  assert_int_equal(fixture_load(&f, "local function parse(s)\n"
                                    "  return s:upper(nil .. s)\n"
                                    "end\n"
                                    "function run(mini_batch)\n"
                                    "  local row = parse(mini_batch[1])\n"
                                    "  return { row }\n"
                                    "end\n"),
                   0);
  expect_failure(&f, TM_RUN_EXCEPTION, "attempt to concatenate a nil value");
  assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:2");
  assert_contains(&f.error.stack, "my/score.lua:5:");
}

static void a_failed_run_leaves_the_script_usable(void **state)
{
  assert_int_equal(fixture_load(&f, "local n = 0\n"
                                    "function run()\n"
                                    "  n = n + 1\n"
                                    "  if n % 3 == 1 then error 'first' end\n"
                                    "  if n % 3 == 2 then return { 'a', 'b\\n' } end\n"
                                    "  return { n }\n"
                                    "end\n"),
                   0);
  for (int i = 1; i < 1000; i++) {
    expect_failure(&f, TM_RUN_EXCEPTION, "first");
    expect_failure(&f, TM_RUN_WRONG_RETURN, "element 2");
    char row[16];
    snprintf(row, sizeof row, "%d\n", 3 * i);
    expect_rows(&f, 1, row);
  }
}

static void arguments_arrive_three_ways(void **state)
{
  char *arguments[] = { "--threshold", "0.5", "" };
  f.setup.arguments = arguments;
  f.setup.arguments_len = 3;
  assert_int_equal(fixture_load(&f, "local a, b, c = ...\n"
                                    "local n = select('#', ...)\n"
                                    "local e = require 'tidemill.entry_script' ()\n"
                                    "function run()\n"
                                    "  return { n, a, b, c, arg[0], #arg, arg[2], #e.arguments,\n"
                                    "           e.arguments[1], #e.runner_arguments }\n"
                                    "end\n"),
                   0);
  expect_rows(&f, 1, "3\n--threshold\n0.5\n\nmy/score.lua\n3\n0.5\n3\n--threshold\n0\n");
}

static void require_looks_in_the_scripts_folder_first(void **state)
{
  fixture_write(&f, "model.lua", "return { name = 'model', from = ... }");
  fixture_write(&f, "pack/init.lua", "return { name = 'pack' }");
  fixture_write(&f, "pack/part.lua", "return { name = 'part' }");
  assert_int_equal(fixture_load(&f, "local model, pack = require 'model', require 'pack'\n"
                                    "local part = require 'pack.part'\n"
                                    "function run()\n"
                                    "  return { model.name, model.from, pack.name, part.name,\n"
                                    "           (package.cpath:match '^[^;]*') }\n"
                                    "end\n"),
                   0);
  char *rows = tm_xprintf("model\nmodel\npack\npart\n%s/?.so\n", f.dir);
  expect_rows(&f, 1, rows);
  free(rows);
}

static void a_modules_place_is_the_users(void **state)
{
  fixture_write(&f, "lib/model.lua",
                "return { load = function()\n"
                "  error('no ' .. package.path:match '^[^?]*' .. 'weights')\n"
                "end }\n");
  assert_int_equal(fixture_load(&f, "local model = require 'lib.model'\n"
                                    "function run()\n"
                                    "  local x = model.load()\n"
                                    "end\n"),
                   0);
  char *message = tm_xprintf("no %s/weights", f.dir);
  expect_failure(&f, TM_RUN_EXCEPTION, message);
  free(message);
  assert_string_equal(tm_buf_str(&f.error.where), "my/lib/model.lua:2");
  assert_contains(&f.error.stack, "my/lib/model.lua:2:");
  assert_contains(&f.error.stack, "my/score.lua:3:");
  assert_lacks(&f.error.stack, f.dir);
  fixture_write(&f, "broken.lua", "return +\n");
  assert_int_equal(fixture_load(&f, "function run()\n  require 'broken'\nend\n"), 0);
  expect_failure(&f, TM_RUN_EXCEPTION, "my/broken.lua:");
}

static void many_values_are_as_good_as_one(void **state)
{
  assert_int_equal(fixture_load(&f, "local many = {}\n"
                                    "for i = 1, 7000 do many[i] = i end\n"
                                    "function run()\n"
                                    "  return { 'a' }, unpack(many)\n"
                                    "end\n"),
                   0);
  expect_rows(&f, 1, "a\n");
}

static void the_context_says_which_mini_batch_it_is(void **state)
{
  assert_int_equal(
      fixture_load(&f, "function run(_, c)\n"
                       "  return { c.minibatch_index, c.try, c.dataset_name,\n"
                       "           c.part and c.part.first .. '-' .. c.part.last or 'whole',\n"
                       "           tostring(c.partition_key_value) }\n"
                       "end\n"),
      0);
  expect_rows(&f, 1, "7\n1\n\nwhole\nnil\n");
  f.call.index = UINT64_C(1) << 40;
  f.call.try = 3;
  f.call.dataset = "images";
  f.call.part = UINT64_C(2) << 32 | 5;
  expect_rows(&f, 1, "1099511627776\n3\nimages\n3-7\nnil\n");
  f.call.index = 0;
  f.call.try = 1;
  f.call.dataset = "others";
  f.call.part = 0;
  expect_rows(&f, 1, "0\n1\nothers\nwhole\nnil\n");
}

static void shutdown_is_called_if_it_exists(void **state)
{
  assert_int_equal(fixture_load(&f, "function run() return {} end\n"), 0);
  assert_int_equal(f.script.shutdown(f.script.data, &f.error), 0);
  assert_int_equal(fixture_load(&f, "function run() return {} end\n"
                                    "function shutdown() error 'cannot close' end\n"),
                   0);
  assert_true(f.script.shutdown(f.script.data, &f.error) < 0);
  assert_string_equal(tm_buf_str(&f.error.message), "cannot close");
  assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:2");
}

static void mini_batches_leave_nothing_behind(void **state)
{
  assert_int_equal(fixture_load(&f, "local weak = setmetatable({}, { __mode = 'k' })\n"
                                    "function run(mini_batch)\n"
                                    "  local n = 0\n"
                                    "  collectgarbage() collectgarbage()\n"
                                    "  for _ in pairs(weak) do n = n + 1 end\n"
                                    "  weak[mini_batch] = true\n"
                                    "  return { n }\n"
                                    "end\n"),
                   0);
  for (int i = 0; i < 5; i++)
    expect_rows(&f, 2, "0\n");
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(run_is_given_paths, setup, teardown),
    cmocka_unit_test_setup_teardown(hooks_come_from_the_returned_table_or_the_environment, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(the_environment_is_the_scripts_own, setup, teardown),
    cmocka_unit_test_setup_teardown(a_script_without_run_says_so, setup, teardown),
    cmocka_unit_test_setup_teardown(a_run_that_is_not_a_function_counts_as_missing, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(a_hook_that_is_not_a_function_is_refused, setup, teardown),
    cmocka_unit_test_setup_teardown(loading_fails_with_the_users_place, setup, teardown),
    cmocka_unit_test_setup_teardown(a_missing_file_is_an_init_failure, setup, teardown),
    cmocka_unit_test_setup_teardown(init_fails_with_message_stack_and_place, setup, teardown),
    cmocka_unit_test_setup_teardown(every_kind_of_error_is_described, setup, teardown),
    cmocka_unit_test_setup_teardown(the_place_of_an_error_is_the_users_innermost_line, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(a_failed_run_leaves_the_script_usable, setup, teardown),
    cmocka_unit_test_setup_teardown(arguments_arrive_three_ways, setup, teardown),
    cmocka_unit_test_setup_teardown(require_looks_in_the_scripts_folder_first, setup, teardown),
    cmocka_unit_test_setup_teardown(a_modules_place_is_the_users, setup, teardown),
    cmocka_unit_test_setup_teardown(many_values_are_as_good_as_one, setup, teardown),
    cmocka_unit_test_setup_teardown(the_context_says_which_mini_batch_it_is, setup, teardown),
    cmocka_unit_test_setup_teardown(shutdown_is_called_if_it_exists, setup, teardown),
    cmocka_unit_test_setup_teardown(mini_batches_leave_nothing_behind, setup, teardown),
});
