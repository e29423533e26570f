/* test_lua_tensor.c - tensors between C and Lua, and their memory. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/tensor/tensor_types.h"
#include "lua/bind/state.h"
#include "lua/entry/lua_frame.h"
#include "lua/model/lua_tensor.h"
#include "lua/modules.h"
#include "script_fixture.h"

static lua_State *new_state(void)
{
  struct tm_err err = TM_ERR_NONE;
  lua_State *L = tm_lua_new(tm_lua_modules(), &err);
  assert_non_null(L);
  return L;
}

/* Runs `text` with the top of the stack as `x`; returns the error that it raises, or "". */
static const char *run(lua_State *L, const char *text)
{
  static char words[500];
  lua_setglobal(L, "x");
  words[0] = '\0';
  if (luaL_loadbuffer(L, text, strlen(text), "@test.lua") || lua_pcall(L, 0, 0, 0)) {
    snprintf(words, sizeof words, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  return words;
}

static void expect_words(const char *text, const char *words)
{
  if (strstr(text, words) == NULL)
    assert_string_equal(text, words);
}

static void a_new_tensor_is_zero_and_aligned(void **state)
{
  static const int64_t shape[] = { 3, 5 };
  lua_State *L = new_state();
  for (int32_t type = 1; type <= TM_TENSOR_UINT64; type++) {
    struct tm_tensor *t = tm_lua_tensor_new(L, (enum tm_tensor_type)type, 2, shape);
    assert_true((uintptr_t)t->data % 64 == 0 && t->rank == 2 && t->shape[1] == 5);
    for (int64_t i = 0; i < tm_tensor_bytes(t); i++)
      assert_int_equal(((const char *)t->data)[i], 0);
    assert_true(tm_lua_is_tensor(L, -1));
    assert_ptr_equal(tm_lua_check_tensor(L, -1), t);
  }
  ((float *)tm_lua_tensor_new(L, TM_TENSOR_FLOAT32, 2, shape)->data)[14] = 7;
  assert_string_equal(run(L, "assert(x:at(3, 5) == 7 and x.type == 'float32' and #x == 3)"), "");
  assert_int_equal(tm_lua_tensor_new(L, TM_TENSOR_BOOL, 0, NULL)->rank, 0);
  assert_string_equal(run(L, "assert(x:at() == false and #x.shape == 0)"), "");
  tm_lua_free(L);
}

static void strings_have_room_for_their_bytes(void **state)
{
  static const int64_t shape[] = { 2 };
  lua_State *L = new_state();
  char *room = NULL;
  struct tm_tensor *t = tm_lua_tensor_new_strings(L, 1, shape, 5, &room);
  memcpy(room, "ab\0cd", 5);
  ((struct tm_tensor_string *)t->data)[0] = (struct tm_tensor_string) { room, 3 };
  ((struct tm_tensor_string *)t->data)[1] = (struct tm_tensor_string) { room + 3, 2 };
  lua_gc(L, LUA_GCCOLLECT, 0);
  assert_string_equal(run(L, "assert(x[1] == 'ab\\0' and x[2] == 'cd')"), "");
  tm_lua_free(L);
}

static void what_is_not_a_tensor_raises(void **state)
{
  lua_State *L = new_state();
  lua_newuserdata(L, 8);
  assert_false(tm_lua_is_tensor(L, -1));
  lua_pushnumber(L, 1);
  assert_false(tm_lua_is_tensor(L, -1));
  tm_lua_free(L);
}

static int check(lua_State *L)
{
  tm_lua_check_tensor(L, 1);
  return 0;
}

/* Memory that something else owns, until it says that it has ended. */
static void a_tensor_ends_with_its_memory(void **state)
{
  static const char *const uses[] = { "x[1]",      "#x",           "x.shape",           "x:at(1)",
                                      "x:data()",  "x:copy()",     "tostring(x)",       "slice[1]",
                                      "shaped[1]", "x:cast()",     "x:argmax()",        "check(x)",
                                      "x.type",    "check(slice)", "tensor.stack { x }" };
  int32_t ended = 0;
  float values[] = { 1, 2, 3 };
  struct tm_tensor over = { values, { 3 }, 1, TM_TENSOR_FLOAT32 };
  lua_State *L = new_state();
  lua_register(L, "check", check);
  lua_newtable(L);
  tm_lua_tensor_over(L, &over, -1, &ended);
  assert_string_equal(run(L, "tensor = require 'tidemill.tensor'\n"
                             "slice, shaped, copy = x:slice(2), x:reshape { 3, 1 }, x:copy()\n"
                             "check(x) assert(x[3] == 3 and slice[1] == 2)"),
                      "");
  ended = 1;
  for (size_t i = 0; i < TM_COUNT_OF(uses); i++) {
    char *text = tm_xprintf("x = orig\nreturn (%s)", uses[i]);
    lua_getglobal(L, "x");
    lua_setglobal(L, "orig");
    lua_pushnil(L);
    const char *words = run(L, text);
    if (strstr(words, "shared memory that is gone") == NULL)
      fail_msg("%s: '%s'", uses[i], words);
    free(text);
  }
  lua_pushnil(L);
  assert_string_equal(run(L, "assert(copy[3] == 3)"), "");
  lua_pushnil(L);
  expect_words(run(L, "check(5)"), "test.lua:1: a number was given; accepted: a tensor");
  tm_lua_free(L);
}

/* The column of a frame that run() gets, and a slice of it. */
static void a_tensor_over_a_frame_ends_with_it(void **state)
{
  static const char *const names[] = { "id" };
  int64_t ids[] = { 5, 6, 7 };
  struct tm_column column = { .i64 = ids, .len = 3, .type = TM_COLUMN_LONG };
  struct tm_data_frame frame = { .columns = &column, .names = names, .n = 1, .len = 3 };
  lua_State *L = new_state();
  tm_lua_frame_push(L, &frame);
  assert_string_equal(run(L, "tensor = require 'tidemill.tensor'\n"
                             "t = tensor.from_frame(x, { type = 'int64' })\n"
                             "slice, copy = t[2], t:copy()\n"
                             "other = tensor.from_frame(x, { type = 'int32' })"),
                      "");
  ids[1] = 60;
  lua_pushnil(L);
  assert_string_equal(run(L, "assert(t:at(2, 1) == 60 and slice[1] == 60 and copy:at(2, 1) == 6)\n"
                             "collectgarbage()\n"
                             "assert(not pcall(t.set, t, 1, 1, 1)\n"
                             "  and not pcall(slice.set, slice, 1, 1))\n"
                             "copy:set(1, 1, 1)"),
                      "");
  assert_int_equal(ids[0], 5);
  tm_lua_frame_end(L, 1);
  lua_pushnil(L);
  expect_words(run(L, "return t:at(2, 1)"), "keep t:copy() instead");
  lua_pushnil(L);
  expect_words(run(L, "return slice[1]"), "keep t:copy() instead");
  lua_pushnil(L);
  assert_string_equal(run(L, "assert(copy:at(3, 1) == 7 and other:at(3, 1) == 7)"), "");
  tm_lua_free(L);
}

/* ---- the memory limit of a worker ---- */

static struct fixture f;

static int setup(void **state)
{
  fixture_init(&f);
  f.setup.memory_limit = INT64_C(64) << 20;
  return 0;
}

static int teardown(void **state)
{
  fixture_release(&f);
  return 0;
}

static void a_tensor_beyond_the_limit_fails_the_try(void **state)
{
  assert_int_equal(fixture_load(&f, "local tensor = require 'tidemill.tensor'\n"
                                    "local calls = 0\n"
                                    "function run(m) calls = calls + 1\n"
                                    "  local n = calls % 2 == 1 and 60e6 or 40e6\n"
                                    "  return { #tensor.new('uint8', { n }) } end"),
                   0);
  for (int again = 0; again < 2; again++) {
    expect_failure(&f, TM_RUN_EXCEPTION,
                   "not enough memory for a tensor of uint8 [60000000] (worker_memory_limit is "
                   "64 MB: Lua may have 48 MB of it, had ");
    expect_words(tm_buf_str(&f.error.message), "asked for 57.2 MB in one piece");
    expect_words(tm_buf_str(&f.error.where), "my/score.lua:5");
    expect_rows(&f, 1, "40000000\n");
  }
}

/* A tensor of 30 MB is garbage when the next one is made, wherever the collector stands then. So
 * are 80 MB in pieces of 8 KB. */
static void tensors_that_are_garbage_do_not_reach_the_limit(void **state)
{
  assert_int_equal(fixture_load(&f, "local tensor, kept = require 'tidemill.tensor', {}\n"
                                    "for i = 1, 20000 do kept[i] = { i } end\n"
                                    "function run(m)\n"
                                    "  for i = 1, 20 do\n"
                                    "    local t = tensor.new('uint8', { 30e6 })\n"
                                    "    for k = 1, i * 40 do collectgarbage('step', 1) end\n"
                                    "    t = t and nil\n"
                                    "  end\n"
                                    "  for i = 1, 1e4 do tensor.new('float32', { 2000 }) end\n"
                                    "  return { 'done' } end"),
                   0);
  expect_rows(&f, 1, "done\n");
}

UNIT_TESTS({
    cmocka_unit_test(a_new_tensor_is_zero_and_aligned),
    cmocka_unit_test(strings_have_room_for_their_bytes),
    cmocka_unit_test(what_is_not_a_tensor_raises),
    cmocka_unit_test(a_tensor_ends_with_its_memory),
    cmocka_unit_test(a_tensor_over_a_frame_ends_with_it),
    cmocka_unit_test_setup_teardown(a_tensor_beyond_the_limit_fails_the_try, setup, teardown),
    cmocka_unit_test_setup_teardown(tensors_that_are_garbage_do_not_reach_the_limit, setup,
                                    teardown),
});
