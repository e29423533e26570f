/* test_log_set.c - the log files of a step as one log: which files, in which order, and lines that
 * arrive during the read. */
#include "unit.h"

#include "report/log_set.h"
#include "tree.h"

#define AT(second, level, process, message)                                                        \
  "2026-01-01 00:00:" second ",000|" level "|1|" process "|" message "\n"

struct fixture {
  char *dir;
  struct tm_log_choice choice;
  struct tm_log_set *set;
};

static int setup(void **state)
{
  struct fixture *f = TM_NEW(struct fixture);
  f->dir = folder_make();
  f->choice.mini_batch = -1;
  *state = f;
  return 0;
}

static int teardown(void **state)
{
  struct fixture *f = *state;
  tm_log_set_free(f->set);
  folder_remove(f->dir);
  free(f);
  return 0;
}

static void add(struct fixture *f, const char *name, const char *text)
{
  char *old = file_text(f->dir, name), *both = tm_xprintf("%s%s", old ? old : "", text);
  char *path = tm_path_join(f->dir, name);
  file_put(f->dir, name, both, 0600);
  if (f->set)
    tm_log_set_touch(f->set, path);
  free(path);
  free(both);
  free(old);
}

/* What the set prints now: messages, or whole lines without their time, separated by blanks. */
static void expect(struct fixture *f, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_log_piece piece;
  struct tm_log_line line;
  while (tm_log_set_next(f->set, &piece)) {
    if (text.len > 0)
      tm_buf_add_char(&text, ' ');
    if (piece.source)
      tm_buf_printf(&text, "%s|", piece.source);
    if (!piece.source && tm_log_line_read(piece.text, piece.len, &line))
      tm_buf_add(&text, line.message, line.message_len);
    else
      tm_buf_add(&text, piece.text, piece.len);
  }
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void open_set(struct fixture *f)
{
  tm_log_set_free(f->set);
  f->set = tm_log_set_new(f->dir, &f->choice, NULL, NULL);
  tm_log_set_look(f->set);
}

static void put_all(struct fixture *f)
{
  add(f, "sys/master_role.txt",
      AT("01", "INFO", "supervisor", "start") AT("09", "INFO", "supervisor", "end"));
  add(f, "sys/node/0/_main.txt", AT("02", "INFO", "keeper", "process000-started"));
  add(f, "sys/node/0/process000.txt", AT("05", "ERROR", "process000", "a-try"));
  add(f, "user/error/0/process000.txt",
      AT("05", "ERROR", "process000", "bad") "stack\n\tline\n" AT("07", "ERROR", "process000",
                                                                  "worse"));
  add(f, "user/entry_script_log/0/process001.log.txt",
      AT("04", "INFO", "process001", "early") AT("06", "INFO", "process001", "between"));
  add(f, "user/stdout/0/process001.stdout.txt", "printed\n");
  add(f, "sys/job_report/processed_mini-batches.csv", "no log\n");
  add(f, "user/error/0/process000.txt.swp", "no log\n");
}

static void lines_come_in_the_order_of_time_and_stacks_stay_whole(void **state)
{
  struct fixture *f = *state;
  put_all(f);
  open_set(f);
  expect(f, "start early bad stack \tline between worse end process001.stdout|printed");
  expect(f, "");
  assert_int_equal(tm_log_set_count(f->set), 4);
}

static void a_worker_is_shown_with_its_tries(void **state)
{
  struct fixture *f = *state;
  put_all(f);
  add(f, "sys/master_role.txt",
      AT("10", "INFO", "supervisor", "process000 ended")
          AT("11", "INFO", "supervisor", "process0001 ended"));
  f->choice.worker = "process000";
  open_set(f);
  expect(f, "process000-started bad stack \tline a-try worse process000 ended");
  const char *const *names;
  assert_int_equal(tm_log_set_workers(f->set, &names), 2);
}

static void what_starts_a_node_is_shown_with_everything(void **state)
{
  struct fixture *f = *state;
  const char *const *names;
  add(f, "sys/master_role.txt", AT("01", "INFO", "supervisor", "start"));
  add(f, "sys/node/12/launcher.txt", "Permission denied.\n");
  open_set(f);
  expect(f, "start launcher of node 12|Permission denied.");
  assert_int_equal(tm_log_set_workers(f->set, &names), 0);
  f->choice.worker = "process000";
  open_set(f);
  expect(f, "");
  f->choice.worker = NULL;
  f->choice.errors = true;
  open_set(f);
  expect(f, "");
}

static void a_node_is_shown_with_all_its_files_and_lines(void **state)
{
  struct fixture *f = *state;
  const char *const *names;
  add(f, "sys/master_role.txt",
      AT("01", "INFO", "supervisor", "start") AT("02", "INFO", "supervisor", "node 1 is requested")
          AT("03", "INFO", "supervisor", "process000 (node 1, pid 7) started")
              AT("04", "WARNING", "supervisor", "node 12 (cn1) is lost"));
  add(f, "sys/node/1/launcher.txt", "said\n");
  add(f, "sys/node/1/_main.txt", AT("05", "INFO", "keeper", "process000 started"));
  add(f, "sys/node/1/process000.txt", AT("05", "INFO", "supervisor", "a try"));
  add(f, "user/entry_script_log/1/process000.log.txt", AT("06", "INFO", "p", "logged"));
  add(f, "user/error/12/process001.txt", AT("07", "ERROR", "p", "bad"));
  f->choice.node = "1";
  open_set(f);
  expect(f, "node 1 is requested process000 (node 1, pid 7) started process000 started logged "
            "launcher of node 1|said");
  assert_int_equal(tm_log_set_nodes(f->set, &names), 2);
  f->choice.node = "12";
  open_set(f);
  expect(f, "node 12 (cn1) is lost bad");
  f->choice.worker = "process001"; /* both */
  open_set(f);
  expect(f, "bad");
}

static void errors_are_shown_alone_with_their_causes(void **state)
{
  struct fixture *f = *state;
  put_all(f);
  add(f, "sys/master_role.txt",
      AT("12", "WARNING", "supervisor", "killed") AT("13", "ERROR", "supervisor", "failed"));
  f->choice.errors = true;
  open_set(f);
  expect(f, "bad stack \tline worse killed failed");
}

static void lines_of_a_period_are_shown_without_other_mini_batches(void **state)
{
  struct fixture *f = *state;
  struct tm_log_line line;
  static const char begin[] = AT("05", "INFO", "x", "y");
  put_all(f);
  add(f, "user/entry_script_log/0/process000.log.txt",
      AT("04", "INFO", "p", "before") AT("05", "INFO", "p", "meanwhile")
          AT("06", "INFO", "p", "after"));
  add(f, "user/error/0/process000.txt",
      AT("07", "ERROR", "p", "mini-batch 3, try 1: other") "its stack\n" AT(
          "07", "ERROR", "p", "mini-batch 2, try 1: own") "own stack\n");
  add(f, "sys/node/0/_main.txt", AT("06", "WARNING", "keeper", "process000 ended: killed"));
  assert_true(tm_log_line_read(begin, strlen(begin) - 1, &line));
  f->choice = (struct tm_log_choice) { .worker = "process000",
                                       .mini_batch = 2,
                                       .from_ns = line.wall_ns,
                                       .until_ns = line.wall_ns + 500000000 };
  open_set(f);
  expect(f, "meanwhile bad stack \tline process000 ended: killed worse mini-batch 2, try 1: own "
            "own stack");
}

static void later_lines_are_shown_when_they_come(void **state)
{
  struct fixture *f = *state;
  add(f, "sys/master_role.txt", AT("01", "INFO", "supervisor", "start"));
  open_set(f);
  expect(f, "start");
  add(f, "sys/master_role.txt", AT("02", "INFO", "supervisor", "more") "2026-01-01 00:00:03,0");
  add(f, "user/error/0/process000.txt", AT("01", "ERROR", "process000", "bad"));
  expect(f, "bad more");
  add(f, "sys/master_role.txt", "00|INFO|1|supervisor|whole\n");
  expect(f, "whole");
  add(f, "user/stdout/0/process000.stdout.txt", "no end");
  expect(f, "");
  tm_log_set_finish(f->set);
  expect(f, "process000.stdout|no end");
  expect(f, "");
}

static void a_file_that_was_not_touched_is_not_read(void **state)
{
  struct fixture *f = *state;
  add(f, "sys/master_role.txt", AT("01", "INFO", "supervisor", "start"));
  open_set(f);
  expect(f, "start");
  file_put(f->dir, "sys/master_role.txt",
           AT("01", "INFO", "supervisor", "start") AT("02", "INFO", "supervisor", "more"), 0600);
  expect(f, "");
  tm_log_set_look(f->set);
  expect(f, "more");
}

static void a_file_that_was_cut_is_read_again(void **state)
{
  struct fixture *f = *state;
  const char *name = "user/stdout/0/process000.stdout.txt";
  add(f, name, "one\ntwo\nthr");
  open_set(f);
  expect(f, "process000.stdout|one process000.stdout|two");
  file_put(f->dir, name, "", 0600);
  add(f, name, "four\n");
  expect(f, "process000.stdout|thr process000.stdout|four");
  file_put(f->dir, name, "", 0600);
  add(f, name, "5\n");
  expect(f, "process000.stdout|5");
}

static void long_lines_and_many_are_read_in_pieces(void **state)
{
  struct fixture *f = *state;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_log_piece piece;
  size_t lines = 0, bytes = 0;
  for (int i = 0; i < 3000; i++)
    tm_buf_printf(&text, "%0*d\n", i % 300 + 1, i);
  for (int i = 0; i < 3000000; i++)
    tm_buf_add_char(&text, 'x');
  tm_buf_add_char(&text, '\n');
  size_t whole = text.len;
  add(f, "user/stdout/0/process000.stdout.txt", text.data);
  open_set(f);
  while (tm_log_set_next(f->set, &piece)) {
    lines++;
    bytes += piece.len;
  }
  assert_int_equal(bytes, whole - 3001);
  assert_in_range(lines, 3002, 3004); /* the set prints the last one in parts */
  tm_buf_release(&text);
}

static void folders(void *data, const char *path)
{
  tm_buf_printf(data, "%s ", path + strlen(path) - 6);
}

static void it_says_where_files_may_come(void **state)
{
  struct fixture *f = *state;
  struct tm_buf seen = TM_BUF_NONE;
  add(f, "user/error/0/process000.txt", "");
  add(f, "perf/0/x", "");
  f->set = tm_log_set_new(f->dir, &f->choice, folders, &seen);
  tm_log_set_look(f->set);
  tm_log_set_look(f->set);
  assert_int_equal(seen.len, 4 * 7); /* each once: the folder, user, user/error, user/error/0 */
  assert_non_null(strstr(seen.data, "rror/0 "));
  tm_buf_release(&seen);
}

static void paths_are_known(void **state)
{
  enum tm_log_kind kind;
  char worker[64];
  assert_true(tm_log_kind_of("sys/node/0/_main.txt", &kind, worker, sizeof(worker)));
  assert_int_equal(kind, TM_LOG_NODE);
  assert_string_equal(worker, "");
  assert_true(
      tm_log_kind_of("user/stderr/host-7/process012.stderr.txt", &kind, worker, sizeof(worker)));
  assert_int_equal(kind, TM_LOG_STDERR);
  assert_string_equal(worker, "process012");
  assert_true(
      tm_log_kind_of("user/entry_script_log/0/process012_mine.txt", &kind, worker, sizeof(worker)));
  assert_int_equal(kind, TM_LOG_OWN);
  assert_string_equal(worker, "process012");
  assert_true(
      tm_log_kind_of("user/entry_script_log/0/mine.log.txt", &kind, worker, sizeof(worker)));
  assert_int_equal(kind, TM_LOG_OWN);
  assert_string_equal(worker, "");
  assert_true(tm_log_kind_of("sys/node/1/launcher.txt", &kind, worker, sizeof(worker)));
  assert_int_equal(kind, TM_LOG_LAUNCHER);
  assert_string_equal(worker, "");
  static const char *const others[] = { "",
                                        "user/entry_script_log/0/model.bin",
                                        "user/entry_script_log/0/.txt",
                                        "user/entry_script_log/0/deeper/mine.txt",
                                        "user/entry_script_log/mine.txt",
                                        "readme.txt",
                                        "sys/node/0/process000.stdout.txt",
                                        "sys/node/0/.txt",
                                        "user/error.txt",
                                        "user/error/0/deeper/process000.txt",
                                        "sys/error/supervisor.txt",
                                        "user/error/0/process000.log" };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_false(tm_log_kind_of(others[i], &kind, worker, sizeof(worker)));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
UNIT_TESTS({
    CASE(lines_come_in_the_order_of_time_and_stacks_stay_whole),
    CASE(a_worker_is_shown_with_its_tries),
    CASE(what_starts_a_node_is_shown_with_everything),
    CASE(a_node_is_shown_with_all_its_files_and_lines),
    CASE(errors_are_shown_alone_with_their_causes),
    CASE(lines_of_a_period_are_shown_without_other_mini_batches),
    CASE(later_lines_are_shown_when_they_come),
    CASE(a_file_that_was_not_touched_is_not_read),
    CASE(a_file_that_was_cut_is_read_again),
    CASE(long_lines_and_many_are_read_in_pieces),
    CASE(it_says_where_files_may_come),
    CASE(paths_are_known),
});
