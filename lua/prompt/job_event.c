/* job_event.c - see job_event.h. */
#include "prompt/job_event.h"

void tm_lua_set_number(lua_State *L, const char *name, int64_t v)
{
  lua_pushnumber(L, (double)v);
  lua_setfield(L, -2, name);
}

void tm_lua_set_text(lua_State *L, const char *name, const char *v)
{
  if (v && *v) {
    lua_pushstring(L, v);
    lua_setfield(L, -2, name);
  }
}

void tm_lua_push_counts(lua_State *L, const struct tidemill_counts *c)
{
  lua_createtable(L, 0, 9);
  tm_lua_set_number(L, "created", c->created);
  lua_pushboolean(L, c->all_created);
  lua_setfield(L, -2, "all_created");
  tm_lua_set_number(L, "succeeded", c->succeeded);
  tm_lua_set_number(L, "failed", c->failed);
  tm_lua_set_number(L, "running", c->running);
  tm_lua_set_number(L, "items", c->items);
  tm_lua_set_number(L, "items_succeeded", c->items_succeeded);
  tm_lua_set_number(L, "items_failed", c->items_failed);
  tm_lua_set_number(L, "uncounted", c->uncounted);
}

static void add_mini_batch(lua_State *L, const struct tidemill_event *e)
{
  static const char *const outcomes[] = { "", "done", "failed", "retried" };
  tm_lua_set_number(L, "mini_batch", (int64_t)e->mini_batch);
  tm_lua_set_number(L, "try", e->try_number);
  tm_lua_set_number(L, "items", e->items);
  tm_lua_set_number(L, "items_succeeded", e->items_succeeded);
  tm_lua_set_number(L, "items_failed", e->items_failed);
  tm_lua_set_text(L, "outcome", outcomes[e->outcome]);
  tm_lua_set_text(L, "status", e->status);
  tm_lua_set_text(L, "first_item", e->first_item);
  lua_pushnumber(L, (double)e->run_ns / 1e9);
  lua_setfield(L, -2, "seconds");
}

static void add_kind(lua_State *L, const struct tidemill_event *e)
{
  static const char *const levels[] = { "debug", "info", "warning", "error" };
  static const char *const workers[] = { "", "started", "ready", "failed", "ended" };
  static const char *const nodes[] = { "",        "requested", "waiting", "ready",
                                       "leaving", "lost",      "ended" };
  switch (e->kind) {
  case TIDEMILL_EVENT_LOG: tm_lua_set_text(L, "level", levels[e->level]); break;
  case TIDEMILL_EVENT_WORKER:
    tm_lua_set_text(L, "state", workers[e->worker_state]);
    tm_lua_set_number(L, "pid", e->pid);
    break;
  case TIDEMILL_EVENT_MINI_BATCH: add_mini_batch(L, e); break;
  case TIDEMILL_EVENT_STATE:
  case TIDEMILL_EVENT_STEP: tm_lua_set_text(L, "state", tidemill_state_name(e->state)); break;
  case TIDEMILL_EVENT_NODE:
    tm_lua_set_text(L, "state", nodes[e->node_state]);
    tm_lua_set_text(L, "level", levels[e->level]);
    break;
  case TIDEMILL_EVENT_PROGRESS:
  case TIDEMILL_EVENT_ROWS: break;
  }
}

void tm_lua_push_event(lua_State *L, const struct tidemill_event *e)
{
  static const char *const kinds[] = { "",       "state", "progress", "step", "mini_batch",
                                       "worker", "log",   "",         "node" };
  lua_createtable(L, 0, 12);
  tm_lua_set_text(L, "kind", kinds[e->kind]);
  tm_lua_set_text(L, "step", e->step);
  tm_lua_set_text(L, "worker", e->worker);
  tm_lua_set_text(L, "node_id", e->node_id);
  tm_lua_set_text(L, "node_address", e->node_address);
  tm_lua_set_text(L, "text", e->text);
  tm_lua_set_text(L, "stack", e->stack);
  tm_lua_set_text(L, "where", e->where);
  add_kind(L, e);
  if (e->kind <= TIDEMILL_EVENT_STEP) {
    tm_lua_push_counts(L, e->counts);
    lua_setfield(L, -2, "counts");
  }
}
