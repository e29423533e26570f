/* test_lua_error.c - describes an error in Lua: message, place, stack; it leaves nothing behind. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "lua/bind/state.h"
#include "lua/modules.h"

struct world {
  lua_State *L;
  struct tm_lua_error e;
};

static int setup(void **state)
{
  static struct world w;
  struct tm_err err = TM_ERR_NONE;
  memset(&w, 0, sizeof(w));
  w.L = tm_lua_new(tm_lua_modules(), &err);
  assert_non_null(w.L);
  *state = &w;
  return 0;
}

static int teardown(void **state)
{
  struct world *w = *state;
  assert_int_equal(lua_gettop(w->L), 0);
  tm_lua_error_release(&w->e);
  tm_lua_free(w->L);
  return 0;
}

static int run(struct world *w, const char *text)
{
  int rc = tm_lua_load(w->L, text, strlen(text), "score.lua", &w->e);
  return rc < 0 ? rc : tm_lua_pcall(w->L, 0, 0, &w->e);
}

static void fails_with(struct world *w, const char *text, const char *message, const char *where)
{
  assert_int_equal(run(w, text), TM_ESCRIPT);
  assert_string_equal(tm_buf_str(&w->e.message), message);
  assert_string_equal(tm_buf_str(&w->e.where), where);
}

static void errors_of_any_type_are_described(void **state)
{
  struct world *w = *state;
  fails_with(w, "error 'no such digit'", "no such digit", "score.lua:1");
  fails_with(w, "\n\nlocal x = nil + 1", "attempt to perform arithmetic on a nil value",
             "score.lua:3");
  fails_with(w, "error(nil)", "error object is nil", "score.lua:1");
  fails_with(w, "error({})", "error object is a table without __tostring", "score.lua:1");
  fails_with(w, "error({ message = 'bad', code = 3 })",
             "error object is a table without __tostring; its 'message' is: bad", "score.lua:1");
  fails_with(w, "error(setmetatable({}, { __tostring = function() return 'I am it' end }))",
             "I am it", "score.lua:1");
  fails_with(w, "error(setmetatable({}, { __tostring = function() error 'again' end }))",
             "error object is a table without __tostring", "score.lua:1");
  fails_with(w, "error(12.5)", "12.5", "score.lua:1");
  fails_with(w, "error(true)", "error object is the boolean true", "score.lua:1");
  fails_with(w, "error(print)", "error object is a function", "score.lua:1");
}

static void a_habit_of_python_is_answered(void **state)
{
  struct world *w = *state;
  fails_with(w, "local n = len({})",
             "attempt to call global 'len' (a nil value); Python's 'len' is in Lua: #x",
             "score.lua:1");
  fails_with(w, "os.makedirs('x')",
             "attempt to call field 'makedirs' (a nil value); Python's 'makedirs' is in Lua: "
             "fs.mkdir(path, { parents = true, exist_ok = true }) of tidemill.fs",
             "score.lua:1");
  fails_with(w, "local s = ('a,b'):split(',')",
             "attempt to call method 'split' (a nil value); Python's 'split' is in Lua: "
             "for word in text:gmatch \"[^,]+\" do ... end",
             "score.lua:1");
  fails_with(w, "local c = ParallelRunConfig { }",
             "attempt to call global 'ParallelRunConfig' (a nil value); Python's "
             "'ParallelRunConfig' is in Lua: local tidemill = require \"tidemill\", and "
             "tidemill.NAME",
             "score.lua:1");
  fails_with(
      w, "local p = math.ArgumentParser()",
      "attempt to call field 'ArgumentParser' (a nil value); Python's 'ArgumentParser' is in "
      "Lua: local argparse = require \"tidemill.argparse\"",
      "score.lua:1");
}

static void a_module_that_is_not_required_is_named(void **state)
{
  struct world *w = *state;
  fails_with(w, "local p = tidemill.Pipeline {}",
             "attempt to index global 'tidemill' (a nil value); write above: "
             "local tidemill = require \"tidemill\"",
             "score.lua:1");
  fails_with(w, "local names = fs.list 'x'",
             "attempt to index global 'fs' (a nil value); if it is the module, write above: "
             "local fs = require \"tidemill.fs\"",
             "score.lua:1");
  fails_with(w, "fs()", "attempt to call global 'fs' (a nil value)", "score.lua:1");
  fails_with(w, "local fs; local x = fs.list", "attempt to index local 'fs' (a nil value)",
             "score.lua:1");
}

static void has(struct world *w, const char *text, const char *words)
{
  assert_int_equal(run(w, text), TM_ESCRIPT);
  const char *message = tm_buf_str(&w->e.message), *found = strstr(message, words);
  if (!found)
    fail_msg("'%s' does not have '%s'", message, words);
  assert_null(strstr(found + 1, words)); /* only once */
}

