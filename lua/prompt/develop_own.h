/* develop_own.h - mini-batches in a Lua state, for lib_develop.c. */
#ifndef TM_PROMPT_DEVELOP_OWN_H
#define TM_PROMPT_DEVELOP_OWN_H

#include <lua.h>

#include "agent/item_loader.h"
#include "base/buf.h"
#include "entry/scratch.h"

#define TM_MINI_BATCH "tidemill.develop.mini_batch"

/* A mini-batch as a userdata, for the context of run(). */
struct tm_develop_mini_batch {
  struct tm_run_call call; /* without its frame; points into this struct */
  char *dataset;
  struct tm_buf bytes; /* the items */
  struct tm_item range;
  /* Entries of archives are extracted below `scratch` for the life of this struct. */
  struct tm_item_loader loader;
  struct tm_scratch scratch;
};

/* All of these may raise. */
void tm_develop_add_kind(lua_State *L, const char *name, lua_CFunction gc);
void tm_develop_add_walks(lua_State *L); /* the types of develop_walk.c */
/* Pushes what run() gets (a list of paths, or a data frame with its own memory) and the mini-batch.
 * Copies what it needs from the call. Reports unreadable entries of archives in `notes`; a value on
 * the stack must own it. */
void tm_develop_push(lua_State *L, const struct tm_run_call *call, struct tm_buf *notes);

/* walk(dataset, options) -> walk */
int tm_develop_walk(lua_State *L);
/* next(walk) -> given, mini_batch, index, warnings; nil, nil, nil, warnings at the end. Raises. */
int tm_develop_next(lua_State *L);

#endif
