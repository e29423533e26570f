/* test_launcher.c - commands that a real keeper launches: their streams, and how they end. */
#include "unit.h"

#include <sys/socket.h>

#include "node/keeper_start.h"
#include "launch_rig.h"

struct asked {
  int fd; /* our end of its stdin and stdout */
  pid_t pid;
};

/* Runs `text` by a shell. */
static void ask_as(struct rig *r, uint32_t type, uint32_t number, const char *text, int64_t end_ns)
{
  char *without[] = { (char *)"TM_TEST_WITHOUT", (char *)"TM_TEST_UNKNOWN", NULL };
  struct tm_buf b = TM_BUF_NONE;
  char *argv[] = { (char *)"sh", (char *)"-c", (char *)text, NULL };
  char *path = tm_xprintf("%s/err", r->dir);
  struct tm_launch l = { .argv = argv, .stderr_path = path, .cwd = r->dir, .without = without };
  tm_node_launch_encode(&b, &l, end_ns);
  rig_send(r, type, 0, number, b.data, b.len);
  tm_buf_release(&b);
  free(path);
}

static void ask(struct rig *r, uint32_t number, const char *text, int64_t end_ns)
{
  ask_as(r, TM_MSG_LAUNCH, number, text, end_ns);
}

static struct asked launch(struct rig *r, uint32_t number, const char *text, int64_t end_ns)
{
  ask(r, number, text, end_ns);
  const struct tm_msg *f = rig_wait(r, TM_MSG_LAUNCHED, number);
  assert_true(f->fd >= 0 && f->length == 12);
  return (struct asked) { f->fd, (pid_t)tm_get_u32(f->payload) };
}

static void expect_end_of_stream(int fd)
{
  char byte;
  struct pollfd p = { .fd = fd, .events = POLLIN };
  assert_int_equal(poll(&p, 1, (int)(RIG_LIMIT / TM_MS)), 1);
  assert_int_equal(read(fd, &byte, 1), 0);
}

static void expect_without(const struct rig *r, const char *text)
{
  char *all = rig_read(r, "err");
  assert_null(strstr(all, text));
  free(all);
}

static void a_launch_talks_over_its_stream_and_ends(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  struct asked a =
      launch(&r, 7, "echo one >&2; pwd; cat; printf 'the last\033\r\n' >&2; exit 3", 0);
  assert_string_equal(launch_read_line(a.fd), r.dir);
  assert_int_equal(write(a.fd, "hello\n", 6), 6);
  assert_string_equal(launch_read_line(a.fd), "hello");
  assert_int_equal(shutdown(a.fd, SHUT_WR), 0);
  expect_end_of_stream(a.fd);
  struct tm_launch_ended e = launch_wait_ended(&r, 7);
  assert_int_equal(e.exit_status, 3);
  assert_int_equal(e.signal, 0);
  assert_string_equal(e.last_line, "the last\\x1B");
  rig_expect_text(&r, "err", "one\nthe last\033\r\n");
  close(a.fd);

  /* The file is appended to, and is nobody else's. */
  a = launch(&r, 8, "kill -TERM $$", 0);
  e = launch_wait_ended(&r, 8);
  assert_int_equal(e.signal, SIGTERM);
  assert_string_equal(e.last_line, "");
  rig_expect_text(&r, "err", "one\nthe last");
  struct stat st;
  char *path = tm_xprintf("%s/err", r.dir);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  free(path);
  close(a.fd);
  rig_close(&r);
}

static void a_launch_has_only_its_stream_and_its_stderr(void **state)
{
  struct rig r;
  struct tm_buf mark = TM_BUF_NONE;
  rig_start(&r, 0);
  struct asked a = launch(
      &r, 0, "echo /proc/$$/fd/*; ps -o sid= -p $$ 2>/dev/null; echo \"$TIDEMILL_WORKER\"", 0);
  char *expected = tm_xprintf("/proc/%d/fd/0 /proc/%d/fd/1 /proc/%d/fd/2", a.pid, a.pid, a.pid);
  const char *line = launch_read_line(a.fd);
  if (strncmp(line, expected, strlen(expected)) != 0)
    fail_msg("%s", line);
  free(expected);
  while (!strchr(line = launch_read_line(a.fd), ':')) /* the session, if there is a ps */
    assert_int_equal(atol(line), a.pid);
  char *job = tm_incarnation_mark(r.dir, &r.incarnation);
  tm_buf_printf(&mark, "%slaunch:0", job);
  assert_string_equal(line, tm_buf_str(&mark));
  tm_buf_release(&mark);
  free(job);
  launch_wait_ended(&r, 0);
  close(a.fd);
  rig_close(&r);
}

