/* job_event.h - job events and counts as Lua tables. All functions may raise (memory). */
#ifndef TM_PROMPT_JOB_EVENT_H
#define TM_PROMPT_JOB_EVENT_H

#include <lua.h>
#include <stdint.h>

#include <tidemill.h>

/* Set fields of the table on top; a text that is NULL or empty is left out. */
void tm_lua_set_number(lua_State *L, const char *name, int64_t v);
void tm_lua_set_text(lua_State *L, const char *name, const char *v);

void tm_lua_push_counts(lua_State *L, const struct tidemill_counts *c);
/* Pushes the argument of on_event in pipeline:submit(). */
void tm_lua_push_event(lua_State *L, const struct tidemill_event *e);

#endif
