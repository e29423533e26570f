/* own_runtime.h - the runtime that the jobs of a Lua state use: that of its host, or one of its
 * own, which the first submission makes.
 *
 * The state and each of its jobs share the own runtime. It is closed when all of them are gone, in
 * whatever order Lua collects them.
 */
#ifndef TM_PROMPT_OWN_RUNTIME_H
#define TM_PROMPT_OWN_RUNTIME_H

#include <lua.h>

struct tidemill_runtime;
struct tm_lua_runtime;

/* The host's runtime, which must live as long as the state. May raise (memory). */
void tm_lua_set_runtime(lua_State *L, struct tidemill_runtime *rt);
/* The runtime for a submission; raises. *own is NULL if it is the host's. */
struct tidemill_runtime *tm_lua_runtime(lua_State *L, struct tm_lua_runtime **own);
/* The state's own runtime; NULL: it has none. */
struct tidemill_runtime *tm_lua_own_runtime(lua_State *L);

/* A share of it for a job; NULL for NULL. */
struct tm_lua_runtime *tm_lua_runtime_share(struct tm_lua_runtime *own);
/* Gives a share back; the last one closes the runtime. NULL: a no-op. */
void tm_lua_runtime_release(struct tm_lua_runtime *own);

/* Keeps a pointer in the registry under the address of `key`. May raise (memory). */
void tm_lua_register(lua_State *L, const char *key, void *p);
void *tm_lua_registered(lua_State *L, const char *key);

#endif