static void the_grammar_of_python_is_answered(void **state)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
    { "f(a=1)", "; arguments with names are a table, f { name = value }" },
    { "local x = (a, b)", "; a tuple is a table: { a, b }" },
    { "local x = [1, 2]", "; a list is { a, b }" },
    { "local x = { 'a': 1 }", "; a dictionary is { name = value }" },
    { "local x = { a: 1 }", "; if the colon is Python's: a dictionary is { name = value }" },
    { "local x = y[1:2]", "; a part of a text is text:sub(first, last)" },
    { "if x: print(1)", "; write if CONDITION then ... end" },
    { "for x in y: print(x)", "; write for i, x in ipairs(list) do ... end" },
    { "if x != 1 then end", "; x != y is x ~= y" },
    { "if x is None then end", "; 'x is None' is x == nil" },
    { "if x = 1 then end", "; 'equal' is ==" },
    { "x = 1 # comment", "; a comment begins with --" },
    { "x += 1", "; x += 1 is x = x + 1" },
    { "x = '{}'.format(1)", "; a text before a method needs parentheses" },
    { "function run(m):\nreturn m end", "; a block begins without a colon" },
    { "x = {\n'a': 1,\n'b': 2}", "; a dictionary is { name = value }" },
    { "f(\n  a=1,\n  b=2)", "; arguments with names are a table, f { name = value }" },
    { "f(\n  g(1), a=[1])", "; arguments with names are a table, f { name = value }" },
    { "x = y[\n1:2]", "; a part of a text is text:sub(first, last)" },
    { "x = a && b", "; x && y is x and y" },
    { "f('%s':format(1))", "; a text before a method needs parentheses, (\"%s\"):format(x)" },
    { "x y", "; a call has parentheses, f(x)" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    has(*state, cases[i].text, cases[i].words);
}

static void a_line_of_python_is_answered_by_its_word(void **state)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
    { "import os",
      "; Python's 'os' is in Lua: local path = require \"tidemill.path\", for os.path" },
    { "from pandas.core import x", "; Python's 'pandas' is in Lua: local frame = require " },
    { "import helpers", "; 'import' is Python's; write local x = require \"x\"" },
    { "import ", "'=' expected near '<eof>'" },
    { "x = 1\nfrom azureml.core import Model", "; Python's 'azureml' is in Lua: local tidemill" },
    { "def run(mini_batch):\n  return 1", "; 'def' is Python's; write function name(a, b)" },
    { "class Scorer:\n  pass", "; 'class' is Python's" },
    { "with open('x') as f:", "; 'with' is Python's; write local f = io.open(path)" },
    { "raise ValueError('x')", "; 'raise' is Python's; write error(message)" },
    { "if x then\n  y()\nelif z then\nend", "; 'elif' is Python's; write elseif CONDITION then" },
    { "if x then\n  pass\nend", "; 'pass' is Python's; leave it out" },
    { "assert x == 1, 'no'", "; write assert(condition, message)" },
    { "del x", "; 'del' is Python's; write x = nil" },
    { "global x", "; leave it out: a name without 'local' is global" },
    { "try:\n  x = 1\nexcept Exception as e:\n  y = 2", "; write local ok, message = pcall" },
    { "@dsl.pipeline()\nfunction f() end", "; Lua has no decorators" },
    { "\"\"\"A pipeline.\"\"\"", "; a long text is [[ ... ]]" },
    { "x = \"\"\"\nA pipeline.\n\"\"\"", "; a long text is [[ ... ]]" },
    { "x = a if b else c", "; 'a if x else b' is x and a or b" },
    { "f = lambda x: x + 1", "; 'lambda x: x + 1' is function(x)" },
    { "x = y is None", "; 'x is None' is x == nil" },
    { "x = not y and z is not None", "; 'x is not None' is x ~= nil" },
    { "print('a', end='')", "; io.write(text) writes without" },
    { "print x", "; a call has parentheses: print(x)" },
    { "f(a=1 if x else 2)", "; arguments with names are a table" },
    { "function f()\nif x then\n  y()\nelse if z then\n  w()\nend\nend\n",
      "; 'else if' begins a block with an 'end' of its own; write elseif" },
    { "if x then y() else if(z) then w() end", "; 'else if' begins a block" },
    { "x = '%s and %s' % (a, b)", "; '\"%s\" % x' is string.format(\"%s\", x)" },
    { "x: int = 3", "; Lua has no types of variables, parameters and results" },
    { "y = 1\nlocal x: int = 3", "; Lua has no types of variables" },
    { "x: List[int] = {}", "; Lua has no types of variables" },
    { "function f(x: int, y: str) return x end", "; Lua has no types of variables" },
    { "local function f(x) -> int\nreturn 1 end", "; Lua has no types of variables" },
    { "def f(x: int) -> int:\n  return 1", "; 'def' is Python's" },
    { "let x = 3", "; write local x = y" },
    { "x = a ? b : c", "; 'a ? b : c' is a and b or c" },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    has(*state, cases[i].text, cases[i].words);
}

