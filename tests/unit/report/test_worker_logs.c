/* test_worker_logs.c - a line for each try, in its worker's file. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <unistd.h>

#include "report_fixture.h"

#include "report/worker_logs.h"

#define LOG "logs/sys/node/0/process003.txt"

static int add(struct tm_worker_logs *l, const struct report_fixture *f, const char *worker,
               struct tm_err *err)
{
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  e.worker = worker;
  return tm_worker_logs_add(l, &e, err);
}

static void a_line_says_all_of_a_try(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  assert_int_equal(add(&l, f, "process003", NULL), 0);
  f->attempt.status = TM_PROCESS_DIED;
  f->attempt.begin_wall_ns = 0;
  f->attempt.try = 2;
  f->attempt.part_first = 11;
  f->attempt.succeeded = 0;
  f->attempt.failed = 5;
  f->attempt.message = "killed by signal 9\nwithout a word";
  assert_int_equal(add(&l, f, "process003", NULL), 0);
  assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
  char *text = fixture_read(f, LOG);
  assert_string_equal(
      text,
      "2026-01-31 23:59:58,123|INFO|4711|process003|mini-batch 7, try 1: RUN_DONE; 5 items, 5 "
      "succeeded, 0 failed; began 2026-01-31 23:59:58,123, 1.234567 s, process 0.000999 s, run() "
      "1.200000 s; node 0 at host7\n"
      "2026-01-31 23:59:58,123|ERROR|4711|process003|mini-batch 7, try 2: PROCESS_DIED; 11 to 15 "
      "of its "
      "items: 5 items, 0 "
      "succeeded, 5 failed; 1.234567 s, process 0.000999 s, run() 1.200000 s; node 0 at host7: "
      "killed by signal 9\\nwithout a word\n");
  free(text);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
}

static void items_of_a_try_add_up(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  f->attempt.status = TM_RUN_EXCEPTION;
  f->attempt.is_final = false;
  f->attempt.succeeded = f->attempt.failed = 0;
  assert_int_equal(add(&l, f, "process003", NULL), 0);
  f->attempt.is_final = true;
  f->attempt.failed = 5;
  assert_int_equal(add(&l, f, "process003", NULL), 0);
  f->attempt.is_final = false;
  f->attempt.failed = 0;
  f->attempt.is_uncounted = true;
  assert_int_equal(add(&l, f, "process003", NULL), 0);
  assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
  char *text = fixture_read(f, LOG);
  assert_has(text, "5 items, 0 succeeded, 0 failed, 5 to be tried again; began");
  assert_has(text, "5 items, 0 succeeded, 5 failed; began");
  assert_has(text, "its rows were not counted, 0 succeeded, 0 failed; began");
  free(text);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
}

static void a_long_one_is_reported_once_before_its_end(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  struct tm_activity list[2] = { { .worker = "process003",
                                   .pid = 4711,
                                   .phase = TM_PHASE_RUN,
                                   .ns = TM_S - 1,
                                   .seq = 9,
                                   .index = 7,
                                   .try = 1,
                                   .first_item = (char *)"/data/a.pgm",
                                   .node_id = "0",
                                   .node_address = "host7" },
                                 { .worker = "process004", .phase = TM_PHASE_START, .ns = TM_S } };
  struct tm_activities now = { .list = { list, 2, 2 } };
  struct tm_event e = fixture_event(f, TM_EVENT_TICK);
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  assert_int_equal(tm_worker_logs_tick(&l, &e, &now, NULL), 0);
  assert_int_equal(l.logs.len, 0); /* neither has had a process for a second */
  list[0].ns = TM_S;
  for (int i = 0; i < 3; i++)
    assert_int_equal(tm_worker_logs_tick(&l, &e, &now, NULL), 0);
  list[0].seq = 10; /* the next try */
  list[0].try = 2;
  assert_int_equal(tm_worker_logs_tick(&l, &e, &now, NULL), 0);
  list[0].seq = 0;
  list[0].phase = TM_PHASE_SHUTDOWN;
  for (int i = 0; i < 3; i++)
    assert_int_equal(tm_worker_logs_tick(&l, &e, &now, NULL), 0);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
  char *text = fixture_read(f, LOG);
  assert_string_equal(
      text, "2026-01-31 23:59:58,123|INFO|4711|process003|mini-batch 7, try 1: begun "
            "2026-01-31 23:59:57,123, in run(), first item '/data/a.pgm'; node 0 at host7\n"
            "2026-01-31 23:59:58,123|INFO|4711|process003|mini-batch 7, try 2: begun "
            "2026-01-31 23:59:57,123, in run(), first item '/data/a.pgm'; node 0 at host7\n"
            "2026-01-31 23:59:58,123|INFO|4711|process003|in shutdown() since "
            "2026-01-31 23:59:57,123; node 0 at host7\n");
  free(text);
  assert_null(fixture_read(f, "logs/sys/node/0/process004.txt"));
}

