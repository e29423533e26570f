/* test_host_lua.c - a host and Lua: its own functions and values in pipeline files, its access to
 * the state, tidemill's modules in a state of its own. */
#include "host.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static int host_double(lua_State *L)
{
  lua_pushnumber(L, 2 * luaL_checknumber(L, 1));
  return 1;
}

static void add_global(lua_State *L, void *data)
{
  int *calls = data;
  ++*calls;
  lua_pushinteger(L, 3);
  lua_setglobal(L, "from_host");
}

static void raise_it(lua_State *L, void *data)
{
  luaL_error(L, "the host is not ready");
}

static const char *const uses_host =
    "local host, t = require 'host', require 'tidemill'\n"
    "assert(from_host == 3 and host.double(4) == 8 and host.settings.list[2] == 'b')\n"
    "return t.Pipeline { name = host.settings.name, steps = { t.ParallelRunStep { name = 'score',\n"
    "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua' },\n"
    "  inputs = t.Dataset.File.from_files 'in/*' } } }\n";

static void a_pipeline_file_sees_what_the_host_adds(void **state)
{
  struct host h;
  int calls = 0;
  char name[256];
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "p.lua", name);
  host_must(&h, tidemill_runtime_add_function(h.rt, "double", host_double, &h.err));
  assert_int_equal(tidemill_runtime_add_function(h.rt, "double", host_double, &h.err),
                   TIDEMILL_EUSAGE);
  assert_true(tidemill_runtime_add_value(h.rt, "settings", "{", &h.err) < 0);
  assert_non_null(strstr(h.err.text, "'settings'"));
  host_must(&h, tidemill_runtime_add_value(
                    h.rt, "settings", "{\"name\": \"of-host\", \"list\": [\"a\", \"b\"]}", &h.err));
  tidemill_runtime_on_lua(h.rt, add_global, &calls);
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, uses_host, name, &h.err));
  assert_string_equal(tidemill_pipeline_name(h.pipeline), "of-host");
  assert_int_equal(calls, 1);
  tidemill_pipeline_free(h.pipeline);
  tidemill_runtime_on_lua(h.rt, raise_it, NULL);
  assert_int_equal(tidemill_pipeline_load_string(&h.pipeline, h.rt, uses_host, name, &h.err),
                   TIDEMILL_EUSAGE);
  assert_non_null(strstr(h.err.text, "the host is not ready"));
  host_end(&h);
}

static void close_it(lua_State *L, void *data)
{
  struct host *h = data;
  h->events++;
  assert_int_equal(tidemill_runtime_close(h->rt, &h->err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(h->err.text, "within a callback"));
}

static void close_from_log(enum tidemill_level level, const char *text, void *data)
{
  close_it(NULL, data);
}

static void a_runtime_is_not_closed_from_within_a_load(void **state)
{
  struct host h;
  host_setup(&h, "good", 1, NULL);
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  o.on_log = close_from_log;
  o.data = &h;
  host_runtime(&h, &o);
  tidemill_runtime_on_lua(h.rt, close_it, &h);
  assert_true(tidemill_pipeline_load_string(&h.pipeline, h.rt, "print 'x'", "", &h.err) < 0);
  assert_int_equal(h.events, 2);
  host_end(&h);
}

static const char *const submits =
    "local t = require 'tidemill'\n"
    "local dir, kinds = ..., {}\n"
    "local p = t.Pipeline { name = 'lua', steps = { t.ParallelRunStep { name = 'score',\n"
    "  parallel_run_config = t.ParallelRunConfig { entry_script = dir .. '/score.lua', "
    "mini_batch_size = 1,\n"
    "    process_count_per_node = t.PipelineParameter { name = 'workers', default_value = 2 } },\n"
    "  inputs = t.Dataset.File.from_files(dir .. '/in/*') } } }\n"
    "local job = p:submit { job_dir = dir .. '/job', parameters = { workers = 1 },\n"
    "  on_event = function(e) kinds[e.kind] = (kinds[e.kind] or 0) + 1 end }\n"
    "assert(job:status() == 'Running' and next(kinds) == nil)\n"
    "assert(job:wait() == 'Completed')\n"
    "assert(kinds.state == 2 and kinds.mini_batch == 3 and kinds.step == 2 and kinds.progress >= "
    "1)\n"
    "assert(job:progress().succeeded == 3 and job:result().steps[1].items.total == 3)\n"
    "assert(io.open(job:output()):read '*a':gsub('good', '') == '.000\\n.001\\n.002\\n')\n"
    "local ok, words = pcall(p.submit, p, { jobdir = 1 })\n"
    "assert(not ok and words:find \"did you mean 'job_dir'\", words)\n"
    "ok, words = pcall(p.submit, p, { job_dir = dir .. '/job' })\n"
    "assert(not ok and words:find 'holds a job that pid %d+ is running.*`job_dir`', words)\n"
    "job:close()\n"
    "assert(not pcall(job.status, job))\n"
    "local failing = p:submit { on_event = function() error 'in the callback' end }\n"
    "ok, words = pcall(failing.wait, failing)\n"
    "assert(not ok and words:find 'in the callback', words)\n"
    "local left = p:submit()\n" /* runs when the state is closed */
    "assert(tostring(left):find '^job .lua.: Running')\n";

static void run_in_own_state(struct host *h, struct tidemill_runtime *rt)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  host_must(h, tidemill_lua_open(L, rt, &h->err));
  assert_int_equal(lua_gettop(L), 0);
  if (luaL_loadstring(L, submits) != 0)
    fail_msg("%s", lua_tostring(L, -1));
  lua_pushstring(L, h->dir);
  if (lua_pcall(L, 1, 0, 0) != 0)
    fail_msg("%s", lua_tostring(L, -1));
  lua_close(L);
}

static void a_lua_state_of_the_host_submits_to_its_runtime(void **state)
{
  struct host h;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  run_in_own_state(&h, h.rt);
  host_must(&h, tidemill_runtime_run(h.rt, 0, &h.err)); /* no job is running */
  host_end(&h);
}

static void a_state_without_a_runtime_makes_one(void **state)
{
  struct host h;
  char workspace[256];
  host_setup(&h, "good", 3, NULL);
  host_path(&h, "ws", workspace);
  setenv("TIDEMILL_WORKSPACE", workspace, 1);
  run_in_own_state(&h, NULL);
  unsetenv("TIDEMILL_WORKSPACE");
  host_end(&h);
}

static void a_pipeline_on_a_stack_is_submitted(void **state)
{
  struct host h;
  lua_State *L = luaL_newstate();
  char name[256], text[1200];
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "none.lua", name);
  luaL_openlibs(L);
  host_must(&h, tidemill_lua_open(L, h.rt, &h.err));
  snprintf(text, sizeof text, host_text, h.dir);
  assert_int_equal(luaL_dostring(L, text), 0);
  host_must(&h, tidemill_pipeline_from_lua(&h.pipeline, h.rt, L, -1, name, &h.err));
  assert_int_equal(lua_gettop(L), 1);
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  lua_close(L); /* the job no longer needs the state */
  host_wait(&h);
  assert_int_equal(h.done, 3);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_pipeline_file_sees_what_the_host_adds),
    cmocka_unit_test(a_runtime_is_not_closed_from_within_a_load),
    cmocka_unit_test(a_lua_state_of_the_host_submits_to_its_runtime),
    cmocka_unit_test(a_state_without_a_runtime_makes_one),
    cmocka_unit_test(a_pipeline_on_a_stack_is_submitted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