static void a_line_of_lua_with_such_words_is_not_answered(void **state)
{
  struct world *w = *state;
  fails_with(w, "local class = 1\nlocal from = 2\nx = = 2", "unexpected symbol near '='",
             "score.lua:3");
  fails_with(w, "assert(true)\npass = 1\nx = = 2", "unexpected symbol near '='", "score.lua:3");
  fails_with(w, "x = { else_if = 1 }\nif x then y()", "'end' expected near '<eof>'", "score.lua:2");
}

static void loops_and_texts_of_python_are_answered(void **state)
{
  struct world *w = *state;
  has(w, "for x in {} do end", "attempt to call a table value; to walk through a list, write for");
  has(w, "local x = 'a' + 'b'", "; texts are joined with ..");
  has(w, "local x = '%s' % 'b'", "is string.format(\"%s\", x)");
  has(w, "local x, y = 1, 2 print(f'{x}/{y}')",
      "; if it is Python's f\"{x}/y\", write (\"%s/y\"):format(x)");
  has(w, "local x = {} x:irows()",
      "; if it is a mini-batch of files, it is an array of paths; it is a data frame with --rows");
  has(w, "local x = '/a' x:read '*a'", "; if it is a path, open it: local file = assert(io.open(p");
  has(w, "local x = '/a' x:write 'b'",
      "; if it is a path, open it: local file = assert(io.open(path, ");
  has(w, "local x = r'a'", "; if it is Python's r\"x\", write [[x]]");
  has(w, "local x = import 'x'", "; write local x = require \"x\"");
  has(w, "local x = ('a').upper()", "; a method is called with a colon: text:upper()");
  has(w, "io.stdout.write()", "; a method is called with a colon: file:read");
  has(w, "local store = { path = '/x' } store.path('y')",
      "; 'path' is text: a path in a datastore");
  has(w,
      "local ok, m = pcall(function() for x in {} do end end)\n"
      "error(m .. '; to walk through a list, write for i, x in ipairs(list) do', 0)",
      "; to walk through a list");
}

static void names_of_the_script_itself_are_not_explained(void **state)
{
  struct world *w = *state;
  fails_with(w, "local len\nlen()", "attempt to call local 'len' (a nil value)", "score.lua:2");
  fails_with(w, "lenth()", "attempt to call global 'lenth' (a nil value)", "score.lua:1");
  fails_with(w, "error(\"attempt to call global 'len' (a nil value), I said\", 0)",
             "attempt to call global 'len' (a nil value), I said", "score.lua:1");
}

static void a_position_elsewhere_stays_in_the_message(void **state)
{
  fails_with(*state, "local function f() error('bad', 2) end\nlocal x = f()", "score.lua:2: bad",
             "score.lua:1");
}

static void a_syntax_error_has_its_place(void **state)
{
  struct world *w = *state;
  fails_with(w, "x = 1\ny = = 2", "unexpected symbol near '='", "score.lua:2");
  assert_int_equal(w->e.stack.len, 0);
  fails_with(w, "#!/usr/bin/env tidemill\nx = = 1", "unexpected symbol near '='", "score.lua:2");
  fails_with(w, "\x1bLJ\x02", "'score.lua' is compiled Lua; accepted: its source", "");
}

