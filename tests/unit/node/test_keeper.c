/* test_keeper.c - a real keeper with real workers: how they end, what they leave, and what the
 * keeper reports. */
#include "unit.h"

#include "rig.h"

static void expect_state(const struct tm_ended *e, uint64_t seq, enum tm_assignment_state expected)
{
  assert_int_equal(tm_page_states_of(&e->states, seq), expected);
}

/* The number of processes with a marker of this prefix. */
static int on_pid(void *data, const char *name, int type)
{
  char value[4096];
  const char *marker = ((void **)data)[0];
  int *count = ((void **)data)[1];
  pid_t pid = (pid_t)atol(name);
  if (pid > 0 && tm_process_env(pid, TM_ENV_WORKER, value, sizeof value) &&
      strncmp(value, marker, strlen(marker)) == 0)
    ++*count;
  return 0;
}

static int count_marked(const struct rig *r)
{
  int count = 0;
  char *marker = tm_job_mark(r->dir);
  void *data[] = { marker, &count };
  tm_dir_read("/proc", on_pid, data);
  free(marker);
  return count;
}

static void a_worker_runs_a_window_of_many_and_stops(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 300; i++)
      rig_hand(&r, 0, "/a file");
    for (int i = 0; i < 300; i++) {
      char *rows = rig_wait_rows(&r, 0, (uint64_t)(round * 300 + i + 1));
      assert_string_equal(rows, "/a file\n");
      free(rows);
    }
  }
  assert_true(rig_exists(&r, "temp/score-process0"));
  rig_say(&r, 0, TM_MSG_STOP, 0, NULL, 0);
  rig_send(&r, TM_MSG_STOPPING, 0, 0, NULL, 0);
  rig_wait(&r, TM_MSG_BYE, 0);
  rig_wait_ended(&r, 0, &e);
  rig_send(&r, TM_MSG_PING, 0, 0, NULL, 0);
  rig_wait(&r, TM_MSG_PONG,
           0); /* the keeper removes the worker's files after the frame that reports its end */
  assert_int_equal(e.cause, TM_END_STOPPED);
  assert_int_equal(e.exit_status, 0);
  assert_true(e.max_rss_kb > 0 && e.lived_ns > 0);
  expect_state(&e, 1200, TM_ASSIGNMENT_DONE);
  expect_state(&e, 1201, TM_ASSIGNMENT_QUEUED);
  rig_send(&r, TM_MSG_PING, 0, 0, NULL,
           0); /* the keeper reports the end first, then removes the worker's files */
  rig_wait(&r, TM_MSG_PONG, 0);
  assert_false(rig_exists(&r, "temp/score-process0"));
  assert_true(rig_exists(&r, "logs/user/stdout/0/process0.stdout.txt"));
  assert_true(rig_exists(&r, "logs/sys/node/0/process0.stderr.txt"));
  assert_false(rig_exists(&r, "logs/user/error/0/process0.txt"));
  rig_expect_text(&r, "logs/sys/node/0/_main.txt", "|keeper|process0 started: pid ");
  rig_expect_text(&r, "logs/sys/node/0/_main.txt", ", stopped; lived ");
  rig_close(&r);
}

static void a_worker_finds_its_environment(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  r.incarnation = (struct tm_incarnation) { 10, 0, 1 };
  rig_add_step(&r, 0, NULL, NULL, 0);
  rig_start_worker(&r, 2);
  rig_wait_ready(&r, 2);
  char *rows = rig_wait_rows(&r, 2, rig_hand(&r, 2, "/env"));
  char *expected = tm_xprintf("%s/temp/score-process2\n%s\n%s:000000000000000a.0.1:process2:2\n",
                              r.dir, r.dir, r.dir);
  assert_string_equal(rows, expected);
  free(rows);
  free(expected);
  rig_close(&r);
}

/* The worker gets three, and the second one ends it: it is known which ones had begun. */
static void expect_death(const char *path, struct tm_ended *e)
{
  struct rig r;
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  rig_hand(&r, 0, "/good");
  rig_hand(&r, 0, path);
  rig_hand(&r, 0, "/never");
  rig_wait_ended(&r, 0, e);
  expect_state(e, 1, TM_ASSIGNMENT_DONE);
  expect_state(e, 2, TM_ASSIGNMENT_BEGUN);
  expect_state(e, 3, TM_ASSIGNMENT_QUEUED);
  assert_int_equal(e->view.phase, TM_PHASE_RUN);
  assert_int_equal(e->view.seq, 2);
  assert_int_equal(e->view.index, 2);
  assert_int_equal(e->view.try, 1);
  rig_close(&r);
}

