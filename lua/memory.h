/* memory.h - how much memory a Lua state may have.
 *
 * The state keeps the allocator that it was made with; ours stands in front of it, counts, and refuses what would pass the
 * limit, whereupon LuaJIT raises "not enough memory". Compiled code goes on as before. What C modules and FFI take from malloc
 * is not seen here: the keeper looks at resident memory.
 *
 *  (1) While user code runs, what Lua has does not grow beyond the limit.
 *  (2) LuaJIT does not collect when it is refused: it must have collected before. From a quarter of the limit on the collector
 *      is told to keep closer behind, so that garbage alone does not reach the limit.
 *
 *  (3) Nothing is refused outside of a protected call, where an error would end the process: the one who calls user code says
 *      when it begins and ends.
 *
 * Caller: tm_lua_memory_limit() once, with a struct that lives until the state is closed; tm_lua_memory_release() before that.
 */
#ifndef TM_LUA_MEMORY_H
#define TM_LUA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/buf.h"

/* Of worker_memory_limit, for what is not Lua: the program, its buffers. Bytes. */
#define TM_LUA_MEMORY_BESIDE ((int64_t)16 << 20)

struct tm_lua_memory {
  lua_State *L; /* NULL: no limit */
  lua_Alloc below;
  void *below_data;
  int64_t worker_limit;        /* bytes, as it was given */
  size_t limit, used, refused; /* bytes; refused: the last request that was, 0 none */
  bool is_tight, is_on;
};

/* `worker_limit`: worker_memory_limit, bytes; 0: none, and nothing changes. */
void tm_lua_memory_limit(struct tm_lua_memory *m, lua_State *L, int64_t worker_limit);
/* Within a protected call, before user code; off again when the call has returned. Keeps (3). */
void tm_lua_memory_set_on(struct tm_lua_memory *m, bool is_on);
void tm_lua_memory_release(struct tm_lua_memory *m);
/* After a hook that failed: when something was refused in it, the words for it, and a full collection. */
void tm_lua_memory_settle(struct tm_lua_memory *m, struct tm_buf *message);

#endif
