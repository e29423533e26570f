/* lib_plan.h - `require "tidemill.plan"`: the C half of the constructors in stdlib/tidemill.lua.
 * Its functions are described in stdlib/tidemill/_meta/plan.lua. */
#ifndef TM_BIND_LIB_PLAN_H
#define TM_BIND_LIB_PLAN_H

#include <lua.h>

int tm_lua_open_plan(lua_State *L);

#endif
