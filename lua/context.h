/* context.h - the second argument of run(): which mini-batch this is.
 *
 *   context.minibatch_index   number of the mini-batch, from 0
 *   context.try               from 1
 *   context.dataset_name      name of the input, "" without one
 *   context.part              nil, or {first = , last = }: which of its items these are, from 1, while bad ones are
 *                             isolated
 *
 *   context:fail(i, message)  item i of mini_batch has failed, for this reason: it never counts as succeeded
 *   context:open(item)        a reader of the contents of an item of the mini-batch (reader.h); an item that it cannot read
 *                             has failed
 *   context:output_file(name, output) a path for a file that gets this name in output_dir, or in that output, when the mini-batch
 *                             is committed
 *   source, global_row_index_lower_bound   of rows of one file: its path; the number of the first in it, from 0, where known
 *   partition_key_value  with partition keys: a new table of their values by name; a datetime in seconds
 *
 * One table a state, filled anew for each call: a script that wants a field later keeps the field. It cannot be
 * written to.
 */
#ifndef TM_LUA_CONTEXT_H
#define TM_LUA_CONTEXT_H

#include <lua.h>

#include "agent/script.h"
#include "lua/marks.h"
#include "lua/reader.h"

struct tm_lua_context {
  int handle_ref, fields_ref; /* in the registry */
  uint32_t try;               /* what stands in the fields now */
  uint64_t part;
  bool has_keys;       /* partition_key_value is set */
  bool has_range;      /* source is set */
  const char *dataset; /* Lua's own string, held by the fields */
  const struct tm_setup *setup;
  struct tm_lua_marks marks;
  struct tm_lua_readers readers;
};

/* Once per state. May raise (memory). `c` and `setup` live as long as the state. */
void tm_lua_context_init(lua_State *L, struct tm_lua_context *c, const struct tm_setup *setup);
void tm_lua_context_release(struct tm_lua_context *c);
/* run() has ended: what it has opened is closed. */
void tm_lua_context_end(struct tm_lua_context *c);
/* Fills it with what `call` says and pushes it. May raise (memory). */
void tm_lua_context_push(lua_State *L, struct tm_lua_context *c, const struct tm_run_call *call);

#endif