static void the_exit_of_a_worker_is_reported(void **state)
{
  struct tm_ended e;
  expect_death("/exit", &e);
  assert_int_equal(e.cause, TM_END_EXITED);
  assert_int_equal(e.exit_status, 7);
}

static void the_kill_of_a_worker_is_reported(void **state)
{
  struct tm_ended e;
  expect_death("/kill9", &e);
  assert_int_equal(e.cause, TM_END_SIGNAL);
  assert_int_equal(e.signal, SIGKILL);
}

static void a_run_that_passes_its_timeout_is_killed(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 300 * TM_MS);
  rig_start_worker(&r, 0);
  rig_start_worker(&r, 1);
  rig_wait_ready(&r, 0);
  rig_wait_ready(&r, 1);
  rig_hand(&r, 0, "/hang");
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_TIMEOUT);
  assert_int_equal(e.signal, SIGKILL);
  assert_int_equal(e.view.phase, TM_PHASE_RUN);
  assert_true(e.phase_ns >= 300 * TM_MS);
  assert_true(e.phase_ns < 5 * TM_S);
  expect_state(&e, 1, TM_ASSIGNMENT_BEGUN);
  free(rig_wait_rows(&r, 1,
                     rig_hand(&r, 1, "/idle for longer than the timeout"))); /* it is not a run() */
  rig_expect_text(&r, "logs/sys/node/0/_main.txt",
                  "killed because run() took longer than run_invocation_timeout, after 0.3");
  rig_close(&r);
}

static void mini_batches_that_have_not_begun_are_taken_back(void **state)
{
  struct rig r;
  struct tm_ended e;
  char seqs[24];
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  for (uint64_t i = 0; i < 3; i++)
    tm_put_u64(seqs + 8 * i, rig_hand(&r, 0, i == 0 ? "/hang" : "/later"));
  rig_wait_begun(&r);
  rig_send(&r, TM_MSG_TAKE_BACK, 0, 0, seqs, sizeof seqs);
  const struct tm_msg *f = rig_wait(&r, TM_MSG_TAKEN, 0);
  assert_int_equal(f->length, 16);
  assert_int_equal(tm_get_u64(f->payload), 2);
  assert_int_equal(tm_get_u64(f->payload + 8), 3);
  rig_send(&r, TM_MSG_KILL, 0, 0, NULL, 0);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_KILLED);
  expect_state(&e, 1, TM_ASSIGNMENT_BEGUN);
  expect_state(&e, 2, TM_ASSIGNMENT_TAKEN);
  rig_close(&r);
}

/* What the keeper reports about worker 0, its only one. */
static struct tm_worker_doing ask_doing(struct rig *r)
{
  struct tm_worker_doing doing;
  struct tm_reader reader;
  rig_send(r, TM_MSG_ASK_DOING, 0, 0, NULL, 0);
  const struct tm_msg *f = rig_wait(r, TM_MSG_DOING, 0);
  assert_int_equal(f->index, 0);
  tm_reader_init(&reader, f->payload, f->length);
  assert_true(tm_worker_doing_read(&reader, &doing));
  assert_ptr_equal(reader.at, reader.end);
  assert_int_equal(doing.worker, 0);
  return doing;
}

static void the_activity_of_a_worker_is_reported(void **state)
{
  struct rig r;
  struct tm_worker_doing doing;
  rig_start(&r, 60 * TM_S);
  rig_send(&r, TM_MSG_ASK_DOING, 0, 0, NULL, 0);
  assert_int_equal(rig_wait(&r, TM_MSG_DOING, 0)->length, 0); /* there is no such worker */
  pid_t pid = rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  rig_hand(&r, 0, "/hang");
  rig_wait_begun(&r);
  rig_send(&r, TM_MSG_ASK_DOING, 77, 0, NULL, 0); /* an unknown step: no answer */
  doing = ask_doing(&r);
  assert_int_equal(doing.phase, TM_PHASE_RUN);
  assert_int_equal(doing.seq, 1);
  assert_false(doing.is_stopped);
  assert_true(doing.phase_ns > 0 && doing.phase_ns < RIG_LIMIT);
  assert_int_equal(kill(pid, SIGSTOP), 0);
  for (int i = 0; i < 100000 && !doing.is_stopped; i++) /* the keeper learns of it first */
    doing = ask_doing(&r);
  assert_true(doing.is_stopped);
  rig_close(&r);
}