static void variables_can_be_left_out(void **state)
{
  struct rig r;
  struct asked a;
  setenv("TM_TEST_WITHOUT", "x", 1);
  setenv("TM_TEST_WITH", "y", 1);
  rig_start(&r, 0);
  a = launch(&r, 0, "echo \"${TM_TEST_WITHOUT-none} $TM_TEST_WITH\"", 0);
  assert_string_equal(launch_read_line(a.fd), "none y");
  launch_wait_ended(&r, 0);
  close(a.fd);
  rig_close(&r);
  unsetenv("TM_TEST_WITHOUT");
  unsetenv("TM_TEST_WITH");
}

static void expect_failed(struct rig *r, char *program, const char *cwd, const char *errors,
                          const char *words)
{
  struct tm_buf b = TM_BUF_NONE;
  char *argv[] = { program, NULL };
  char *path = tm_xprintf("%s/%s", r->dir, errors);
  struct tm_launch l = { .argv = argv, .stderr_path = path, .cwd = cwd };
  tm_node_launch_encode(&b, &l, 0);
  rig_send(r, TM_MSG_LAUNCH, 0, 1, b.data, b.len);
  const struct tm_msg *f = rig_wait(r, TM_MSG_LAUNCH_FAILED, 1);
  char *text = tm_xstrndup(f->payload, f->length);
  if (!strstr(text, words))
    fail_msg("'%s' is not in: %s", words, text);
  free(text);
  free(path);
  tm_buf_release(&b);
}

static void a_command_that_cannot_be_started_is_reported(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  expect_failed(&r, (char *)"no-such-ssh", r.dir, "err",
                "cannot start 'no-such-ssh': there is no such program in PATH");
  expect_failed(&r, (char *)"no-such-ssh", r.dir, "err", "; install it on this machine, or name");
  expect_failed(&r, (char *)"/dev/null", r.dir, "err", "cannot start '/dev/null': it is not exec");
  expect_failed(&r, (char *)"sh", "/no/folder", "err", "in the folder '/no/folder'");
  expect_failed(&r, (char *)"sh", r.dir, "no/err", "no/err'");
  struct asked a = launch(&r, 1, "true", 0); /* the number is free again */
  launch_wait_ended(&r, 1);
  close(a.fd);
  rig_close(&r);
}

static void a_launch_is_asked_to_end(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  struct asked a =
      launch(&r, 0, "trap 'exit 9' TERM; echo ready; while :; do read x; done", RIG_LIMIT);
  assert_string_equal(launch_read_line(a.fd), "ready");
  rig_send(&r, TM_MSG_END_LAUNCH, 0, 0, NULL, 0);
  rig_send(&r, TM_MSG_END_LAUNCH, 0, 0, NULL, 0);
  rig_send(&r, TM_MSG_END_LAUNCH, 0, 5, NULL, 0); /* unknown: ignored */
  struct tm_launch_ended e = launch_wait_ended(&r, 0);
  assert_int_equal(e.signal, 0);
  assert_int_equal(e.exit_status, 9);
  assert_false(rig_has(&r, TM_MSG_LAUNCH_ENDED));
  close(a.fd);
  rig_close(&r);
}

static void a_launch_that_does_not_end_is_killed(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  struct asked a = launch(
      &r, 0, "trap '' TERM; sleep 1000 & echo $!; wait; while :; do sleep 1000; done", TM_MS);
  int held = rig_hold((pid_t)atol(launch_read_line(a.fd)));
  rig_send(&r, TM_MSG_END_LAUNCH, 0, 0, NULL, 0);
  assert_int_equal(launch_wait_ended(&r, 0).signal, SIGKILL);
  rig_wait_gone(held); /* it was killed, but the kernel may need a moment to take it away */
  close(a.fd);
  rig_close(&r);
}

