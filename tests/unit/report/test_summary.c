/* test_summary.c - adds up tries by worker and by node, within a session and over sessions. */
#include "unit.h"

#include "report_fixture.h"

#include <unistd.h>

#include "report/summary.h"

#define PROCESSES "logs/sys/job_report/process_summary.csv"
#define NODES     "logs/sys/job_report/node_summary.csv"
#define SUM_COLUMNS                                                                                \
  "Node,Node Address,Tries,Total,Succeeded,Failed,Elapsed Seconds,Process Seconds,Run Method "     \
  "Seconds,RUN_DONE,RUN_EXCEPTION,RUN_TIMEOUT,RUN_WRONG_RETURN,LOAD_TIMEOUT,LOAD_EXCEPTION,INIT_"  \
  "EXCEPTION,INIT_TIMEOUT,PROCESS_DIED,CANCELED"
#define COLUMNS      SUM_COLUMNS "\n"
#define NODE_COLUMNS SUM_COLUMNS ",Started,Seconds,Busy Percent,Ended\n"

static void add(struct tm_summary *s, const struct report_fixture *f, const char *worker,
                const char *node)
{
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  e.worker = worker;
  e.node_id = node;
  tm_summary_add(s, &e);
}

static void expect_file(const struct report_fixture *f, const char *name, const char *expected)
{
  char *text = fixture_read(f, name);
  assert_non_null(text);
  assert_string_equal(text, expected);
  free(text);
}

static void session(struct report_fixture *f, const char *worker)
{
  struct tm_summary s;
  assert_int_equal(tm_summary_init(&s, tm_fs_real(), f->logs, 0, NULL), 0);
  add(&s, f, worker, "0");
  f->attempt.status = TM_RUN_EXCEPTION;
  f->attempt.succeeded = 0;
  add(&s, f, worker, "0");
  f->attempt.status = TM_RUN_DONE;
  f->attempt.succeeded = 5;
  add(&s, f, "process001", "1");
  assert_int_equal(tm_summary_write(&s, 0, true, NULL), 0);
  tm_summary_release(&s);
}

static void rows_are_sums(void **state)
{
  struct report_fixture *f = *state;
  session(f, "process000");
  expect_file(f, PROCESSES,
              "Process," COLUMNS
              "process000,0,host7,2,10,5,0,2.469135,0.001999,2.400000,1,1,0,0,0,0,0,0,0,0\n"
              "process001,1,host7,1,5,5,0,1.234567,0.000999,1.200000,1,0,0,0,0,0,0,0,0,0\n");
  expect_file(f, NODES,
              "Processes," NODE_COLUMNS
              "1,0,host7,2,10,5,0,2.469135,0.001999,2.400000,1,1,0,0,0,0,0,0,0,0,,,,\n"
              "1,1,host7,1,5,5,0,1.234567,0.000999,1.200000,1,0,0,0,0,0,0,0,0,0,,,,\n");
}

static void sessions_add_up(void **state)
{
  struct report_fixture *f = *state;
  session(f, "process000");
  session(f, "process002");
  expect_file(f, PROCESSES,
              "Process," COLUMNS
              "process000,0,host7,2,10,5,0,2.469135,0.001999,2.400000,1,1,0,0,0,0,0,0,0,0\n"
              "process001,1,host7,2,10,10,0,2.469134,0.001998,2.400000,2,0,0,0,0,0,0,0,0,0\n"
              "process002,0,host7,2,10,5,0,2.469135,0.001999,2.400000,1,1,0,0,0,0,0,0,0,0\n");
  expect_file(f, NODES,
              "Processes," NODE_COLUMNS
              "2,0,host7,4,20,10,0,4.938270,0.003998,4.800000,2,2,0,0,0,0,0,0,0,0,,,,\n"
              "1,1,host7,2,10,10,0,2.469134,0.001998,2.400000,2,0,0,0,0,0,0,0,0,0,,,,\n");
}

static void it_is_written_every_ten_seconds_when_there_is_something_new(void **state)
{
  struct report_fixture *f = *state;
  struct tm_summary s;
  assert_int_equal(tm_summary_init(&s, tm_fs_real(), f->logs, 100 * TM_S, NULL), 0);
  add(&s, f, "process000", "0");
  assert_int_equal(tm_summary_write(&s, 109 * TM_S, false, NULL), 0);
  assert_null(fixture_read(f, PROCESSES));
  assert_int_equal(tm_summary_write(&s, 110 * TM_S, false, NULL), 0);
  char *text = fixture_read(f, PROCESSES);
  assert_has(text, "\nprocess000,0,host7,1,");
  free(text);
  char *path = tm_path_join(f->dir, PROCESSES);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(tm_summary_write(&s, 130 * TM_S, false, NULL), 0);
  assert_null(fixture_read(f, PROCESSES)); /* nothing was new */
  add(&s, f, "process000", "0");
  assert_int_equal(tm_summary_write(&s, 131 * TM_S, false, NULL), 0);
  text = fixture_read(f, PROCESSES);
  assert_has(text, "\nprocess000,0,host7,2,");
  free(text);
  free(path);
  tm_summary_release(&s);
}