static void processes_that_left_the_session_end_with_their_worker(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_start_worker(&r, 1);
  rig_wait_ready(&r, 0);
  rig_wait_ready(&r, 1);
  int gone = rig_start_daemon(&r, 0, "/daemon"), stays = rig_start_daemon(&r, 1, "/daemon");
  rig_hand(&r, 0, "/exit");
  rig_wait_ended(&r, 0, &e);
  rig_wait_gone(gone);
  while (!r.workers[0].has_ended) /* it held the socket too */
    rig_turn(&r);
  struct pollfd p = { .fd = stays, .events = POLLIN };
  assert_int_equal(poll(&p, 1, 0), 0); /* its worker is alive */
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_wait_gone(stays);
  rig_close(&r);
}

static bool is_locked(const struct rig *r)
{
  char *path = tm_xprintf("%s/node.lock", r->dir);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  assert_true(fd >= 0);
  int rc = tm_lock_take(fd, false);
  close(fd);
  free(path);
  return rc < 0;
}

/* Workers in all states, and daemons with and without environment. */
static void fill(struct rig *r, int held[4])
{
  rig_start(r, 60 * TM_S);
  held[0] = rig_hold(rig_start_worker(r, 0));
  held[1] = rig_hold(rig_start_worker(r, 1));
  rig_wait_ready(r, 0);
  rig_wait_ready(r, 1);
  held[2] = rig_start_daemon(r, 0, "/daemon");
  held[3] = rig_start_daemon(r, 1, "/wiped");
  rig_hand(r, 0, "/hang");
  rig_wait_begun(r);
  assert_true(is_locked(r));
  assert_true(count_marked(r) >= 3);
}

static void expect_nothing_left(struct rig *r, const int held[4])
{
  for (int i = 0; i < 4; i++)
    rig_wait_gone(held[i]);
  assert_int_equal(count_marked(r), 0);
  assert_false(is_locked(r));
  assert_false(rig_exists(r, "temp/score-process0"));
  assert_false(rig_exists(r, "temp/score-process1"));
}

static void nothing_is_left_when_the_supervisor_is_gone(void **state)
{
  struct rig r;
  int held[4];
  fill(&r, held);
  assert_int_equal(rig_end_keeper(&r), 0);
  expect_nothing_left(&r, held);
  rig_close(&r);
}

static void nothing_is_left_when_the_keeper_is_terminated(void **state)
{
  struct rig r;
  int held[4], status;
  fill(&r, held);
  kill(r.keeper, RIG_RELAYED ? SIGINT : SIGTERM); /* a relay drains on SIGTERM */
  while (!r.has_ended)
    rig_turn(&r);
  assert_int_equal(waitpid(r.keeper, &status, 0), r.keeper);
  assert_int_equal(status, 0);
  r.keeper = 0;
  expect_nothing_left(&r, held);
  rig_close(&r);
}

/* It may be on another machine, and outlive what the supervisor's machine knows of it. */
static void the_keeper_of_another_node_does_not_lock_the_directory(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  r.incarnation = (struct tm_incarnation) { 10, 2, 1 };
  rig_add_step(&r, 0, NULL, NULL, 0);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  assert_false(rig_exists(&r, "node.lock"));
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_close(&r);
}

static void another_version_is_refused(void **state)
{
  const char *const hellos[] = { "tidemill 0.0.0 protocol 0", "" };
  for (size_t i = 0; i < TM_COUNT_OF(hellos); i++) {
    struct rig r;
    rig_open(&r, hellos[i]);
    rig_send(&r, TM_MSG_START, 0, 0, "process0", 8);
    while (!r.has_ended)
      rig_turn(&r);
    rig_wait(&r, TM_MSG_HELLO, 0);
    assert_false(rig_has(&r, TM_MSG_STARTED));
    rig_close(&r);
  }
}

