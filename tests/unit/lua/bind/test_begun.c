/* test_begun.c - what a call has begun ends with it; what was there before stays. */
#include "unit.h"

#include <lauxlib.h>

#include "lua/bind/begun.h"

static int ended;

static void end(void *data)
{
  ended += *(int *)data;
}

static void only_what_the_call_began_ends(void **state)
{
  (void)state;
  struct tm_lua_begun list;
  int one = 1, ten = 10, hundred = 100;
  struct tm_lua_begun_item before = { .end = end, .data = &one };
  struct tm_lua_begun_item within = { .end = end, .data = &ten };
  struct tm_lua_begun_item done = { .end = end, .data = &hundred };
  lua_State *L = luaL_newstate();
  tm_lua_begun_add(L, &before); /* a state without a list */
  tm_lua_begun_remove(&before);
  tm_lua_begun_open(L, &list);
  assert_true(tm_lua_begun_is_empty(&list));
  tm_lua_begun_add(L, &before);
  assert_false(tm_lua_begun_is_empty(&list));
  tm_lua_begun_keep(&list);
  tm_lua_begun_add(L, &within);
  tm_lua_begun_add(L, &done);
  tm_lua_begun_remove(&done);
  tm_lua_begun_end(&list);
  assert_int_equal(ended, 10);
  tm_lua_begun_end(&list);
  assert_int_equal(ended, 10);
  tm_lua_begun_remove(&before);
  assert_int_equal(lua_gettop(L), 0);
  lua_close(L);
}

UNIT_TESTS({
    cmocka_unit_test(only_what_the_call_began_ends),
});
