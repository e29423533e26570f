/* test_relay.c - the real program as relay, keeper and workers, at the end of two pipes: what it
 * leaves when one of them is killed, and how much it carries. */
#define RIG_RELAYED 1
#include "unit.h"

#include "relay/exchange.h"
#include "rig.h"
#include "sys/clock.h"

static pid_t keeper_of(const struct rig *r)
{
  pid_t children[4];
  assert_int_equal(tm_process_children(r->keeper, children, 4), 1);
  return children[0];
}

/* What may be left: the relay, its keeper, two workers, and processes that one of them started. One
 * worker is idle, the other hangs. */
struct all {
  int at[5], len;
};

static void fill(struct rig *r, struct all *all)
{
  rig_start(r, 60 * TM_S);
  *all = (struct all) { .len = 0 };
  all->at[all->len++] = rig_hold(rig_start_worker(r, 0));
  all->at[all->len++] = rig_hold(rig_start_worker(r, 1));
  rig_wait_ready(r, 0);
  rig_wait_ready(r, 1);
  all->at[all->len++] = rig_start_daemon(r, 1, "/daemon");
  all->at[all->len++] = rig_hold(keeper_of(r));
  all->at[all->len++] = rig_hold(r->keeper);
  rig_hand(r, 0, "/hang");
  rig_wait_begun(r);
}

/* The status of the relay. */
static int expect_none(struct rig *r, const struct all *all)
{
  int status;
  while (!r->has_ended)
    rig_turn(r);
  for (int i = 0; i < all->len; i++)
    rig_wait_gone(all->at[i]);
  assert_int_equal(waitpid(r->keeper, &status, 0), r->keeper);
  r->keeper = 0;
  return status;
}

static void nothing_is_left_of_a_relay_that_is_killed(void **state)
{
  struct rig r;
  struct all all;
  fill(&r, &all);
  kill(r.keeper, SIGKILL);
  assert_int_equal(expect_none(&r, &all), SIGKILL);
  rig_close(&r);
}

static void nothing_is_left_of_a_keeper_that_is_killed(void **state)
{
  struct rig r;
  struct all all;
  fill(&r, &all);
  kill(keeper_of(&r), SIGKILL);
  assert_int_equal(expect_none(&r, &all), TM_RELAY_KEEPER_ENDED << 8);
  const struct tm_msg *f = rig_wait(&r, TM_MSG_NOTE, 0);
  assert_non_null(strstr(f->payload, "of a keeper that did not end by itself"));
  rig_close(&r);
}

static void nothing_is_left_when_a_signal_ends_it(void **state)
{
  static const int signals[] = { SIGHUP, SIGINT };
  for (size_t i = 0; i < TM_COUNT_OF(signals); i++) {
    struct rig r;
    struct all all;
    fill(&r, &all);
    kill(r.keeper, signals[i]);
    assert_int_equal(expect_none(&r, &all), 0);
    char *words = tm_xprintf("the relay was ended by signal %d ", signals[i]);
    assert_non_null(strstr(rig_wait(&r, TM_MSG_NOTE, 0)->payload, words));
    free(words);
    rig_close(&r);
  }
}

/* Slurm sends SIGUSR1 before a time limit, and SIGTERM twice before it kills. */
static void it_drains_when_its_machine_will_be_taken_away(void **state)
{
  static const int signals[] = { SIGTERM, SIGUSR1 };
  for (size_t i = 0; i < TM_COUNT_OF(signals); i++) {
    struct rig r;
    struct all all;
    fill(&r, &all);
    kill(r.keeper, signals[i]);
    rig_wait(&r, TM_MSG_DRAINS, 0);
    char *words = tm_xprintf("the relay drains because of signal %d ", signals[i]);
    assert_non_null(strstr(rig_wait(&r, TM_MSG_NOTE, 0)->payload, words));
    free(words);
    kill(r.keeper, SIGTERM);
    free(rig_wait_rows(&r, 1, rig_hand(&r, 1, "/a")));
    kill(r.keeper, SIGINT);
    assert_int_equal(expect_none(&r, &all), 0);
    rig_close(&r);
  }
}

static void it_ends_at_once_if_there_is_nothing_to_drain(void **state)
{
  struct rig r;
  struct all all = { .len = 0 };
  rig_open(&r, tm_hello());
  rig_wait(&r, TM_MSG_HELLO, 0);
  all.at[all.len++] = rig_hold(keeper_of(&r));
  kill(r.keeper, SIGTERM);
  assert_int_equal(expect_none(&r, &all), 0);
  assert_non_null(strstr(rig_wait(&r, TM_MSG_NOTE, 0)->payload, "the relay was ended by signal"));
  rig_close(&r);
}

