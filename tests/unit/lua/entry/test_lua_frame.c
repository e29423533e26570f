/* test_lua_frame.c - a data frame that C passes to Lua: Lua reads it in place, and any use after
 * its end raises an error. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "lua/bind/state.h"
#include "lua/entry/lua_frame.h"
#include "lua/modules.h"

static const char *const names[] = { "id", "name" };
static const enum tm_column_type types[] = { TM_COLUMN_LONG, TM_COLUMN_STRING };

struct fixture {
  lua_State *L;
  struct tm_arena arena;
  struct tm_data_frame frame;
};

static void setup(struct fixture *f)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_frame_builder b;
  *f = (struct fixture) { .L = tm_lua_new(tm_lua_modules(), &err) };
  assert_non_null(f->L);
  tm_frame_builder_init(&b, &f->arena, names, types, 2);
  for (int64_t i = 1; i <= 3; i++) {
    tm_builder_reserve(&b.columns[0], 1);
    b.columns[0].i64[b.columns[0].len++] = i;
    if (i == 2)
      tm_builder_add_null(&b.columns[1]);
    else
      tm_builder_add_string(&b.columns[1], "xyz", (size_t)i);
  }
  tm_frame_builder_end(&b, &f->frame);
}

static void teardown(struct fixture *f)
{
  tm_lua_free(f->L);
  tm_arena_release(&f->arena);
}

/* Runs `text` with the top of the stack as `df`; returns the error that it raises, or "". */
static const char *run(struct fixture *f, const char *text)
{
  static char words[500];
  lua_State *L = f->L;
  lua_setglobal(L, "df");
  words[0] = '\0';
  if (luaL_loadbuffer(L, text, strlen(text), "@test.lua") || lua_pcall(L, 0, 0, 0)) {
    snprintf(words, sizeof words, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  return words;
}

static void a_given_frame_is_read_in_place(void **state)
{
  struct fixture f;
  setup(&f);
  tm_lua_frame_push(f.L, &f.frame);
  assert_true(tm_lua_is_frame(f.L, -1));
  assert_string_equal(run(&f, "assert(#df == 3 and df.c.id[2] == 2 and df.c.name[2] == nil)\n"
                              "assert(df.c.name[3] == 'xyz' and df.types.id == 'long')\n"
                              "assert(#df:filter('id', '>', 1) == 2)"),
                      "");
  f.frame.columns[0].i64[1] = 7;
  lua_getglobal(f.L, "df");
  assert_string_equal(run(&f, "assert(df.c.id[2] == 7)"), "");
  teardown(&f);
}

static void after_its_end_every_use_raises(void **state)
{
  static const char *const uses[] = {
    "return #df",
    "return df.c",
    "return df.columns",
    "return column[1]",
    "return #column",
    "return column:sum()",
    "return column:data()",
    "return row.id",
    "return row:copy()",
    "return df:select 'id'",
    "return sliced.c.id[1]",
    "return (selected:sort 'id')",
    "return (selected:copy())",
    "for _ in df:rows() do end",
    "return tostring(df)",
    "return df:to_csv()",
    "return (frame.concat(df, df))",
  };
  struct fixture f;
  setup(&f);
  tm_lua_frame_push(f.L, &f.frame);
  assert_string_equal(
      run(&f, "frame = require 'tidemill.frame'\n"
              "column, kept, sliced, selected = df.c.id, df:copy(), df:slice(2), df:select 'id'\n"
              "filtered = df:filter('id', '>', 1)\n"
              "row = df:rows()(select(2, df:rows()))\n"
              "for r in df:rows() do row = r break end"),
      "");
  tm_lua_frame_end(f.L, -1);
  tm_lua_frame_end(f.L, -1);
  memset(f.frame.columns[0].i64, 0x5a, 24); /* of the next mini-batch */
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
    lua_getglobal(f.L, "df");
    const char *words = run(&f, uses[i]);
    if (strstr(words, "ended when run() returned; keep df:copy()") == NULL)
      fail_msg("%s: '%s'", uses[i], words);
  }
  lua_getglobal(f.L, "df");
  assert_string_equal(run(&f,
                          "assert(#kept == 3 and kept.c.id[1] == 1 and kept.c.name[3] == 'xyz')\n"
                          "assert(filtered.c.id[2] == 3)"),
                      "");
  teardown(&f);
}

/* A frame whose columns are collected while the C memory that it points to is reused. */
static void many_frames_one_after_the_other(void **state)
{
  struct fixture f;
  setup(&f);
  for (int i = 0; i < 2000; i++) {
    tm_lua_frame_push(f.L, &f.frame);
    assert_string_equal(run(&f, "assert(df.c.id:sum() == 6)"), "");
    tm_lua_frame_end(f.L, -1);
    lua_settop(f.L, 0);
  }
  lua_gc(f.L, LUA_GCCOLLECT, 0);
  assert_true(lua_gc(f.L, LUA_GCCOUNT, 0) < 4000);
  teardown(&f);
}

UNIT_TESTS({
    cmocka_unit_test(a_given_frame_is_read_in_place),
    cmocka_unit_test(after_its_end_every_use_raises),
    cmocka_unit_test(many_frames_one_after_the_other),
});
