/* test_keeper_memory.c - a node that is short of memory: the keeper starts no further worker and
 * reports it. A file gives the test's readings. */
#include "unit.h"

#include "rig.h"

#include <stdio.h>

#include "node/node_own.h"

#define TOTAL         (INT64_C(8192) << 20)
#define PLENTY        (INT64_C(4096) << 20)
#define FILE_VARIABLE "TM_TEST_MEMORY"

static bool read_memory(struct tm_memory *out)
{
  long long available;
  FILE *file = fopen(getenv(FILE_VARIABLE), "r");
  bool ok = file != NULL && fscanf(file, "%lld", &available) == 1;
  if (file != NULL)
    fclose(file);
  *out = (struct tm_memory) { .total = TOTAL, .available = ok ? available : 0 };
  return ok;
}

static int64_t read_kills(void)
{
  return 0;
}

static bool log_names(pid_t pid, int64_t since_ns)
{
  return false;
}

static void set_available(int64_t bytes)
{
  char text[32];
  int n = snprintf(text, sizeof text, "%lld\n", (long long)bytes);
  assert_int_equal(
      tm_fs_write_file(tm_fs_real(), getenv(FILE_VARIABLE), text, (size_t)n, 0644, NULL), 0);
}

static int setup(void **state)
{
  char name[] = "/tmp/tm_keeper_memory_XXXXXX";
  int fd = mkstemp(name);
  assert_true(fd >= 0);
  close(fd);
  setenv(FILE_VARIABLE, name, 1);
  return 0;
}

static int teardown(void **state)
{
  return unlink(getenv(FILE_VARIABLE));
}

static void ask_for(struct rig *r, uint32_t worker)
{
  char *name = tm_xprintf("process%u", worker);
  rig_send(r, TM_MSG_START, 0, worker, name, strlen(name));
  free(name);
}

static void expect_note(struct rig *r, const char *words)
{
  const struct tm_msg *f = rig_wait(r, TM_MSG_NOTE, 0);
  char *text = tm_xstrndup(f->payload, f->length);
  if (strstr(text, words) == NULL)
    assert_string_equal(text, words);
  free(text);
}

static void a_requested_worker_waits_until_there_is_memory(void **state)
{
  struct rig r;
  set_available(PLENTY);
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  set_available(TOTAL / 20 - 1);
  ask_for(&r, 1);
  expect_note(&r, "no further worker is started until there is more memory: 409 MB of 8192 MB");
  set_available(TOTAL / 20 + 1); /* not yet: it needs half as much again */
  rig_wait_ready(&r, 0);
  assert_false(rig_has(&r, TM_MSG_STARTED));
  set_available(PLENTY);
  expect_note(&r, "there is memory again, and workers are started: 4096 MB");
  rig_wait(&r, TM_MSG_STARTED, 1);
  rig_close(&r);
}

static void without_a_worker_one_is_started_all_the_same(void **state)
{
  struct rig r;
  struct tm_ended e;
  set_available(1 << 20);
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  ask_for(&r, 1);
  ask_for(&r, 2);
  rig_send(&r, TM_MSG_KILL, 0, 0, NULL, 0);
  rig_wait_ended(&r, 0, &e);
  rig_wait(&r, TM_MSG_STARTED, 1); /* replaces the earlier one */
  assert_false(rig_has(&r, TM_MSG_STARTED));
  rig_close(&r);
}

static void a_waiting_worker_that_is_no_longer_needed_is_not_started(void **state)
{
  struct rig r;
  set_available(1 << 20);
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  ask_for(&r, 1);
  rig_send(&r, TM_MSG_KILL, 0, 1, NULL, 0);
  const struct tm_msg *f = rig_wait(&r, TM_MSG_START_FAILED, 1);
  assert_non_null(memmem(f->payload, f->length, "not wanted now", 14));
  set_available(PLENTY);
  ask_for(&r, 2);
  rig_wait(&r, TM_MSG_STARTED, 2);
  rig_close(&r);
}

static void it_is_short_below_a_part_of_the_whole(void **state)
{
  static const int64_t MB = 1 << 20;
  struct tm_memory m = { .total = 8000 * MB, .available = 400 * MB };
  assert_false(tm_keeper_is_short(false, &m));
  m.available--;
  assert_true(tm_keeper_is_short(false, &m));
  m.available = 600 * MB - 1;
  assert_true(tm_keeper_is_short(true, &m));
  m.available = 600 * MB;
  assert_false(tm_keeper_is_short(true, &m));
  m = (struct tm_memory) { .total = 256 * MB, .available = 64 * MB };
  assert_false(tm_keeper_is_short(false, &m)); /* at least 64 MB ... */
  m.available--;
  assert_true(tm_keeper_is_short(false, &m));
  m = (struct tm_memory) { .total = 1000000 * MB, .available = 1024 * MB };
  assert_false(tm_keeper_is_short(false, &m)); /* ... at most 1 GB */
  m.available--;
  assert_true(tm_keeper_is_short(false, &m));
}

static int serve(int argc, char **argv)
{
  static const struct tm_keeper_readings readings = { read_memory, read_kills, log_names };
  return strcmp(argv[1], "keeper") == 0 ? tm_keeper_run_with(&readings) : rig_serve(argc, argv);
}

UNIT_HOOKS(.serve = serve);
UNIT_TESTS({
    cmocka_unit_test(it_is_short_below_a_part_of_the_whole),
    cmocka_unit_test_setup_teardown(a_requested_worker_waits_until_there_is_memory, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(without_a_worker_one_is_started_all_the_same, setup, teardown),
    cmocka_unit_test_setup_teardown(a_waiting_worker_that_is_no_longer_needed_is_not_started, setup,
                                    teardown),
});