static void the_first_line_of_the_system_is_skipped(void **state)
{
  struct world *w = *state;
  assert_int_equal(run(w, "#!/usr/bin/env tidemill"), 0);
  assert_int_equal(run(w, "\xef\xbb\xbf#!x\nassert(true)"), 0);
  assert_int_equal(run(w, ""), 0);
}

static void the_stack_is_the_users(void **state)
{
  struct world *w = *state;
  fails_with(w,
             "local t = require 'tidemill'\nlocal function make()\n  local c = t.ParallelRunConfig "
             "{}\nend\nmake()\nmake()",
             "ParallelRunConfig: 'entry_script' is missing; it is required: a path, or 'model' in "
             "place of it: an ONNX file",
             "score.lua:3");
  assert_string_equal(
      w->e.stack.data,
      "stack traceback:\n\tscore.lua:3: in function 'make'\n\tscore.lua:5: in main code");
}

static void a_stack_overflow_is_an_error_like_others(void **state)
{
  struct world *w = *state;
  fails_with(w, "local function f(n) local x = f(n + 1) return x end local x = f(1)",
             "stack overflow", "score.lua:1");
  assert_true(w->e.stack.len < 4000);
  assert_non_null(strstr(w->e.stack.data, "... and so on"));
  assert_int_equal(run(w, "x = 1"), 0); /* the state is usable */
}

static void a_long_path_is_shown_whole(void **state)
{
  struct world *w = *state;
  char path[301], where[310];
  memset(path, 'p', 300);
  path[300] = 0;
  snprintf(where, sizeof(where), "%s:1", path);
  assert_int_equal(tm_lua_load(w->L, "error 'bad'", 11, path, &w->e), 0);
  assert_int_equal(tm_lua_pcall(w->L, 0, 0, &w->e), TM_ESCRIPT);
  assert_string_equal(w->e.where.data, where);
  assert_string_equal(w->e.message.data, "bad");
}

static void results_and_arguments_pass(void **state)
{
  struct world *w = *state;
  assert_int_equal(tm_lua_load(w->L, "local a, b = ... return b, a", 28, "x.lua", &w->e), 0);
  lua_pushinteger(w->L, 1);
  lua_pushinteger(w->L, 2);
  assert_int_equal(tm_lua_pcall(w->L, 2, 2, &w->e), 0);
  assert_int_equal(lua_tointeger(w->L, -2), 2);
  assert_int_equal(lua_tointeger(w->L, -1), 1);
  lua_pop(w->L, 2);
}

static int fail_with_words(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  tm_err_set(&err, TM_EUSAGE, "cannot do this");
  return lua_toboolean(L, 1) ? tm_lua_raise(L, &err) : tm_lua_push_err(L, &err);
}

static void messages_from_c_reach_lua(void **state)
{
  struct world *w = *state;
  lua_pushcfunction(w->L, fail_with_words);
  lua_setglobal(w->L, "f");
  fails_with(w, "\nlocal x = f(true)", "cannot do this", "score.lua:2");
  assert_int_equal(run(w, "local v, words, code = f(false) assert(v == nil and words == 'cannot do "
                          "this' and code == 'EUSAGE')"),
                   0);
}

static void a_users_file_does_not_take_our_place(void **state)
{
  struct world *w = *state;
  assert_int_equal(
      run(w, "package.path = '/nonexistent/?.lua' assert(require('tidemill').Pipeline)"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
UNIT_TESTS({
    TEST(errors_of_any_type_are_described),
    TEST(a_habit_of_python_is_answered),
    TEST(a_module_that_is_not_required_is_named),
    TEST(the_grammar_of_python_is_answered),
    TEST(a_line_of_python_is_answered_by_its_word),
    TEST(a_line_of_lua_with_such_words_is_not_answered),
    TEST(loops_and_texts_of_python_are_answered),
    TEST(names_of_the_script_itself_are_not_explained),
    TEST(a_position_elsewhere_stays_in_the_message),
    TEST(a_syntax_error_has_its_place),
    TEST(the_first_line_of_the_system_is_skipped),
    TEST(the_stack_is_the_users),
    TEST(a_stack_overflow_is_an_error_like_others),
    TEST(a_long_path_is_shown_whole),
    TEST(results_and_arguments_pass),
    TEST(messages_from_c_reach_lua),
    TEST(a_users_file_does_not_take_our_place),
});
