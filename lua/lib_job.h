/* lib_job.h - `require "tidemill.job_c"`: the C half of pipeline:submit() and of jobs in Lua
 * (stdlib/tidemill/job.lua, and _meta/job_c.lua for its functions).
 *
 * The jobs of a state use the runtime of tm_lua_set_runtime(). Without one, the first submission
 * makes a runtime that is closed with the state. Jobs make progress while the runtime's loop turns:
 * in job:wait(), or when the owner of the runtime turns it. A callback of the loop must not wait;
 * the call fails with an error. So evaluate a user's Lua between two turns.
 */
#ifndef TM_LUA_LIB_JOB_H
#define TM_LUA_LIB_JOB_H

#include <stdbool.h>

#include <lua.h>

struct tidemill_runtime;
struct tm_beside;

int tm_lua_open_job_c(lua_State *L);
/* The runtime must live as long as the state. May raise (memory). */
void tm_lua_set_runtime(lua_State *L, struct tidemill_runtime *rt);
/* Something turns that runtime beside Lua. Lua gets events of its jobs in job:wait(), and by the
 * second call, one event at a time. False: there are no more. */
void tm_lua_set_beside(lua_State *L, struct tm_beside *b);
bool tm_lua_hear_job(lua_State *L);

#endif