/* The supervisor is there, but turns its loop no more: it sends nothing, and closes nothing. */
static void a_supervisor_that_is_silent_for_too_long_ends_it(void **state)
{
  struct rig r;
  int64_t began_ns = tm_clock_boot_ns();
  int status;
  rig_open_beating(&r, tm_hello(), 200 * TM_MS);
  rig_wait(&r, TM_MSG_HELLO, 0);
  while (tm_node_stream_round_trip_ns(r.stream) == 0) /* then the relay knows the timeout */
    tm_loop_turn(&r.loop);
  int keeper = rig_hold(keeper_of(&r));
  assert_int_equal(waitpid(r.keeper, &status, 0), r.keeper);
  assert_int_equal(status, TM_RELAY_SILENT << 8);
  assert_true(tm_clock_boot_ns() - began_ns >= TM_EXCHANGE_TIMEOUTS * 200 * TM_MS);
  rig_wait_gone(keeper);
  r.keeper = 0;
  while (!r.has_ended)
    rig_turn(&r);
  rig_close(&r);
}

/* The supervisor learns it first. The keeper is continued, and ends. */
static void a_keeper_that_stays_stopped_ends_it(void **state)
{
  struct rig r;
  int64_t silent_ns = 0;
  int status;
  rig_open_beating(&r, tm_hello(), 200 * TM_MS); /* a keeper has a second */
  rig_wait(&r, TM_MSG_HELLO, 0);
  while (tm_node_stream_round_trip_ns(r.stream) == 0) /* then the relay knows the timeout */
    tm_loop_turn(&r.loop);
  int keeper = rig_hold(keeper_of(&r));
  kill(keeper_of(&r), SIGSTOP);
  while (silent_ns < TM_S) {
    const struct tm_msg *f = rig_wait(&r, TM_MSG_KEEPER_SILENT, 0);
    assert_int_equal(f->length, 8);
    silent_ns = (int64_t)tm_get_u32(f->payload) | (int64_t)tm_get_u32(f->payload + 4) << 32;
  }
  assert_int_equal(waitpid(r.keeper, &status, 0), r.keeper);
  assert_int_equal(status, TM_RELAY_KEEPER_ENDED << 8);
  rig_wait_gone(keeper);
  r.keeper = 0;
  while (!r.has_ended)
    rig_turn(&r);
  rig_close(&r);
}

/* A stopped keeper could not end its workers. */
static void a_stopped_keeper_is_continued_at_the_end(void **state)
{
  struct rig r;
  struct all all;
  fill(&r, &all);
  kill(keeper_of(&r), SIGSTOP);
  assert_int_equal(rig_end_keeper(&r), 0);
  for (int i = 0; i < all.len; i++)
    rig_wait_gone(all.at[i]);
  assert_false(rig_exists(&r, "temp/score-process0")); /* it was not killed */
  rig_close(&r);
}

static void a_stopped_keeper_is_continued_to_kill_a_worker(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  kill(keeper_of(&r), SIGSTOP);
  rig_send(&r, TM_MSG_KILL, 0, 0, NULL, 0);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.cause, TM_END_KILLED);
  rig_close(&r);
}

static void a_worker_that_is_killed_is_replaced(void **state)
{
  struct rig r;
  struct tm_ended e;
  rig_start(&r, 60 * TM_S);
  pid_t pid = rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  kill(pid, SIGKILL);
  rig_wait_ended(&r, 0, &e);
  assert_int_equal(e.signal, SIGKILL);
  rig_start_worker(&r, 1);
  rig_wait_ready(&r, 1);
  free(rig_wait_rows(&r, 1, rig_hand(&r, 1, "/a")));
  rig_close(&r);
}

static void large_results_come_whole_and_in_order(void **state)
{
  enum { RESULTS = 8, BYTES = 1000000 };
  struct rig r;
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_start_worker(&r, 1);
  rig_wait_ready(&r, 0);
  rig_wait_ready(&r, 1);
  for (uint32_t i = 0; i < 2 * RESULTS; i++)
    rig_hand(&r, i % 2, "/large");
  for (uint32_t i = 0; i < 2 * RESULTS; i++) {
    char *rows = rig_wait_rows(&r, i % 2, i / 2 + 1);
    assert_int_equal(strspn(rows, "l"), BYTES);
    free(rows);
  }
  rig_close(&r);
}