static void a_frame_before_hello_is_refused(void **state)
{
  struct rig r;
  rig_open(&r, NULL);
  rig_send(&r, TM_MSG_KILL, 0, 0, NULL, 0);
  while (!r.has_ended)
    rig_turn(&r);
  rig_close(&r);
}

static void expect_start_failed(struct rig *r, uint64_t step, const char *name, const char *words)
{
  rig_send(r, TM_MSG_START, step, 3, name, strlen(name));
  const struct tm_msg *f = rig_wait(r, TM_MSG_START_FAILED, 3);
  if (!strstr(f->payload, words))
    fail_msg("'%s' is not in '%s'", words, f->payload);
}

static void a_start_that_fails_says_why(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  rig_add_step(&r, 1, "/no/such/program", NULL, 0);
  expect_start_failed(&r, 1, "process3", "cannot start '/no/such/program'");
  assert_false(rig_exists(&r, "temp/score-process3"));
  expect_start_failed(&r, 7, "process3", "names no step");
  expect_start_failed(&r, 0, "../process3", "no good name");
  expect_start_failed(&r, 0, "", "no good name");
  rig_start_worker(&r, 3); /* and after everything that it starts */
  rig_wait_ready(&r, 3);
  rig_close(&r);
}

static void logs_that_cannot_be_written_are_noted_once(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  rig_add_step(&r, 0, NULL, "/dev/null/logs", 0);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  free(rig_wait_rows(&r, 0, rig_hand(&r, 0, "/a")));
  const struct tm_msg *f = rig_wait(&r, TM_MSG_NOTE, 0);
  assert_non_null(strstr(f->payload, "/dev/null/logs"));
  assert_false(rig_has(&r, TM_MSG_NOTE));
  rig_close(&r);
}

static void rubbish_is_noted_and_passed_over(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  rig_send(&r, TM_MSG_STEP, 5, 0, "rubbish", 7);
  assert_non_null(strstr(rig_wait(&r, TM_MSG_NOTE, 0)->payload, "cannot be read"));
  rig_send(&r, 999, 0, 0, NULL, 0); /* a stream may carry it */
  rig_wait(&r, TM_MSG_NOTE, 0);
  rig_add_step(&r, 0, NULL, NULL, 0);
  assert_non_null(strstr(rig_wait(&r, TM_MSG_NOTE, 0)->payload, "twice"));
  rig_send(&r, TM_MSG_TAKE_BACK, 0, 9, "x", 1); /* no such worker */
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  rig_close(&r);
}

static void make_below(const struct rig *r, const char *name)
{
  char *path = tm_xprintf("%s/%s", r->dir, name);
  assert_int_equal(mkdir(path, 0700), 0);
  free(path);
}

static void leftovers_of_an_earlier_worker_are_removed(void **state)
{
  struct rig r;
  struct stat st;
  rig_start(&r, 0);
  char *dir = tm_xprintf("%s/temp/score-process0", r.dir), *file = tm_xprintf("%s/left", dir);
  make_below(&r, "temp");
  assert_int_equal(mkdir(dir, 0755), 0);
  close(open(file, O_WRONLY | O_CREAT, 0600));
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  assert_int_equal(stat(file, &st), -1);
  assert_int_equal(stat(dir, &st), 0);
  assert_int_equal(st.st_mode & 07777, 0700);
  free(dir);
  free(file);
  rig_close(&r);
}

/* A worker creates its folder in memory itself. Its keeper removes an existing one before it starts
 * the worker, and again after its end. */
static void files_of_a_worker_in_memory_are_removed_with_it(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 0);
  char *dir = tm_xprintf("%s/memory/score-process0", r.dir), *file = tm_xprintf("%s/left", dir);
  make_below(&r, "memory");
  assert_int_equal(mkdir(dir, 0700), 0);
  close(open(file, O_WRONLY | O_CREAT, 0600));
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  assert_false(rig_exists(&r, "memory/score-process0"));
  assert_int_equal(mkdir(dir, 0700), 0);
  close(open(file, O_WRONLY | O_CREAT, 0600));
  rig_send(&r, TM_MSG_KILL, 0, 0, NULL, 0);
  rig_wait_ended(&r, 0, &e);
  rig_send(&r, TM_MSG_PING, 0, 0, NULL, 0);
  rig_wait(&r, TM_MSG_PONG,
           0); /* the keeper removes the worker's files after the frame that reports its end */
  assert_false(rig_exists(&r, "memory/score-process0"));
  free(dir);
  free(file);
  rig_close(&r);
}

