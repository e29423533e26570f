/* prefetched.h - what prefetch() has returned and started, until the run() of its mini-batch.
 *
 *   p = tm_lua_prefetched_new(&s, seq)        prefetch() is called, which sets the references;
 *   tm_lua_begun_move(&begun, &p->begun)      what it has begun is kept
 *   p = tm_lua_prefetched_find(&s, seq)       run() begins:
 *   tm_lua_begun_move(&p->begun, &begun)      the work belongs to it
 *   tm_lua_prefetched_end(L, p)               run() has ended, or will not be called
 *
 * There are two at most: prefetch() is called for a mini-batch and for the next one before the
 * first of them runs.
 */
#ifndef TM_ENTRY_PREFETCHED_H
#define TM_ENTRY_PREFETCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "bind/begun.h"

#define TM_LUA_PREFETCHED_MAX 2

struct tm_lua_prefetched {
  bool is_used;
  uint64_t seq;
  int mini_batch_ref, returned_ref; /* in the registry, or LUA_NOREF */
  struct tm_lua_begun begun;
};

struct tm_lua_prefetches {
  struct tm_lua_prefetched all[TM_LUA_PREFETCHED_MAX];
};

void tm_lua_prefetches_init(struct tm_lua_prefetches *s); /* it must not move afterwards */
struct tm_lua_prefetched *tm_lua_prefetched_new(struct tm_lua_prefetches *s, uint64_t seq);
/* NULL: there is none. */
struct tm_lua_prefetched *tm_lua_prefetched_find(struct tm_lua_prefetches *s, uint64_t seq);
/* Ends the work that it still has. Never raises. */
void tm_lua_prefetched_end(lua_State *L, struct tm_lua_prefetched *p);
void tm_lua_prefetches_end_all(lua_State *L, struct tm_lua_prefetches *s);

#endif
