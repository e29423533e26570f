/* script_memory.h - limits the memory of a Lua state.
 *
 * Our allocator wraps the state's own one, counts, and refuses requests beyond the limit; LuaJIT
 * then raises "not enough memory". Compiled code is as fast as before. Memory that C modules and
 * FFI take from malloc is not counted here: the keeper watches resident memory.
 *
 *  (1) While user code runs, the memory of Lua does not exceed the limit.
 *  (2) LuaJIT does not collect garbage when a request is refused, so it must collect before. From a
 *      quarter of the limit on, the collector runs more often, so that garbage alone does not reach
 *      the limit.
 *  (3) Nothing is refused outside a protected call, where an error would end the process. The
 *      caller of user code says when it begins and ends.
 *
 * Caller: tm_lua_memory_limit() once, with a struct that lives until the state is closed;
 * tm_lua_memory_release() before that.
 */
#ifndef TM_BIND_SCRIPT_MEMORY_H
#define TM_BIND_SCRIPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/buf.h"

/* The part of worker_memory_limit that is not for Lua: the program and its buffers. Bytes. */
#define TM_LUA_MEMORY_BESIDE ((int64_t)16 << 20)

struct tm_lua_memory {
  lua_State *L; /* NULL: no limit */
  lua_Alloc below;
  void *below_data;
  int64_t worker_limit;        /* bytes, as given */
  size_t limit, used, refused; /* bytes; refused: the last request that was, or 0 */
  bool is_tight, is_on;
};

/* `worker_limit`: worker_memory_limit, bytes; 0: no limit, and nothing changes. */
void tm_lua_memory_limit(struct tm_lua_memory *m, lua_State *L, int64_t worker_limit);
/* Switches the limit on within a protected call, before user code, and off after it. Keeps (3). */
void tm_lua_memory_set_on(struct tm_lua_memory *m, bool is_on);
void tm_lua_memory_release(struct tm_lua_memory *m);
/* After a hook that failed: if a request was refused, adds a message about it, and collects all
 * garbage. */
void tm_lua_memory_settle(struct tm_lua_memory *m, struct tm_buf *message);

#endif
