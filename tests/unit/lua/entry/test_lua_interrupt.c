/* test_lua_interrupt.c - a poke interrupts loops in user code, and both users share LuaJIT's only
 * profiler. */
#include "unit.h"

#include "script_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include <lauxlib.h>

#include "lua/bind/stoppable.h"
#include "sys/alarm.h"

static struct fixture f;

static bool awaits_c;       /* no alarm is sent before wait_in_c() waits */
static atomic_bool is_in_c; /* it does */

static int setup(void **state)
{
  awaits_c = false;
  fixture_init(&f);
  return 0;
}

static int teardown(void **state)
{
  tm_alarm_release();
  fixture_release(&f);
  return 0;
}

static void on_alarm(void *data)
{
  f.script.interrupt(f.script.data);
}

/* Sends alarms to the script's thread until it is told to stop, as a keeper does. */
struct keeper {
  pthread_t thread;
  atomic_bool is_over;
};

static void *keep(void *data)
{
  struct keeper *k = data;
  while (!atomic_load(&k->is_over)) {
    sched_yield();
    if (!awaits_c || atomic_load(&is_in_c))
      tm_alarm_send(getpid());
  }
  return NULL;
}

/* Checks that an interruption ends run(), with `words` in its stack. */
static void expect_interrupted(const char *words)
{
  struct keeper k = { .is_over = false };
  atomic_store(&is_in_c, false);
  tm_alarm_catch(SIGALRM, on_alarm, NULL);
  assert_int_equal(pthread_create(&k.thread, NULL, keep, &k), 0);
  int code = fixture_run(&f, 1);
  atomic_store(&k.is_over, true);
  pthread_join(k.thread, NULL);
  tm_alarm_release();
  assert_true(code < 0);
  assert_int_equal(f.error.status, TM_RUN_TIMEOUT);
  assert_string_equal(tm_buf_str(&f.error.message), "run() was interrupted");
  if (strstr(tm_buf_str(&f.error.stack), words) == NULL)
    assert_string_equal(tm_buf_str(&f.error.stack), words);
  assert_int_equal(f.rows.len, 0);
}

static void load(const char *source)
{
  assert_int_equal(fixture_load(&f, source), 0);
  f.script.arm(f.script.data);
}

static void a_loop_is_interrupted_many_times_in_one_state(void **state)
{
  load("function run(mini_batch, context)\n"
       "  if context.try == 2 then return { 'good' } end\n"
       "  local x = 0\n"
       "  while true do x = x + 1 end\n"
       "end\n");
  for (int i = 0; i < 50; i++)
    expect_interrupted("score.lua:");
  f.call.try = 2;
  expect_rows(&f, 1, "good\n");
}

static void an_error_that_is_caught_comes_again(void **state)
{
  load("local caught = 0\n"
       "function run()\n"
       "  while true do\n"
       "    if not pcall(function() while true do end end) then caught = caught + 1 end\n"
       "  end\n"
       "end\n");
  for (int i = 0; i < 20; i++)
    expect_interrupted("score.lua:");
}

static void a_call_that_still_returns_was_interrupted(void **state)
{
  load("function run() return pcall(function() while true do end end) end\n");
  expect_interrupted("score.lua:1");
}

static int do_nothing(lua_State *L)
{
  return 0;
}

/* Interrupts, calls a C function, then its argument. */
static int interrupt_and_call(lua_State *L)
{
  f.script.interrupt(f.script.data);
  lua_pushcfunction(L, do_nothing);
  lua_call(L, 0, 0);
  lua_call(L, 0, 0);
  return 0;
}

static void what_has_no_line_of_the_script_is_interrupted_later(void **state)
{
  load("function run() return interrupt_and_call(function()\n"
       "  while true do end end) end\n");
  lua_register(tm_lua_script_state(&f.script), "interrupt_and_call", interrupt_and_call);
  assert_true(fixture_run(&f, 1) < 0);
  assert_int_equal(f.error.status, TM_RUN_TIMEOUT);
  assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:1");
  assert_non_null(strstr(tm_buf_str(&f.error.stack), "score.lua:1: in function"));
}

static int spin_until_stopped(void *data)
{
  atomic_store(&is_in_c, true);
  while (!atomic_load((atomic_bool *)data))
    ;
  return 0;
}

/* A C function of ours: it waits until it is stopped, and then raises an error of its own. */
static int wait_in_c(lua_State *L)
{
  atomic_bool is_stopped = false;
  struct tm_lua_stoppable call = { spin_until_stopped, tm_running_call_set_flag, &is_stopped };
  tm_lua_call_stoppable(L, &call);
  return luaL_error(L, "the library says: terminated by the user");
}

/* The same, but the interruption comes before the call. */
static int wait_late(lua_State *L)
{
  f.script.interrupt(f.script.data);
  return wait_in_c(L);
}

static void load_waiting(const char *source)
{
  awaits_c = true;
  assert_int_equal(fixture_load(&f, source), 0); /* not armed: only Lua code needs that */
  lua_register(tm_lua_script_state(&f.script), "wait_in_c", wait_in_c);
  lua_register(tm_lua_script_state(&f.script), "wait_late", wait_late);
}

static void a_call_in_c_is_stopped_and_the_line_of_the_script_reported(void **state)
{
  load_waiting("function run(mini_batch, context)\n"
               "  if context.try == 2 then return { 'good' } end\n"
               "  wait_in_c()\n"
               "  return {}\n"
               "end\n");
  for (int i = 0; i < 20; i++) {
    expect_interrupted("score.lua:3");
    assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:3");
  }
  f.call.try = 2;
  expect_rows(&f, 1, "good\n");
}

