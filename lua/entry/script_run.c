/* script_run.c - prefetch() and run() of an entry script: see lua_script.c.
 *
 *   prefetch(n)  -->  struct tm_lua_prefetched: the mini-batch, what it has returned and begun
 *                     `-->  run(n): the same mini-batch, context.prefetched; the work ends with it
 *
 * The numbers are those of lua_script.c. The hot path, tm_lua_script_run(), looks up no names, and
 * allocates only the paths and the array.
 */
#include <lauxlib.h>

#include "base/check.h"
#include "entry/lua_frame.h"
#include "entry/lua_script_own.h"
#include "entry/rows.h"

/* The argument of run_body() and prefetch_body(), as light userdata. */
struct run {
  struct script *script;
  const struct tm_run_call *call;
  struct tm_lua_prefetched *prefetched; /* NULL: the script has no prefetch() */
  struct tm_buf *rows;
  uint32_t returned;
  bool is_wrong; /* `err` says why the result of run() is wrong */
  struct tm_err err;
};

static void push_mini_batch(lua_State *L, const struct tm_run_call *call)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  lua_createtable(L, (int)call->items, 0);
  for (int i = 1; tm_item_next(&r, &item); i++) {
    lua_pushlstring(L, item.path, item.path_len);
    lua_rawseti(L, -2, i);
  }
}

/* Pushes a data frame over memory outside Lua, and keeps its lease until end_frame(). */
static void push_frame(lua_State *L, struct script *s, const struct tm_data_frame *frame)
{
  tm_lua_frame_push(L, frame); /* [lease, frame] */
  lua_pushvalue(L, -2);
  lua_rawseti(L, LUA_REGISTRYINDEX, s->lease_ref);
  lua_remove(L, -2);
}

/* From now on, the frame that run() got raises when it is used. */
static void end_frame(struct script *s)
{
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->lease_ref);
  if (!lua_isboolean(s->L, -1))
    tm_lua_frame_end(s->L, -1);
  lua_pop(s->L, 1);
}

/* Pushes what the hook gets as its mini-batch. */
static void push_items(lua_State *L, struct script *s, const struct tm_run_call *call)
{
  if (s->given_ref != LUA_NOREF)
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->given_ref);
  else if (call->frame)
    push_frame(L, s, call->frame);
  else
    push_mini_batch(L, call);
}

static int prefetch_body(lua_State *L) /* (struct run *) */
{
  struct run *run = lua_touserdata(L, 1);
  struct script *s = run->script;
  tm_lua_memory_set_on(&s->memory, true);
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->hooks[HOOK_PREFETCH]);
  push_items(L, s, run->call);
  lua_pushvalue(L, -1);
  run->prefetched->mini_batch_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  tm_lua_context_push_ahead(L, &s->context, run->call);
  lua_call(L, 2, 1);
  run->prefetched->returned_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

int tm_lua_script_prefetch(void *data, const struct tm_run_call *of, struct tm_script_error *error)
{
  struct script *s = data;
  struct tm_lua_prefetched *p = tm_lua_prefetched_new(&s->prefetches, of->seq);
  struct run run = { .script = s, .call = of, .prefetched = p };
  tm_lua_begun_keep(&s->begun);
  lua_pushcfunction(s->L, prefetch_body);
  lua_pushlightuserdata(s->L, &run);
  int code = tm_lua_script_call(s, 1, HOOK_PREFETCH, TM_RUN_EXCEPTION, TM_LOAD_TIMEOUT, error);
  tm_lua_context_end(&s->context); /* also if filling it has raised */
  tm_lua_begun_move(&s->begun, &p->begun);
  if (code < 0)
    tm_lua_prefetched_end(s->L, p);
  if (code < 0 && of->frame)
    end_frame(s);
  return code;
}

void tm_lua_script_drop(void *data, uint64_t seq)
{
  struct script *s = data;
  struct tm_lua_prefetched *p = tm_lua_prefetched_find(&s->prefetches, seq);
  if (p)
    tm_lua_prefetched_end(s->L, p);
}

/* Adds rows for the first of the `n` values from 2 up. */
static int add_returned(lua_State *L, struct run *run, int n)
{
  const struct tm_setup *setup = run->script->setup;
  struct tm_buf *rows = setup->append_row ? run->rows : NULL;
  struct tm_extras *extras = run->call->extras;
  struct tm_lua_rows lines = { rows, setup->escapes_line_breaks, setup->separator != ' ',
                               extras ? &extras->faults : NULL };
  struct tm_lua_frame_rows to = { .separator = (char)setup->separator,
                                  .escapes = setup->escapes_line_breaks,
                                  .rows = rows,
                                  .columns = rows && extras ? &extras->columns : NULL };
  if (n > 0 && lua_istable(L, 2))
    return tm_lua_rows_add(L, 2, &lines, &run->returned, &run->err);
  if (n > 0 && tm_lua_is_frame(L, 2))
    return tm_lua_frame_rows(L, 2, &to, &run->returned, &run->err);
  return tm_lua_rows_refuse(L, 2, n, &run->err);
}