/* Much more than its socket and the pipes hold. */
static void a_worker_that_does_not_read_delays_no_other(void **state)
{
  enum { MINI_BATCHES = 400, PATH = 20000 };
  struct rig r;
  char *path = tm_xcalloc(1, PATH + 1);
  memset(path, 'p', PATH);
  rig_start(&r, 60 * TM_S);
  pid_t pid = rig_start_worker(&r, 0);
  rig_start_worker(&r, 1);
  rig_wait_ready(&r, 0);
  rig_wait_ready(&r, 1);
  kill(pid, SIGSTOP);
  for (int i = 0; i < MINI_BATCHES; i++)
    rig_hand(&r, 0, path);
  for (int i = 0; i < 100; i++)
    free(rig_wait_rows(&r, 1, rig_hand(&r, 1, "/a")));
  assert_true(tm_node_stream_pending_of(r.stream, 0) > 0);
  assert_false(rig_has(&r, TM_MSG_RESULT));
  kill(pid, SIGCONT);
  for (int i = 0; i < MINI_BATCHES; i++) {
    char *rows = rig_wait_rows(&r, 0, (uint64_t)i + 1);
    assert_int_equal(strlen(rows), PATH + 1);
    free(rows);
  }
  free(path);
  rig_close(&r);
}

/* The supervisor takes nothing for a while: workers wait, the relay keeps little, and what is about
 * the node comes through. */
static void a_supervisor_that_does_not_take_results_still_hears_of_the_node(void **state)
{
  enum { RESULTS = 40 };
  struct rig r;
  struct tm_process_memory before, after;
  rig_start(&r, 60 * TM_S);
  rig_start_worker(&r, 0);
  rig_wait_ready(&r, 0);
  assert_true(tm_process_memory(r.keeper, &before));
  r.is_slow = true;
  for (int i = 0; i < RESULTS; i++)
    rig_hand(&r, 0, "/large");
  rig_wait(&r, TM_MSG_RESULT, 0);
  for (int i = 0; i < 100; i++) {
    rig_send(&r, TM_MSG_PING, 0, 0, NULL, 0);
    rig_wait(&r, TM_MSG_PONG, 0);
  }
  assert_true(tm_process_memory(r.keeper, &after));
#ifndef __SANITIZE_THREAD__ /* which notes each access to memory in memory */
  assert_true(after.own_kb < before.own_kb + 12000);
#endif
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_close(&r);
}

/* The supervisor's side sends these bytes. The relay says why it ends, and starts nothing. */
static void expect_refused(const char *bytes, const char *words)
{
  int in[2], out[2], status;
  char *self = tm_process_program(), text[4096];
  char *program = getenv("RIG_PROGRAM") ? getenv("RIG_PROGRAM") : self;
  char *argv[] = { program, (char *)"node", NULL };
  assert_int_equal(pipe2(in, O_CLOEXEC), 0);
  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  int fds[] = { in[0], out[1], out[1] };
  struct tm_spawn spawn = { .program = program, .argv = argv, .fds = fds, .fds_len = 3 };
  assert_int_equal(write(in[1], bytes, strlen(bytes)), strlen(bytes));
  pid_t pid = tm_process_start(&spawn, NULL);
  assert_true(pid > 0);
  close(in[0]);
  close(in[1]);
  close(out[1]);
  size_t len = 0;
  ssize_t n;
  while ((n = read(out[0], text + len, sizeof text - 1 - len)) > 0)
    len += (size_t)n;
  assert_int_equal(n, 0);
  text[len] = 0;
  close(out[0]);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, TM_RELAY_BROKEN << 8);
  if (!strstr(text, "tidemill node: ") || !strstr(text, words))
    fail_msg("'%s' is not in '%s'", words, text);
  free(self);
}

static void what_is_no_supervisor_is_refused(void **state)
{
  expect_refused("", "ended before");
  expect_refused("hello\n", "'hello\\n'");
  expect_refused("tidemill-stream 1 00000000000000aa 0000000000000000 tidemill 0.0.0\n",
                 "'tidemill 0.0.0'");
}

UNIT_HOOKS(.serve = rig_serve, .limit_s = 120);
UNIT_TESTS({
    cmocka_unit_test(nothing_is_left_of_a_relay_that_is_killed),
    cmocka_unit_test(nothing_is_left_of_a_keeper_that_is_killed),
    cmocka_unit_test(nothing_is_left_when_a_signal_ends_it),
    cmocka_unit_test(it_drains_when_its_machine_will_be_taken_away),
    cmocka_unit_test(it_ends_at_once_if_there_is_nothing_to_drain),
    cmocka_unit_test(a_supervisor_that_is_silent_for_too_long_ends_it),
    cmocka_unit_test(a_keeper_that_stays_stopped_ends_it),
    cmocka_unit_test(a_stopped_keeper_is_continued_at_the_end),
    cmocka_unit_test(a_stopped_keeper_is_continued_to_kill_a_worker),
    cmocka_unit_test(a_worker_that_is_killed_is_replaced),
    cmocka_unit_test(large_results_come_whole_and_in_order),
    cmocka_unit_test(a_worker_that_does_not_read_delays_no_other),
    cmocka_unit_test(a_supervisor_that_does_not_take_results_still_hears_of_the_node),
    cmocka_unit_test(what_is_no_supervisor_is_refused),
});