static void a_stopped_call_whose_error_is_caught_is_interrupted_again(void **state)
{
  load_waiting("function run()\n"
               "  while true do pcall(wait_in_c) end\n"
               "end\n");
  expect_interrupted("score.lua:2");
}

static void a_call_in_c_is_not_begun_after_an_interruption(void **state)
{
  load_waiting("function run()\n"
               "  local n = wait_late()\n"
               "  return n\n"
               "end\n");
  assert_true(fixture_run(&f, 1) < 0);
  assert_int_equal(f.error.status, TM_RUN_TIMEOUT);
  assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:2");
}

/* Its frame is gone from the stack. */
static void a_tail_call_in_c_is_interrupted_and_its_line_reported(void **state)
{
  load_waiting("function run(mini_batch)\n"
               "  local n = #mini_batch\n"
               "  return wait_in_c(n)\n"
               "end\n");
  expect_interrupted("");
  assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:3");
}

/* fixture_load() has called init() before. */
static void expect_init_interrupted(const char *init, const char *where)
{
  char *source = tm_xprintf("%s\nfunction run() end\n", init);
  load_waiting(source);
  free(source);
  struct keeper k = { .is_over = false };
  atomic_store(&is_in_c, false);
  tm_alarm_catch(SIGALRM, on_alarm, NULL);
  assert_int_equal(pthread_create(&k.thread, NULL, keep, &k), 0);
  int code = f.script.init(f.script.data, &f.error);
  atomic_store(&k.is_over, true);
  pthread_join(k.thread, NULL);
  assert_true(code < 0);
  assert_int_equal(f.error.status, TM_INIT_TIMEOUT);
  assert_string_equal(tm_buf_str(&f.error.where), where);
}

static void a_call_in_c_within_init_is_stopped(void **state)
{
  expect_init_interrupted("function init() if wait_in_c then wait_in_c() end end",
                          "my/score.lua:1");
  expect_init_interrupted("function init()\n"
                          "  if not wait_in_c then return end\n"
                          "  return wait_in_c()\n"
                          "end",
                          "my/score.lua:3");
}

static void nothing_happens_outside_of_user_code(void **state)
{
  load("function run() return { 'good' } end\n");
  for (int i = 0; i < 10; i++)
    f.script.interrupt(f.script.data);
  expect_rows(&f, 1, "good\n");
}

static void init_is_interrupted_too(void **state)
{
  fixture_write(&f, "score.lua", "function init() while true do end end function run() end");
  assert_int_equal(tm_lua_script_open(&f.script, tm_lua_modules(), NULL), 0);
  f.script.arm(f.script.data);
  assert_int_equal(f.script.load(f.script.data, &f.setup, &f.has_no_run, &f.error), 0);
  struct keeper k = { .is_over = false };
  tm_alarm_catch(SIGALRM, on_alarm, NULL);
  assert_int_equal(pthread_create(&k.thread, NULL, keep, &k), 0);
  int code = f.script.init(f.script.data, &f.error);
  atomic_store(&k.is_over, true);
  pthread_join(k.thread, NULL);
  assert_true(code < 0);
  assert_int_equal(f.error.status, TM_INIT_TIMEOUT);
  assert_string_equal(tm_buf_str(&f.error.message), "init() was interrupted");
}

static void recover_is_given_the_reason(void **state)
{
  load("local reason\n"
       "function recover(r) reason = r if r == 'bad' then error 'no' end end\n"
       "function run() return { reason } end\n");
  assert_int_equal(f.script.recover(f.script.data, "why", &f.error), 0);
  expect_rows(&f, 1, "why\n");
  assert_true(f.script.recover(f.script.data, "bad", &f.error) < 0);
  assert_string_equal(tm_buf_str(&f.error.message), "no");
  load("function run() return {} end\n");
  assert_int_equal(f.script.recover(f.script.data, "why", &f.error), 1);
}

static void a_tick_after_a_users_stop_ends_nobody(void **state)
{
  load("local profile = require 'jit.profile'\n"
       "function run()\n"
       "  profile.start('fi1', function() end)\n"
       "  profile.start('li2', function() end)\n"
       "  profile.stop()\n"
       "  profile.stop()\n"
       "  return { type(profile.dumpstack('l', 1)) }\n"
       "end\n");
  expect_rows(&f, 1, "string\n");
  tm_tick_raise();
  fixture_close(&f);
  tm_tick_raise(); /* also not after the state is closed */
}

static void a_failing_user_function_is_reported_and_skipped(void **state)
{
  load("local profile, n = require 'jit.profile', 0\n"
       "function run()\n"
       "  profile.start('li1', function() n = n + 1 error 'in it' end)\n"
       "  local stop = os.clock() + 0.1\n"
       "  repeat until os.clock() > stop\n"
       "  profile.stop()\n"
       "  return { n }\n"
       "end\n");
  expect_rows(&f, 1, "1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
UNIT_TESTS({
    TEST(a_loop_is_interrupted_many_times_in_one_state),
    TEST(an_error_that_is_caught_comes_again),
    TEST(a_call_that_still_returns_was_interrupted),
    TEST(what_has_no_line_of_the_script_is_interrupted_later),
    TEST(a_call_in_c_is_stopped_and_the_line_of_the_script_reported),
    TEST(a_stopped_call_whose_error_is_caught_is_interrupted_again),
    TEST(a_call_in_c_is_not_begun_after_an_interruption),
    TEST(a_tail_call_in_c_is_interrupted_and_its_line_reported),
    TEST(a_call_in_c_within_init_is_stopped),
    TEST(nothing_happens_outside_of_user_code),
    TEST(init_is_interrupted_too),
    TEST(recover_is_given_the_reason),
    TEST(a_tick_after_a_users_stop_ends_nobody),
    TEST(a_failing_user_function_is_reported_and_skipped),
});
