/* context.h - the second argument of run(): which mini-batch this is.
 *
 *   context.minibatch_index   number of the mini-batch, from 0
 *   context.try               from 1
 *   context.dataset_name      name of the input, "" without one
 *   context.prefetched        what prefetch() has returned for this mini-batch; nil without one
 *   context.part              nil, or {first = , last = }: the items of a part, from 1, while the
 *   job
 *                             isolates bad items
 *
 *   context:fail(i, message)  marks item i of mini_batch as failed; it never counts as succeeded
 *   context:open(item)        a reader of an item of the mini-batch (item_reader.h); an item that
 *                             it cannot read has failed
 *   context:output_file(name, output)  a path for a file, which gets this name in output_dir, or in
 *                             that output, when the mini-batch is committed
 *   source, global_row_index_lower_bound   for rows of one file: its path, and the number of the
 *                             first row in it, from 0, if known
 *   partition_key_value       with partition keys: a new table of their values by name; datetimes
 *                             in seconds
 *
 * prefetch() gets it, too, for a mini-batch that run() gets later: with the fields, but the methods
 * raise, and `prefetched` is nil.
 *
 * A state has one such table, filled again for each call. A script that needs a field later must
 * copy it. The table is read-only.
 */
#ifndef TM_ENTRY_CONTEXT_H
#define TM_ENTRY_CONTEXT_H

#include <lua.h>

#include "agent/script.h"
#include "base/map.h"
#include "base/mem.h"
#include "entry/item_reader.h"
#include "entry/marks.h"

struct tm_lua_context {
  int handle_ref, fields_ref; /* in the registry */
  uint32_t try;               /* the value in the fields now */
  uint64_t part;
  bool has_prefetched; /* prefetched is set */
  bool has_keys;       /* partition_key_value is set */
  bool has_range;      /* source is set */
  const char *dataset; /* Lua's own string, held by the fields */
  const struct tm_setup *setup;
  struct tm_lua_marks marks;
  struct tm_lua_readers readers;
  struct tm_map asked;           /* the names in extras->files */
  struct TM_ARRAY(size_t) items; /* where the items of this call begin, once name() has read them */
};

/* Once per state. May raise (memory). `c` and `setup` live as long as the state. */
void tm_lua_context_init(lua_State *L, struct tm_lua_context *c, const struct tm_setup *setup);
void tm_lua_context_release(struct tm_lua_context *c);
/* run() or prefetch() has ended: closes what it has opened. */
void tm_lua_context_end(struct tm_lua_context *c);
/* Fills it from `call` and pushes it. May raise (memory). */
void tm_lua_context_push(lua_State *L, struct tm_lua_context *c, const struct tm_run_call *call);
/* The same for prefetch(). */
void tm_lua_context_push_ahead(lua_State *L, struct tm_lua_context *c,
                               const struct tm_run_call *call);
/* The value, by its reference, until the next push. May raise (memory). */
void tm_lua_context_set_prefetched(lua_State *L, struct tm_lua_context *c, int ref);

#endif