static void at_warning_only_a_try_that_failed_has_a_line(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  l.level = TM_WARNING;
  assert_int_equal(add(&l, f, "process003", NULL), 0);
  assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
  assert_null(fixture_read(f, LOG));
  f->attempt.status = TM_RUN_EXCEPTION;
  assert_int_equal(add(&l, f, "process003", NULL), 0);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
  char *text = fixture_read(f, LOG);
  assert_int_equal(count_of(text, "\n"), 1);
  assert_has(text, "|ERROR|");
  free(text);
}

static void a_mini_batch_that_is_handed_out_has_a_line(void **state)
{
  struct report_fixture *f = *state;
  struct tm_event e = fixture_event(f, TM_EVENT_HANDED_OUT);
  struct tm_worker_logs l;
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  assert_int_equal(tm_worker_logs_add_handed(&l, &e, NULL), 0);
  f->attempt.items = 0; /* rows that nobody has counted */
  assert_int_equal(tm_worker_logs_add_handed(&l, &e, NULL), 0);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
  char *text = fixture_read(f, LOG);
  assert_string_equal(
      text,
      "2026-01-31 23:59:58,123|DEBUG|4711|process003|mini-batch 7, try 1: handed out, 5 items "
      "of input 'images', first '/data/a.pgm'\n"
      "2026-01-31 23:59:58,123|DEBUG|4711|process003|mini-batch 7, try 1: handed out, of "
      "input 'images', first '/data/a.pgm'\n");
  free(text);
}

static void each_worker_has_its_file(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  char name[64];
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 40; i++) {
      snprintf(name, sizeof(name), "process%03d", i);
      f->attempt.index = (uint64_t)i;
      add(&l, f, name, NULL);
      if (round == 1 && i % 3 == 0) /* it ends; a later try is not lost */
        assert_int_equal(tm_worker_logs_end(&l, name, NULL), 0);
    }
  assert_int_equal(tm_worker_logs_end(&l, "process999", NULL), 0); /* ended without a try */
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
  for (int i = 0; i < 40; i++) {
    char word[64];
    snprintf(name, sizeof(name), "logs/sys/node/0/process%03d.txt", i);
    snprintf(word, sizeof(word), "|process%03d|mini-batch %d, ", i, i);
    char *text = fixture_read(f, name);
    assert_int_equal(count_of(text, "\n"), 3);
    assert_int_equal(count_of(text, word), 3);
    free(text);
  }
  assert_null(fixture_read(f, "logs/sys/node/0/process999.txt"));
}

static size_t count_descriptors(void)
{
  DIR *dir = opendir("/proc/self/fd");
  size_t n = 0;
  assert_non_null(dir);
  while (readdir(dir))
    n++;
  closedir(dir);
  return n;
}

static void few_files_are_open_whatever_the_number_of_workers(void **state)
{
  enum { WORKERS = 3 * TM_WORKER_LOGS_OPEN_MAX + 1 };
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  char name[64];
  size_t before = count_descriptors();
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < WORKERS; i++) {
      snprintf(name, sizeof(name), "process%03d", i);
      if (round == 2 && i % 5 == 0) /* it makes room, whether its file is open or not */
        assert_int_equal(tm_worker_logs_end(&l, name, NULL), 0);
      f->attempt.index = (uint64_t)round;
      assert_int_equal(add(&l, f, name, NULL), 0);
      assert_true(count_descriptors() <= before + TM_WORKER_LOGS_OPEN_MAX);
    }
    assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
    assert_int_equal(count_descriptors(), before + TM_WORKER_LOGS_OPEN_MAX);
  }
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
  assert_int_equal(count_descriptors(), before);
  for (int i = 0; i < WORKERS; i++) {
    snprintf(name, sizeof(name), "logs/sys/node/0/process%03d.txt", i);
    char *text = fixture_read(f, name), *at = text;
    for (int round = 0; round < 4; round++) { /* in order, and none is lost */
      snprintf(name, sizeof(name), "|mini-batch %d, ", round);
      assert_non_null(at = strstr(at, name));
    }
    assert_int_equal(count_of(text, "\n"), 4);
    free(text);
  }
}

