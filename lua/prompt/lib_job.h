/* lib_job.h - `require "tidemill.job_c"`: the C half of pipeline:submit() and of jobs in Lua
 * (stdlib/tidemill/job.lua, and _meta/job_c.lua for its functions).
 *
 * The jobs of a state use the runtime of tm_lua_set_runtime(), or one of their own
 * (own_runtime.h). Jobs make progress while the runtime's loop turns: in job:wait(), or when the
 * owner of the runtime turns it. A callback of the loop must not wait; the call fails with an
 * error. So evaluate a user's Lua between two turns.
 */
#ifndef TM_PROMPT_LIB_JOB_H
#define TM_PROMPT_LIB_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include <lua.h>

struct tidemill_job;
struct tidemill_screen;
struct tm_background;

int tm_lua_open_job_c(lua_State *L);
/* The jobs of the state show their progress and results there; it must live as long as the state.
 * May raise (memory). */
void tm_lua_set_screen(lua_State *L, const struct tidemill_screen *screen);
/* Something turns that runtime beside Lua. Lua gets events of its jobs in job:wait(), and by the
 * second call, one event at a time. False: there are no more. */
void tm_lua_set_beside(lua_State *L, struct tm_background *b);
bool tm_lua_hear_job(lua_State *L);

/* Pushes the list of the running jobs, and returns how many. While it is on the stack, Lua collects
 * none of them. */
size_t tm_lua_running_jobs(lua_State *L);
/* Element `i`, from 0, of the list on top of the stack; NULL: Lua code has closed the job. */
struct tidemill_job *tm_lua_running_job(lua_State *L, size_t i);

#endif
