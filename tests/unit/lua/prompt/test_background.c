/* test_background.c - jobs that run beside Lua: their events arrive whichever waiter wakes, and
 * they continue when Lua lacks memory. */
#include "unit.h"

#include "host.h"

#include <lauxlib.h>
#include <lualib.h>
#include <poll.h>

#include "lua/prompt/background.h"
#include "lua/prompt/lib_job.h"
#include "sys/threads.h"

#define ROUNDS 300

struct both {
  struct tm_background *background;
  struct tm_ear ear;
};

static void keep_and_wake(void *data)
{
  struct both *b = data;
  struct tidemill_event e = { .size = sizeof(e), .kind = TIDEMILL_EVENT_LOG, .text = "kept" };
  tm_background_keep(b->background, &b->ear, &e);
  tm_background_wake(b->background);
}

static bool is_readable(const struct tm_background *b)
{
  struct pollfd fd = { .fd = tm_background_fd(b), .events = POLLIN };
  return poll(&fd, 1, 0) == 1;
}

/* Ctrl-C ends a wait at the moment at which a job reports something: the next poll still gets it.
 */
static void events_kept_during_a_wake_are_delivered(void **state)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tidemill_runtime *rt;
  struct both b = { .ear = { .hears_all = true } };
  struct tm_thread t;
  struct tm_kept *k;
  o.program = "/bin/true";
  assert_int_equal(tidemill_runtime_new(&rt, &o, NULL), 0);
  assert_non_null(b.background = tm_background_new(rt, NULL));
  for (int i = 0; i < ROUNDS; i++) {
    assert_int_equal(tm_thread_start(&t, keep_and_wake, &b, NULL), 0);
    while (tm_background_wait(b.background, -1))
      ;
    tm_thread_join(&t);
    assert_true(is_readable(b.background));
    assert_non_null(k = tm_background_take(b.background));
    free(k);
    assert_null(tm_background_take(b.background)); /* there was a wake-up */
    assert_false(is_readable(b.background));
  }
  tm_background_free(b.background);
  assert_int_equal(tidemill_runtime_close(rt, NULL), 0);
}

/* Failing allocations. */

static struct {
  lua_Alloc below;
  void *below_data;
  int left; /* allocations that still succeed; negative: all */
} memory;

static void *grant(void *data, void *at, size_t old, size_t wanted)
{
  if (wanted > old && memory.left == 0)
    return NULL;
  memory.left -= wanted > old && memory.left > 0;
  return memory.below(memory.below_data, at, old, wanted);
}

static int set_left(lua_State *L)
{
  memory.left = (int)luaL_checkinteger(L, 1);
  return 0;
}

static const char *const asks =
    "local p, dir, set_left = ...\n"
    "local json = require 'tidemill.json'\n"
    "for n = 0, 60 do\n" /* frees what it holds for Lua, also when the first allocation fails */
    "  set_left(n)\n"
    "  pcall(json.decode, '{\"a\": [1, \"x\", {\"b\": true}]}')\n"
    "  set_left(-1)\n"
    "end\n"
    "local job, refused = p:submit { job_dir = dir .. '/job' }, 0\n"
    "for n = 0, 60 do\n"
    "  for _, ask in ipairs { job.steps, job.cause, job.progress, job.result, job.status } do\n"
    "    set_left(n)\n"
    "    local ok = pcall(ask, job)\n"
    "    set_left(-1)\n"
    "    refused = refused + (ok and 0 or 1)\n"
    "  end\n"
    "end\n"
    "assert(refused > 5, refused)\n"
    "assert(job:wait(120))\n";

/* When a request lacks memory for its answer, it has already released the jobs, which continue. */
static void a_lack_of_memory_leaves_the_jobs_alone(void **state)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tm_background *background;
  struct host h;
  char text[1200];
  lua_State *L = luaL_newstate();
  host_setup(&h, "good", 1, NULL);
  o.program = "/bin/true";
  host_runtime(&h, &o);
  assert_non_null(background = tm_background_new(h.rt, NULL));
  memory.below = lua_getallocf(L, &memory.below_data);
  memory.left = -1;
  luaL_openlibs(L);
  host_must(&h, tidemill_lua_open(L, h.rt, &h.err));
  tm_lua_set_beside(L, background);
  snprintf(text, sizeof text, host_text, h.dir);
  host_put(&h, "asks.lua", asks);
  assert_int_equal(chdir(h.dir), 0);
  assert_int_equal(luaL_loadfile(L, "asks.lua"), 0);
  if (luaL_dostring(L, text) != 0)
    fail_msg("%s", lua_tostring(L, -1));
  lua_pushstring(L, h.dir);
  lua_pushcfunction(L, set_left);
  lua_setallocf(L, grant, NULL);
  if (lua_pcall(L, 3, 0, 0) != 0)
    fail_msg("%s", lua_tostring(L, -1));
  assert_int_equal(chdir("/"), 0);
  lua_close(L);
  tm_background_free(background);
  host_end(&h);
}

UNIT_TESTS({
    cmocka_unit_test(events_kept_during_a_wake_are_delivered),
    cmocka_unit_test(a_lack_of_memory_leaves_the_jobs_alone),
});
