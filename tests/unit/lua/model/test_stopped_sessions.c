/* test_stopped_sessions.c - scripts that a signal interrupts while a real model runs, with each
 * version that tests have: afterwards the session gives right results. */
#include "unit.h"

#include "script_fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "onnxruntime/versions.h"
#include "sys/alarm.h"

#define STOPS 200

/* A loop of small operators: each step moves the columns by one and adds 1. The product is large
 * enough for two threads. The session takes its number of threads from the mini-batch. */
static const char source[] =
    "local onnx, tensor = require 'tidemill.onnx', require 'tidemill.tensor'\n"
    "local N = 96\n"
    "local moved, first = {}, {}\n"
    "for i = 0, N * N - 1 do\n"
    "  local row, column = math.floor(i / N), i % N\n"
    "  moved[i + 1] = column == (row + 1) % N and 1 or 0\n"
    "  first[i + 1] = i\n"
    "end\n"
    "local square = { N, N }\n"
    "local body = {\n"
    "  inputs = { { 'i', 'int64', {} }, { 'again', 'bool', {} }, { 'x', 'float32', square } },\n"
    "  outputs = { { 'on', 'bool', {} }, { 'more', 'float32', square } },\n"
    "  initializers = { { 'w', 'float32', square, moved }, { 'one', 'float32', {}, { 1 } } },\n"
    "  nodes = { { 'Identity', { 'again' }, { 'on' } }, { 'MatMul', { 'x', 'w' }, { 'm' } },\n"
    "    { 'Add', { 'm', 'one' }, { 'more' } } },\n"
    "}\n"
    "local path = SCRIPT_DIR .. '/moves.onnx'\n"
    "dofile(WRITER).write(path, {\n"
    "  inputs = { { 'steps', 'int64', {} } }, outputs = { { 'y', 'float32', square } },\n"
    "  initializers = { { 'go', 'bool', {}, { 1 } }, { 'x', 'float32', square, first } },\n"
    "  nodes = { { 'Loop', { 'steps', 'go', 'x' }, { 'y' }, attributes = { body = { graph = body }"
    " } } },\n"
    "})\n"
    "local session\n"
    "function init()\n"
    "  session = onnx.InferenceSession(path, { intra_op_num_threads = THREADS })\n"
    "end\n"
    "function run(mini_batch, context)\n"
    "  local is_endless = context.try == 1\n"
    "  local steps = is_endless and 1000000000000 or 3\n"
    "  local y = session:run(tensor.from_table('int64', steps))\n"
    "  for row = 1, N, 5 do\n"
    "    for column = 1, N do\n"
    "      local want = (row - 1) * N + (column - 1 - steps) % N + steps\n"
    "      if y:at(row, column) ~= want then\n"
    "        error(('%d, %d: %g'):format(row, column, y:at(row, column)))\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "  return { 'right' }\n"
    "end\n";

static struct fixture f;

static int setup(void **state)
{
  fixture_init(&f);
  return 0;
}

static int teardown(void **state)
{
  fixture_release(&f);
  return 0;
}

static void on_alarm(void *data)
{
  f.script.interrupt(f.script.data);
}

static void load(int threads)
{
  char *text = tm_xprintf("local THREADS, SCRIPT_DIR, WRITER = %d, '%s', '%s'\n%s", threads, f.dir,
                          TM_TESTS_DIR "/../examples/onnx_writer.lua", source);
  if (fixture_load(&f, text) < 0)
    fail_msg("%s", tm_buf_str(&f.error.message));
  f.script.arm(f.script.data);
  free(text);
}

/* One alarm after 1 to 1,000 microseconds: mostly within the model, sometimes before. It repeats,
 * as a keeper's does. */
static void interrupt_after(int microseconds)
{
  struct itimerval timer = { .it_value.tv_usec = microseconds, .it_interval.tv_usec = 20000 };
  static const struct itimerval off;
  f.call.try = 1;
  assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
  int code = fixture_run(&f, 1);
  assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
  assert_true(code < 0);
  if (f.error.status != TM_RUN_TIMEOUT)
    fail_msg("%s", tm_buf_str(&f.error.message));
  assert_string_equal(tm_buf_str(&f.error.message), "run() was interrupted");
}

static void gives_right_results(const char *library, int threads)
{
  setenv("TIDEMILL_ONNXRUNTIME", library, 1);
  load(threads);
  tm_alarm_catch(SIGALRM, on_alarm, NULL);
  for (int i = 0; i < STOPS; i++) {
    interrupt_after(1 + i * i * 7919 % 1000);
    f.call.try = 2;
    expect_rows(&f, 1, "right\n");
  }
  tm_alarm_release();
}

/* ---- an interruption at one place ---- */

/* A call that can be stopped writes here that it is armed (running_call.h). */
static _Atomic uint64_t *page;
static size_t page_size;

static void on_write(int signal)
{
  mprotect((void *)page, page_size, PROT_READ | PROT_WRITE);
  f.script.interrupt(f.script.data);
}

/* The interruption comes when the call is armed and has not begun: the stop finds nothing to stop,
 * and ends no later call. */
static void a_stop_before_the_call_is_forgotten(const char *library)
{
  struct sigaction action = { .sa_handler = on_write }, before;
  setenv("TIDEMILL_ONNXRUNTIME", library, 1);
  load(1);
  page_size = (size_t)sysconf(_SC_PAGESIZE);
  page = mmap(NULL, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(page != MAP_FAILED);
  assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
  *f.script.shown = page;
  f.call.try = 2;
  assert_true(fixture_run(&f, 1) < 0);
  assert_int_equal(f.error.status, TM_RUN_TIMEOUT);
  *f.script.shown = NULL;
  assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
  assert_int_equal(munmap((void *)page, page_size), 0);
  expect_rows(&f, 1, "right\n");
}

static void all_cases(const char *library)
{
  gives_right_results(library, 1);
  gives_right_results(library, 2);
  a_stop_before_the_call_is_forgotten(library);
}

static void the_oldest_version(void **state)
{
  const char *library;
  NEED_ONNXRUNTIME(library, "1_17");
  run_in_child(all_cases, library);
}

static void a_new_version(void **state)
{
  const char *library;
  NEED_ONNXRUNTIME(library, "1_30");
  all_cases(library);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS({
    CASE(the_oldest_version),
    CASE(a_new_version),
});