static void live(struct tm_summary *s, struct report_fixture *f, enum tm_event_kind kind,
                 const char *worker, const char *node, int64_t later_ns)
{
  struct tm_event e;
  f->now_ns += later_ns;
  f->wall_ns += later_ns;
  e = fixture_event(f, kind);
  e.worker = worker;
  e.node_id = node;
  e.lived_ns = TM_S;
  tm_summary_add_life(s, &e);
}

/* Two workers of 10 s and 5 s on a node, one of which runs for 1.2 s. */
static void work(struct tm_summary *s, struct report_fixture *f, const char *node)
{
  const char *worker = *node == '0' ? "process000" : "process001";
  live(s, f, TM_EVENT_WORKER_STARTED, worker, node, 0);
  live(s, f, TM_EVENT_WORKER_STARTED, "process002", node, 5 * TM_S);
  add(s, f, worker, node);
  live(s, f, TM_EVENT_WORKER_ENDED, worker, node, 5 * TM_S);
  live(s, f, TM_EVENT_WORKER_ENDED, "process002", node, 0);
}

static void a_node_has_the_time_of_its_workers(void **state)
{
  struct report_fixture *f = *state;
  struct tm_summary s;
  assert_int_equal(tm_summary_init(&s, tm_fs_real(), f->logs, 0, NULL), 0);
  live(&s, f, TM_EVENT_WORKER_STARTED, "process003", "2", 0);
  work(&s, f, "1");
  assert_int_equal(tm_summary_write(&s, f->now_ns, true, NULL), 0);
  expect_file(f, NODES,
              "Processes," NODE_COLUMNS
              "1,1,host7,1,5,5,0,1.234567,0.000999,1.200000,1,0,0,0,0,0,0,0,0,0,"
              "2026-01-31T23:59:58.123456Z,10.000000,8.00,2026-02-01T00:00:08.123456Z\n"
              /* no try has ended there, and its worker lives */
              "0,2,host7,0,0,0,0,0.000000,0.000000,0.000000,0,0,0,0,0,0,0,0,0,0,"
              "2026-01-31T23:59:58.123456Z,10.000000,0.00,\n");
  tm_summary_release(&s);
}

static void a_session_adds_to_the_time_of_its_node(void **state)
{
  struct report_fixture *f = *state;
  struct tm_summary s;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tm_summary_init(&s, tm_fs_real(), f->logs, 0, NULL), 0);
    work(&s, f, "0");
    if (i == 0)
      work(&s, f, "1");
    assert_int_equal(tm_summary_write(&s, f->now_ns, true, NULL), 0);
    tm_summary_release(&s);
    f->now_ns += 1000 * TM_S; /* nothing runs */
    f->wall_ns += 1000 * TM_S;
  }
  char *text = fixture_read(f, NODES);
  assert_has(text, ",2026-01-31T23:59:58.123456Z,20.000000,8.00,2026-02-01T00:17:08.123456Z\n");
  assert_has(text, ",2026-02-01T00:00:08.123456Z,10.000000,8.00,2026-02-01T00:00:18.123456Z\n");
  free(text);
}

/* 0.003990 is a little less as a binary number. */
static void a_row_of_an_earlier_session_is_the_same(void **state)
{
  struct report_fixture *f = *state;
  struct tm_summary s;
  char *first = NULL, *again;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tm_summary_init(&s, tm_fs_real(), f->logs, 0, NULL), 0);
    live(&s, f, TM_EVENT_WORKER_STARTED, "process009", "9", 0);
    if (i == 0) {
      live(&s, f, TM_EVENT_WORKER_STARTED, "process001", "1", 0);
      live(&s, f, TM_EVENT_WORKER_ENDED, "process001", "1", 3990 * (TM_MS / 1000));
    }
    assert_int_equal(tm_summary_write(&s, f->now_ns, true, NULL), 0);
    tm_summary_release(&s);
    again = fixture_read(f, NODES);
    assert_has(again, "Z,0.003990,0.00,2");
    first = first ? first : tm_xstrdup(strstr(again, "\n0,1,"));
    assert_string_equal(strstr(again, "\n0,1,"), first);
    free(again);
  }
  free(first);
}