int tm_lua_script_run_body(lua_State *L) /* (struct run *) */
{
  struct run *run = lua_touserdata(L, 1);
  struct script *s = run->script;
  tm_lua_memory_set_on(&s->memory, true);
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->hooks[HOOK_RUN]);
  if (run->prefetched)
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->prefetched->mini_batch_ref);
  else
    push_items(L, s, run->call);
  tm_lua_context_push(L, &s->context, run->call);
  if (run->prefetched)
    tm_lua_context_set_prefetched(L, &s->context, run->prefetched->returned_ref);
  lua_call(L, 2, LUA_MULTRET); /* [run, returned ...] */
  if (run->prefetched)         /* keeps (3) */
    tm_lua_context_set_prefetched(L, &s->context, LUA_NOREF);
  int n = lua_gettop(L) - 1;
  lua_settop(L, n < 2 ? n + 1 : 3); /* looks at no more values than this */
  if (s->is_guest && n > 0) {
    lua_pushvalue(L, 2);
    s->returned_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  run->is_wrong = add_returned(L, run, n) < 0;
  return 0;
}

int tm_lua_script_run(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                      uint32_t *returned, struct tm_script_error *error)
{
  struct script *s = data;
  struct run run;
  struct tm_lua_error e = { 0 };
  size_t begin = rows->len;
  run.script = s; /* sets single fields: `err` is large, and needed only for errors */
  run.call = call;
  run.prefetched = s->has_prefetch ? tm_lua_prefetched_find(&s->prefetches, call->seq) : NULL;
  run.rows = rows;
  run.returned = 0;
  run.is_wrong = false;
  tm_lua_begun_keep(&s->begun);
  if (run.prefetched)
    tm_lua_begun_move(&run.prefetched->begun, &s->begun);
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->run_body_ref);
  lua_pushlightuserdata(s->L, &run);
  tm_lua_interrupt_enter(&s->interrupt);
  int code = tm_lua_pcall(s->L, 1, 0, &e);
  tm_lua_memory_set_on(&s->memory, false);
  bool is_interrupted = tm_lua_interrupt_leave(&s->interrupt);
  tm_lua_context_end(&s->context); /* keeps (3) */
  tm_lua_begun_end(&s->begun);
  if (run.prefetched)
    tm_lua_prefetched_end(s->L, run.prefetched);
  if (call->frame)
    end_frame(s);
  *returned = run.returned;
  if (is_interrupted) {
    rows->len = begin; /* keeps (2) */
    tm_lua_error_release(&e);
    return tm_lua_script_give_interrupted(s, error, TM_RUN_TIMEOUT);
  }
  if (code == 0 && !run.is_wrong)
    return 0;
  rows->len = begin; /* keeps (2) */
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->hooks[HOOK_RUN]);
  if (code == 0) { /* no line raised it, so the place is the definition of run() */
    tm_lua_add_place(s->L, false, &error->where);
    return tm_lua_script_give_words(error, TM_RUN_WRONG_RETURN, &run.err);
  }
  tm_lua_error_place_tail(s->L, &e);
  return tm_lua_script_give_error(s, error, TM_RUN_EXCEPTION, &e);
}

/* Leaves the mini-batch for tm_lua_script_guest_run(), which is not called if this fails. */
int tm_lua_script_guest_prefetch(void *data, const struct tm_run_call *call,
                                 struct tm_script_error *error)
{
  struct script *s = data;
  tm_require(s->is_guest && s->given_ref == LUA_NOREF);
  lua_pushvalue(s->L, -1);
  s->given_ref = luaL_ref(s->L, LUA_REGISTRYINDEX);
  int code = tm_lua_script_prefetch(s, call, error);
  luaL_unref(s->L, LUA_REGISTRYINDEX, s->given_ref);
  s->given_ref = LUA_NOREF;
  if (code < 0)
    lua_pop(s->L, 1);
  return code;
}

int tm_lua_script_guest_run(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                            uint32_t *returned, struct tm_script_error *error)
{
  struct script *s = data;
  tm_require(s->is_guest && s->given_ref == LUA_NOREF && s->run_body_ref != LUA_NOREF);
  s->given_ref = luaL_ref(s->L, LUA_REGISTRYINDEX);
  s->returned_ref = LUA_NOREF;
  int code = tm_lua_script_run(s, call, rows, returned, error);
  luaL_unref(s->L, LUA_REGISTRYINDEX, s->given_ref);
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->returned_ref); /* LUA_NOREF: nil */
  luaL_unref(s->L, LUA_REGISTRYINDEX, s->returned_ref);
  s->given_ref = s->returned_ref = LUA_NOREF;
  return code;
}