static void a_launch_is_killed_at_once_on_request(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  struct asked a = launch(&r, 0, "trap '' TERM; echo ready; while :; do read x; done", INT64_MAX);
  assert_string_equal(launch_read_line(a.fd), "ready");
  rig_send(&r, TM_MSG_END_LAUNCH, 0, 0, NULL, 0);
  rig_send(&r, TM_MSG_KILL_LAUNCH, 0, 0, NULL, 0);
  rig_send(&r, TM_MSG_KILL_LAUNCH, 0, 5, NULL, 0); /* unknown: ignored */
  assert_int_equal(launch_wait_ended(&r, 0).signal, SIGKILL);
  close(a.fd);
  rig_close(&r);
}

/* In a session of its own, and below another process. */
static void what_a_launch_has_started_is_killed_when_it_ends(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  rig_start_worker(&r, 0); /* a neighbour, which is spared */
  rig_wait_ready(&r, 0);
  struct asked a =
      launch(&r, 3, "setsid sh -c 'setsid sleep 1000 & echo $!; wait' & read x; exit 0", RIG_LIMIT);
  struct asked other = launch(&r, 4, "setsid sleep 1000 & echo $!; cat", RIG_LIMIT);
  int held = rig_hold((pid_t)atol(launch_read_line(a.fd)));
  int spared = rig_hold((pid_t)atol(launch_read_line(other.fd)));
  assert_int_equal(write(a.fd, "\n", 1), 1);
  assert_int_equal(launch_wait_ended(&r, 3).exit_status, 0);
  rig_wait_gone(held);
  struct pollfd p = { .fd = spared, .events = POLLIN };
  assert_int_equal(poll(&p, 1, 0), 0);
  free(rig_wait_rows(&r, 0, rig_hand(&r, 0, "/a")));
  close(a.fd);
  rig_close(&r); /* ends the other one */
  rig_wait_gone(spared);
  close(other.fd);
}

static void a_closed_channel_ends_all_launches(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  struct asked polite = launch(
      &r, 0, "trap 'echo bye >&2; exit 0' TERM; echo ready; while :; do read x; done", RIG_LIMIT);
  struct asked stubborn = launch(
      &r, 1, "trap '' TERM HUP; setsid sleep 1000 & echo $!; while :; do sleep 1000; done", TM_MS);
  assert_string_equal(launch_read_line(polite.fd), "ready");
  int left = rig_hold((pid_t)atol(launch_read_line(stubborn.fd)));
  int held[] = { rig_hold(polite.pid), rig_hold(stubborn.pid) };
  assert_int_equal(rig_end_keeper(&r), 0);
  struct pollfd p[] = { { .fd = held[0], .events = POLLIN }, { .fd = held[1], .events = POLLIN } };
  assert_int_equal(poll(p, 2, 0), 2); /* the keeper ended last */
  rig_wait_gone(left);
  rig_expect_text(&r, "err", "bye\n");
  for (size_t i = 0; i < 2; i++)
    close(p[i].fd);
  close(polite.fd);
  close(stubborn.fd);
  rig_close(&r);
}

static void the_last_command_runs_when_the_launches_have_ended(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  ask_as(&r, TM_MSG_AT_END, 0, "echo first >&2", RIG_LIMIT);
  ask_as(&r, TM_MSG_AT_END, 0, "echo last >&2", RIG_LIMIT); /* counts */
  struct asked a = launch(&r, 0, "trap 'echo bye >&2; exit 0' TERM; echo ready; read x", RIG_LIMIT);
  assert_string_equal(launch_read_line(a.fd), "ready");
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_expect_text(&r, "err", "bye\nlast\n");
  expect_without(&r, "first");
  close(a.fd);
  rig_close(&r);
}

/* It is killed when the last command is over, whatever its own time is. */
static void the_last_command_runs_beside_a_launch_that_does_not_end(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  struct asked a =
      launch(&r, 0, "trap '' TERM HUP; echo ready; while :; do sleep 1000; done", INT64_MAX);
  assert_string_equal(launch_read_line(a.fd), "ready");
  int held = rig_hold(a.pid);
  char *look = tm_xprintf("kill -0 %d && echo beside >&2", (int)a.pid);
  ask_as(&r, TM_MSG_AT_END, 0, look, TM_MS);
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_wait_gone(held);
  rig_expect_text(&r, "err", "beside\n");
  free(look);
  close(a.fd);
  rig_close(&r);
}