/* Left by a worker whose folder could not be removed, because it was closed to its owner. */
static void its_temporary_folders_go_with_a_keeper(void **state)
{
  static const char *const names[] = { "temp/score-process7", "temp/score-process7/closed",
                                       "temp/score-process7/closed/below",
                                       "memory/score-process7" };
  struct rig r;
  rig_start(&r, 0);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    make_below(&r, names[i]);
  char *closed = tm_xprintf("%s/%s", r.dir, names[1]);
  assert_int_equal(chmod(closed, 0), 0);
  assert_int_equal(rig_end_keeper(&r), 0);
  assert_false(rig_exists(&r, "temp"));
  assert_false(rig_exists(&r, "memory"));
  free(closed);
  rig_close(&r);
}

/* A program that removes old files may remove it under a job that runs for weeks. */
static void a_temporary_folder_that_was_removed_is_made_again(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  char *base = tm_xprintf("%s/temp", r.dir);
  assert_int_equal(tm_tree_remove(base, NULL), 0);
  rig_start_worker(&r, 1);
  rig_wait_ready(&r, 1);
  assert_true(rig_exists(&r, "temp/score-process1"));
  assert_int_equal(rig_end_keeper(&r), 0);
  assert_false(rig_exists(&r, "temp"));
  free(base);
  rig_close(&r);
}

/* This tells other programs that it is in use. */
static void its_temporary_folders_are_locked_while_a_keeper_lives(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  make_below(&r, "temp");
  char *base = tm_xprintf("%s/temp", r.dir);
  int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_int_equal(tm_lock_take(fd, false), 0);
  expect_start_failed(&r, 0, "process3", "cannot make the folder"); /* somebody is removing it */
  tm_lock_release(fd);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  assert_int_equal(tm_lock_take(fd, false), -EWOULDBLOCK);
  assert_int_equal(rig_end_keeper(&r), 0);
  assert_int_equal(tm_lock_take(fd, false), 0);
  close(fd);
  free(base);
  rig_close(&r);
}

/* The keeper never follows a link, whoever made it. */
static void a_foreign_temporary_folder_is_not_used(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  make_below(&r, "other");
  char *base = tm_xprintf("%s/temp", r.dir);
  assert_int_equal(symlink("other", base), 0);
  expect_start_failed(&r, 0, "process3", "cannot make the folder");
  assert_false(rig_exists(&r, "other/score-process3"));
  assert_int_equal(rig_end_keeper(&r), 0);
  assert_true(rig_exists(&r, "other"));
  free(base);
  rig_close(&r);
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(a_worker_runs_a_window_of_many_and_stops),
    cmocka_unit_test(a_worker_finds_its_environment),
    cmocka_unit_test(files_of_a_worker_in_memory_are_removed_with_it),
    cmocka_unit_test(its_temporary_folders_go_with_a_keeper),
    cmocka_unit_test(a_temporary_folder_that_was_removed_is_made_again),
    cmocka_unit_test(its_temporary_folders_are_locked_while_a_keeper_lives),
    cmocka_unit_test(a_foreign_temporary_folder_is_not_used),
    cmocka_unit_test(the_exit_of_a_worker_is_reported),
    cmocka_unit_test(the_kill_of_a_worker_is_reported),
    cmocka_unit_test(a_run_that_passes_its_timeout_is_killed),
    cmocka_unit_test(mini_batches_that_have_not_begun_are_taken_back),
    cmocka_unit_test(the_activity_of_a_worker_is_reported),
    cmocka_unit_test(processes_that_left_the_session_end_with_their_worker),
    cmocka_unit_test(nothing_is_left_when_the_supervisor_is_gone),
    cmocka_unit_test(nothing_is_left_when_the_keeper_is_terminated),
    cmocka_unit_test(the_keeper_of_another_node_does_not_lock_the_directory),
    cmocka_unit_test(another_version_is_refused),
    cmocka_unit_test(a_frame_before_hello_is_refused),
    cmocka_unit_test(a_start_that_fails_says_why),
    cmocka_unit_test(logs_that_cannot_be_written_are_noted_once),
    cmocka_unit_test(rubbish_is_noted_and_passed_over),
    cmocka_unit_test(leftovers_of_an_earlier_worker_are_removed),
});
