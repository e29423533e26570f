/* job_event.h - events of jobs, and their numbers, as tables of Lua. All of it may raise for want of memory. */
#ifndef TM_LUA_JOB_EVENT_H
#define TM_LUA_JOB_EVENT_H

#include <lua.h>
#include <stdint.h>

#include <tidemill.h>

/* Fields of the table on top; a text that is NULL or empty is none. */
void tm_lua_set_number(lua_State *L, const char *name, int64_t v);
void tm_lua_set_text(lua_State *L, const char *name, const char *v);

void tm_lua_push_counts(lua_State *L, const struct tidemill_counts *c);
/* What on_event of pipeline:submit() is given. */
void tm_lua_push_event(lua_State *L, const struct tidemill_event *e);

#endif
