/* test_lua_values.c - converts Lua values to trees, and back. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "lua/bind/state.h"
#include "lua/modules.h"

static lua_State *L;

static int setup(void **state)
{
  L = tm_lua_new(tm_lua_modules(), NULL);
  return L ? 0 : -1;
}

static int teardown(void **state)
{
  tm_lua_free(L);
  return 0;
}

/* Puts the value of `expression` on the stack. */
static void push(const char *expression)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_lua_error e = { 0 };
  tm_buf_printf(&text, "return %s", expression);
  if (tm_lua_load(L, text.data, text.len, "x.lua", &e) < 0 || tm_lua_pcall(L, 0, 1, &e) < 0)
    fail_msg("%s", tm_buf_str(&e.message));
  tm_buf_release(&text);
  tm_lua_error_release(&e);
}

static void is_json(const char *expression, const char *json)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf out = TM_BUF_NONE;
  push(expression);
  struct tm_json *v = tm_lua_to_json(L, -1, &err);
  if (!v)
    fail_msg("%s", err.text);
  tm_json_write(&out, v, (struct tm_json_style) { .sorted = true });
  assert_string_equal(out.data, json);
  assert_int_equal(lua_gettop(L), 1);
  lua_pop(L, 1);
  tm_json_free(v);
  tm_buf_release(&out);
}

static void is_refused(const char *expression, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  push(expression);
  assert_null(tm_lua_to_json(L, -1, &err));
  assert_int_equal(err.code, TM_EUSAGE);
  assert_string_equal(err.text, words);
  assert_int_equal(lua_gettop(L), 1);
  lua_pop(L, 1);
}

static void values_become_trees(void **state)
{
  is_json("nil", "null");
  is_json("true", "true");
  is_json("3", "3");
  is_json("-2^53", "-9007199254740992");
  is_json("0.1", "0.1");
  is_json("'a\\0b'", "\"a\\u0000b\"");
  is_json("{}", "[]");
  is_json("{ 1, { 'x' }, false }", "[1,[\"x\"],false]");
  is_json("{ a = 1, b = { c = {} } }", "{\"a\":1,\"b\":{\"c\":[]}}");
}

static void metamethods_are_not_called(void **state)
{
  is_json("setmetatable({ 1 }, { __index = function() error 'x' end, __len = function() error 'x' "
          "end })",
          "[1]");
}

static void unsupported_values_are_refused_by_their_path(void **state)
{
  is_refused("print", "the value is a function");
  is_refused("{ steps = { { run = print } } }", "'steps[1].run' is a function");
  is_refused("{ 1, 2, io.stdout }", "'[3]' is a userdata");
  is_refused("{ a = coroutine.create(print) }", "'a' is a coroutine");
  is_refused("{ n = 1LL }", "'n' is a cdata; accepted: a plain number (tonumber) or a string");
  is_refused("{ a = { 1, nil, 3, [7] = 2 } }", "'a' is a table with holes, or with keys of several "
                                               "kinds; accepted: a list from 1 on, or names alone");
  is_refused("{ a = { 1, b = 2 } }", "'a' is a table with holes, or with keys of several kinds; "
                                     "accepted: a list from 1 on, or names alone");
  is_refused("(function() local t = {} t.a = { b = t } return t end)()", "'a.b' holds itself");
  is_refused(
      "(function() local t = {} for i = 1, 1000 do t = { t } end return { deep = #t } and t end)()",
      /* 100 levels of "[1]" */
      "'[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]"
      "[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]"
      "[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]"
      "[1][1][1][1][1][1][1][1][1][1]' is nested too deep");
}

static void one_table_in_two_places_is_not_a_cycle(void **state)
{
  is_json("(function() local t = { 1 } return { t, t } end)()", "[[1],[1]]");
}

static void objects_of_constructors_have_tag_and_place(void **state)
{
  push("(function()\n local t = require 'tidemill'\n local p = t.PipelineParameter { name = 'n', "
       "default_value = 2 }\n return p end)()");
  struct tm_json *v = tm_lua_to_json(L, 1, NULL);
  assert_non_null(v);
  assert_string_equal(v->tag, "PipelineParameter");
  assert_string_equal(v->where, "x.lua:3");
  assert_int_equal(tm_json_int(v, "default_value", 0), 2);
  tm_json_free(v);
  lua_pop(L, 1);
}

static void trees_become_values(void **state)
{
  const char *text = "{\"a\":[1,0.5,\"x\",null,true],\"b\":{}}";
  struct tm_json *v = tm_json_parse(text, strlen(text), NULL), *again;
  tm_lua_push_json(L, v);
  again = tm_lua_to_json(L, -1, NULL);
  assert_non_null(again);
  assert_true(tm_json_is_equal(tm_json_get(v, "a"), tm_json_get(again, "a")));
  tm_json_free(again);
  tm_json_free(v);
  lua_pop(L, 1);
}

UNIT_HOOKS(.setup = setup, .teardown = teardown);
UNIT_TESTS({
    cmocka_unit_test(values_become_trees),
    cmocka_unit_test(metamethods_are_not_called),
    cmocka_unit_test(unsupported_values_are_refused_by_their_path),
    cmocka_unit_test(one_table_in_two_places_is_not_a_cycle),
    cmocka_unit_test(objects_of_constructors_have_tag_and_place),
    cmocka_unit_test(trees_become_values),
});
