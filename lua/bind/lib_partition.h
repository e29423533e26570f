/* lib_partition.h - one function of `require "tidemill.plan"`; stdlib/tidemill/_meta/plan.lua
 * describes it. */
#ifndef TM_BIND_LIB_PARTITION_H
#define TM_BIND_LIB_PARTITION_H

#include <lua.h>

int tm_lua_partition(lua_State *L);

#endif
