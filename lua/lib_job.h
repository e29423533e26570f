/* lib_job.h - `require "tidemill.job_c"`: the C half of pipeline:submit() and of jobs in Lua (stdlib/tidemill/job.lua, and
 * _meta/job_c.lua for its functions).
 *
 * A state has the runtime that it is given with tm_lua_set_runtime(), else one of its own from the first submission on, which goes
 * with the state. Jobs go on while the runtime's loop turns: in job:wait(), or when its owner turns it. Waiting is refused, with
 * words, from within a callback of the loop: who evaluates Lua for a user does so between two turns.
 */
#ifndef TM_LUA_LIB_JOB_H
#define TM_LUA_LIB_JOB_H

#include <stdbool.h>

#include <lua.h>

struct tidemill_runtime;
struct tm_beside;

int tm_lua_open_job_c(lua_State *L);
/* The runtime must live as long as the state. May raise for want of memory. */
void tm_lua_set_runtime(lua_State *L, struct tidemill_runtime *rt);
/* That runtime is turned beside Lua, which is told of its jobs in job:wait(), and here: of one thing at a time; false: there is
 * no more. */
void tm_lua_set_beside(lua_State *L, struct tm_beside *b);
bool tm_lua_hear_job(lua_State *L);

#endif