static void a_last_command_that_cannot_be_started_holds_nothing_up(void **state)
{
  struct rig r;
  char *argv[] = { (char *)"/no/program", NULL };
  struct tm_launch last = { .argv = argv, .cwd = "" };
  struct tm_buf b = TM_BUF_NONE;
  rig_start(&r, 0);
  last.stderr_path = r.dir; /* a folder, too */
  tm_node_launch_encode(&b, &last, TM_MS);
  rig_send(&r, TM_MSG_AT_END, 0, 0, b.data, b.len);
  tm_buf_release(&b);
  struct asked a =
      launch(&r, 0, "trap '' TERM HUP; echo ready; while :; do sleep 1000; done", INT64_MAX);
  assert_string_equal(launch_read_line(a.fd), "ready");
  assert_int_equal(rig_end_keeper(&r), 0);
  close(a.fd);
  rig_close(&r);
}

static void the_last_command_does_not_run_if_no_launch_lives(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  ask_as(&r, TM_MSG_AT_END, 0, "echo last >&2", RIG_LIMIT);
  rig_send(&r, TM_MSG_AT_END, 0, 0, "x", 1); /* cannot be read: the keeper notes it */
  struct asked a = launch(&r, 0, "echo one >&2", RIG_LIMIT);
  launch_wait_ended(&r, 0);
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_expect_text(&r, "err", "one\n");
  expect_without(&r, "last");
  close(a.fd);
  rig_close(&r);
}

static void leftovers_of_a_killed_keeper_are_found(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  struct asked reader = launch(&r, 0, "cat; echo gone >&2", RIG_LIMIT);
  struct asked stubborn = launch(&r, 1, "trap '' TERM HUP; echo ready; sleep 1000; :", RIG_LIMIT);
  assert_string_equal(launch_read_line(stubborn.fd), "ready");
  int held[] = { rig_hold(reader.pid), rig_hold(stubborn.pid) };
  kill(r.keeper, SIGKILL);
  close(reader.fd); /* its stdin ends */
  rig_wait_gone(held[0]);
  rig_expect_text(&r, "err", "gone\n");
  assert_true(tm_keeper_await(r.keeper, true, r.dir, &r.incarnation) >= 1);
  rig_wait_gone(held[1]);
  r.keeper = 0;
  close(stubborn.fd);
  rig_close(&r);
}

static void a_request_that_cannot_be_honoured_ends_the_keeper(void **state)
{
  struct rig r;
  rig_start(&r, 0);
  rig_send(&r, TM_MSG_LAUNCH, 0, 0, "x", 1);
  launch_expect_end_of_keeper(&r);

  rig_start(&r, 0);
  struct asked a = launch(&r, 0, "cat", RIG_LIMIT);
  ask(&r, 0, "cat", RIG_LIMIT);
  launch_expect_end_of_keeper(&r);
  close(a.fd);

  rig_open(&r, tm_hello()); /* there is no step */
  ask(&r, 0, "cat", RIG_LIMIT);
  launch_expect_end_of_keeper(&r);
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(a_launch_talks_over_its_stream_and_ends),
    cmocka_unit_test(a_launch_has_only_its_stream_and_its_stderr),
    cmocka_unit_test(variables_can_be_left_out),
    cmocka_unit_test(a_command_that_cannot_be_started_is_reported),
    cmocka_unit_test(a_launch_is_asked_to_end),
    cmocka_unit_test(a_launch_that_does_not_end_is_killed),
    cmocka_unit_test(a_launch_is_killed_at_once_on_request),
    cmocka_unit_test(what_a_launch_has_started_is_killed_when_it_ends),
    cmocka_unit_test(a_closed_channel_ends_all_launches),
    cmocka_unit_test(the_last_command_runs_when_the_launches_have_ended),
    cmocka_unit_test(the_last_command_runs_beside_a_launch_that_does_not_end),
    cmocka_unit_test(a_last_command_that_cannot_be_started_holds_nothing_up),
    cmocka_unit_test(the_last_command_does_not_run_if_no_launch_lives),
    cmocka_unit_test(leftovers_of_a_killed_keeper_are_found),
    cmocka_unit_test(a_request_that_cannot_be_honoured_ends_the_keeper),
});