static void an_older_or_foreign_file_of_nodes_is_replaced(void **state)
{
  static const char *const texts[] = {
    "", "Processes," COLUMNS "1,0,host7,1,5,5,0,1.2,0.0,1.2,1,0,0,0,0,0,0,0,0,0\n",
    "Processes," NODE_COLUMNS
    "1,0\n1,0,,,,,,,,,,,,,,,,,,,-1,1e300,nan,x\n1,0,,,,,,,,,,,,,,,,,,,,,,\n",
    "Node,Started,Seconds,Busy Percent,Ended,Node Address,Run Method Seconds\n,,,,,,"
  };
  struct report_fixture *f = *state;
  struct tm_summary s;
  char *path = tm_path_join(f->dir, NODES), *dir = tm_path_dir(path);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), dir, 0700, NULL), 0);
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++) {
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, texts[i], strlen(texts[i]), 0600, NULL),
                     0);
    assert_int_equal(tm_summary_init(&s, tm_fs_real(), f->logs, 0, NULL), 0);
    live(&s, f, TM_EVENT_WORKER_STARTED, "process000", "0", 0);
    live(&s, f, TM_EVENT_WORKER_ENDED, "process000", "0", 5 * TM_S);
    assert_int_equal(tm_summary_write(&s, f->now_ns, true, NULL), 0);
    char *text = fixture_read(f, NODES);
    assert_has(text, ",5.000000,0.00,2026-0");
    free(text);
    tm_summary_release(&s);
  }
  free(dir);
  free(path);
}

static void expect_refused(struct report_fixture *f, const char *text)
{
  struct tm_summary s;
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_path_join(f->dir, PROCESSES);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  assert_true(tm_summary_init(&s, tm_fs_real(), f->logs, 0, &err) < 0);
  assert_has(err.text, "process_summary.csv' is not a summary");
  add(&s, f, "process000", "0");
  assert_int_equal(tm_summary_write(&s, 0, true, NULL), 0);
  expect_file(f, PROCESSES, text); /* it is left alone */
  tm_summary_release(&s);
  free(path);
}

static void a_foreign_summary_is_left_alone(void **state)
{
  struct report_fixture *f = *state;
  session(f, "process000");
#define ROW "process000,0,host7,2,10,5,0,2.469135,0.001999,2.400000,1,1,0,0,0,0,0,0,0,0"
  expect_refused(f, "something else\n");
  expect_refused(f, "Process," COLUMNS ROW);               /* torn */
  expect_refused(f, "Process," COLUMNS ROW ",7\n");        /* too much */
  expect_refused(f, "Process," COLUMNS ROW "\n" ROW "\n"); /* twice */
  expect_refused(f, "Process," COLUMNS "process000,0,host7,2\n");
  expect_refused(f, "Process," COLUMNS "process000\n");
  expect_refused(f,
                 "Process," COLUMNS
                 "process000,0,host7,-2,10,5,0,2.469135,0.001999,2.400000,1,1,0,0,0,0,0,0,0,0\n");
  expect_refused(f, "Process," COLUMNS
                    "process000,0,host7,2,10,5,0,2.46913,0.001999,2.400000,1,1,0,0,0,0,0,0,0,0\n");
  expect_refused(f,
                 "Process," COLUMNS "process000,0,host7,2,10,5,0,99999999999999.000000,0.001999,2."
                 "400000,1,1,0,0,0,0,0,0,0,0\n");
}

static void a_host_with_an_odd_name_breaks_no_row(void **state)
{
  struct report_fixture *f = *state;
  struct tm_event e = fixture_event(f, TM_EVENT_TRY_ENDED);
  e.node_address = "a,b\"c\nd";
  for (int i = 0; i < 2; i++) {
    struct tm_summary s;
    assert_int_equal(tm_summary_init(&s, tm_fs_real(), f->logs, 0, NULL), 0);
    tm_summary_add(&s, &e);
    assert_int_equal(tm_summary_write(&s, 0, true, NULL), 0);
    tm_summary_release(&s);
  }
  char *text = fixture_read(f, PROCESSES);
  assert_has(text, "\nprocess003,0,a_b_c_d,2,");
  free(text);
}

static void a_full_disk_is_reported_once(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_summary s;
  struct tm_err err = TM_ERR_NONE;
  full_disk_init(&disk, 0);
  assert_int_equal(tm_summary_init(&s, &disk.fs, f->logs, 0, NULL), 0);
  add(&s, f, "process000", "0");
  assert_true(tm_summary_write(&s, 0, true, &err) < 0);
  assert_has(err.text, "process_summary.csv");
  add(&s, f, "process000", "0");
  assert_int_equal(tm_summary_write(&s, 0, true, NULL), 0);
  tm_summary_release(&s);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_open, fixture_close)
UNIT_TESTS({
    TEST(rows_are_sums),
    TEST(sessions_add_up),
    TEST(a_node_has_the_time_of_its_workers),
    TEST(a_session_adds_to_the_time_of_its_node),
    TEST(a_row_of_an_earlier_session_is_the_same),
    TEST(an_older_or_foreign_file_of_nodes_is_replaced),
    TEST(it_is_written_every_ten_seconds_when_there_is_something_new),
    TEST(a_foreign_summary_is_left_alone),
    TEST(a_host_with_an_odd_name_breaks_no_row),
    TEST(a_full_disk_is_reported_once),
});