static void a_resting_file_that_is_removed_is_reported_once(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  struct tm_err err = TM_ERR_NONE;
  char name[64];
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  for (int i = 0; i <= TM_WORKER_LOGS_OPEN_MAX; i++) { /* the last one closes the first */
    snprintf(name, sizeof(name), "process%03d", i);
    assert_int_equal(add(&l, f, name, NULL), 0);
  }
  assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
  char *path = tm_xprintf("%s/sys/node/0/process000.txt", f->logs);
  assert_int_equal(unlink(path), 0); /* the last one that was written has closed it */
  add(&l, f, "process000", NULL);
  assert_int_equal(tm_worker_logs_flush(&l, &err), -ENOENT);
  assert_non_null(strstr(err.text, "process000.txt"));
  add(&l, f, "process000", NULL);
  assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
  assert_int_equal(access(path, F_OK), -1);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
  free(path);
}

#define LOG_MEMORY 560 /* bytes */

/* A job may have 100,000 workers. */
static void a_resting_file_takes_little_memory(void **state)
{
  enum { WORKERS = 1000 };
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  size_t before = mallinfo2().uordblks, each;
  char name[64];
  if (before == 0) /* a sanitizer's allocator does not count */
    skip();
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  for (int i = 0; i < WORKERS; i++) {
    snprintf(name, sizeof(name), "process%03d", i);
    assert_int_equal(add(&l, f, name, NULL), 0);
  }
  assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
  each = (mallinfo2().uordblks - before) / WORKERS;
  if (getenv("TM_SHOW"))
    print_message("each file: %d bytes\n", (int)each);
  assert_true(each <= LOG_MEMORY);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
}

static void only_workers_that_live_have_a_file_open(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  char name[64];
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  for (int i = 0; i < 3000; i++) { /* more than a process may open */
    snprintf(name, sizeof(name), "process%03d", i);
    assert_int_equal(add(&l, f, name, NULL), 0);
    assert_int_equal(tm_worker_logs_end(&l, name, NULL), 0);
    assert_int_equal(l.logs.len, 0);
  }
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
}

static void another_session_appends(void **state)
{
  struct report_fixture *f = *state;
  for (int i = 0; i < 2; i++) {
    struct tm_worker_logs l;
    tm_worker_logs_init(&l, tm_fs_real(), f->logs);
    add(&l, f, "process003", NULL);
    assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
  }
  char *text = fixture_read(f, LOG);
  assert_int_equal(count_of(text, "\n"), 2);
  free(text);
}

static void failed_writes_are_reported_only_once(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_worker_logs l;
  struct tm_err err = TM_ERR_NONE;
  full_disk_init(&disk, 0);
  tm_worker_logs_init(&l, &disk.fs, f->logs);
  assert_int_equal(add(&l, f, "process000", NULL), 0);
  assert_int_equal(add(&l, f, "process001", NULL), 0);
  assert_true(tm_worker_logs_flush(&l, &err) < 0);
  assert_has(err.text, "process000.txt': no space left on device");
  add(&l, f, "process000", NULL);
  assert_int_equal(add(&l, f, "process002", NULL), 0);
  assert_int_equal(tm_worker_logs_flush(&l, NULL), 0);
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
}

static void a_long_name_and_the_largest_numbers_fit(void **state)
{
  struct report_fixture *f = *state;
  struct tm_worker_logs l;
  char name[200];
  memset(name, 'w', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  f->attempt.index = INT64_MAX;
  f->attempt.try = UINT32_MAX;
  f->attempt.items = f->attempt.succeeded = f->attempt.failed = INT64_MIN;
  f->attempt.total_ns = f->attempt.cpu_ns = f->attempt.run_ns = INT64_MAX;
  f->attempt.status = TM_RUN_WRONG_RETURN;
  tm_worker_logs_init(&l, tm_fs_real(), f->logs);
  assert_int_equal(add(&l, f, name, NULL), 0); /* the pen would report it */
  assert_int_equal(tm_worker_logs_close(&l, NULL), 0);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_open, fixture_close)
UNIT_TESTS({
    TEST(a_line_says_all_of_a_try),
    TEST(items_of_a_try_add_up),
    TEST(a_long_one_is_reported_once_before_its_end),
    TEST(at_warning_only_a_try_that_failed_has_a_line),
    TEST(a_mini_batch_that_is_handed_out_has_a_line),
    TEST(each_worker_has_its_file),
    TEST(few_files_are_open_whatever_the_number_of_workers),
    TEST(a_resting_file_that_is_removed_is_reported_once),
    TEST(a_resting_file_takes_little_memory),
    TEST(only_workers_that_live_have_a_file_open),
    TEST(another_session_appends),
    TEST(failed_writes_are_reported_only_once),
    TEST(a_long_name_and_the_largest_numbers_fit),
});
