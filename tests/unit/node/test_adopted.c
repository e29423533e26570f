/* test_adopted.c - commands that outlive the keeper that launched them, and what the next one does
 * with them. */
#include "unit.h"

#include <sys/socket.h>

#include "launch_rig.h"

struct kept {
  int fd; /* our end of its stdin and stdout */
  struct tm_launched_process process;
};

static void encode(struct tm_buf *b, const struct rig *r, const char *text, bool is_kept)
{
  char *argv[] = { (char *)"sh", (char *)"-c", (char *)text, NULL };
  char *path = tm_xprintf("%s/err", r->dir);
  struct tm_launch l = { .argv = argv, .stderr_path = path, .cwd = r->dir, .is_kept = is_kept };
  tm_node_launch_encode(b, &l, RIG_LIMIT);
  free(path);
}

/* Runs `text` by a shell. */
static struct kept launch(struct rig *r, uint32_t number, const char *text, bool is_kept)
{
  struct tm_buf b = TM_BUF_NONE;
  encode(&b, r, text, is_kept);
  rig_send(r, TM_MSG_LAUNCH, 0, number, b.data, b.len);
  tm_buf_release(&b);
  const struct tm_msg *f = rig_wait(r, TM_MSG_LAUNCHED, number);
  assert_true(f->fd >= 0 && f->length == 12);
  struct kept k = { .fd = f->fd,
                    .process = { .pid = tm_get_u32(f->payload),
                                 .born = tm_get_u64(f->payload + 4),
                                 .keeper = r->incarnation.number,
                                 .launch = number,
                                 .started_ns = 1 } };
  assert_true(k.process.born > 0);
  assert_int_equal(k.process.born, tm_process_born((pid_t)k.process.pid));
  return k;
}

static void adopt(struct rig *r, uint32_t number, const struct tm_launched_process *p,
                  int64_t end_ns)
{
  struct tm_buf b = TM_BUF_NONE;
  char *path = tm_xprintf("%s/err", r->dir);
  tm_launched_process_encode(&b, p, path, end_ns);
  rig_send(r, TM_MSG_ADOPT, 0, number, b.data, b.len);
  tm_buf_release(&b);
  free(path);
}

static struct tm_launch_ended wait_ended(struct rig *r, uint32_t number)
{
  struct tm_launch_ended e = launch_wait_ended(r, number);
  assert_true(e.is_unknown);
  return e;
}

static void expect_echo(int fd)
{
  assert_int_equal(write(fd, "hello\n", 6), 6);
  assert_string_equal(launch_read_line(fd), "hello");
}

static bool lives(int held)
{
  struct pollfd p = { .fd = held, .events = POLLIN };
  return poll(&p, 1, 0) == 0;
}

static void kill_keeper(struct rig *r)
{
  kill(r->keeper, SIGKILL);
  assert_int_equal(waitpid(r->keeper, NULL, 0), r->keeper);
  r->keeper = 0;
  (void)tm_incarnation_kill(r->dir, &r->incarnation); /* as its parent does */
}

static void start_next(struct rig *next, const struct rig *r, struct tm_incarnation incarnation)
{
  rig_open(next, tm_hello());
  rig_wait(next, TM_MSG_HELLO, 0);
  tm_tree_remove(next->dir, NULL);
  strcpy(next->dir, r->dir);
  next->incarnation = incarnation;
  rig_add_step(next, 0, NULL, NULL, 0);
  rig_send(next, TM_MSG_PING, 0, 0, NULL, 0);
  rig_wait(next, TM_MSG_PONG, 0); /* it has ended what is over */
}

/* The keeper of `r` is killed, and `next` is the next one. */
static void replace(struct rig *next, struct rig *r)
{
  kill_keeper(r);
  start_next(next, r, (struct tm_incarnation) { .number = 1 });
}

static void release(struct rig *next, struct rig *r)
{
  if (next->keeper > 0)
    assert_int_equal(rig_end_keeper(next), 0);
  strcpy(next->dir, "/tmp/tidemill-rig-gone");
  rig_close(next);
  rig_close(r);
}

static void the_next_keeper_adopts_a_command_and_notices_its_end(void **state)
{
  struct rig r, next;
  rig_start(&r, 0);
  struct kept k = launch(&r, 3, "cat; echo 'the last' >&2; exit 4", true);
  kill_keeper(&r);
  expect_echo(k.fd); /* without any keeper */
  start_next(&next, &r, (struct tm_incarnation) { .number = 1 });
  adopt(&next, 0, &k.process, RIG_LIMIT);
  rig_wait(&next, TM_MSG_ADOPTED, 0);
  expect_echo(k.fd);
  assert_int_equal(shutdown(k.fd, SHUT_WR), 0);
  assert_string_equal(wait_ended(&next, 0).last_line, "the last");
  close(k.fd);
  release(&next, &r);
}

/* Two commands that are kept: `polite`, which ends when it is asked to, and one that does not. */
struct pair {
  struct kept polite, stubborn;
  int held; /* a handle on the stubborn one */
};

static struct pair launch_pair(struct rig *r, const char *polite)
{
  struct pair p = { .polite = launch(r, 0, polite, true) };
  p.stubborn = launch(r, 1, "trap '' TERM HUP; echo ready; while :; do sleep 1000; done", true);
  launch_read_line(p.polite.fd);
  launch_read_line(p.stubborn.fd);
  p.held = rig_hold((pid_t)p.stubborn.process.pid);
  return p;
}

static void close_pair(const struct pair *p)
{
  close(p->polite.fd);
  close(p->stubborn.fd);
}

static void an_adopted_command_is_ended_on_request(void **state)
{
  struct rig r, next;
  rig_start(&r, 0);
  struct pair p = launch_pair(&r, "trap 'echo bye; exit' TERM; echo ready; read x");
  replace(&next, &r);
  adopt(&next, 5, &p.polite.process, RIG_LIMIT);
  adopt(&next, 6, &p.stubborn.process, TM_MS);
  rig_send(&next, TM_MSG_END_LAUNCH, 0, 5, NULL, 0);
  rig_send(&next, TM_MSG_END_LAUNCH, 0, 6, NULL, 0);
  wait_ended(&next, 5);
  assert_string_equal(launch_read_line(p.polite.fd), "bye");
  wait_ended(&next, 6);
  rig_wait_gone(p.held);
  close_pair(&p);
  release(&next, &r);
}

/* Its end is reported when nothing of it is left. */
static void leftover_processes_of_an_adopted_command_are_killed(void **state)
{
  struct rig r, next;
  rig_start(&r, 0);
  struct kept k = launch(
      &r, 0, "setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1000; done' & read x",
      true);
  int left = rig_hold((pid_t)atol(launch_read_line(k.fd)));
  replace(&next, &r);
  adopt(&next, 0, &k.process, RIG_LIMIT);
  rig_wait(&next, TM_MSG_ADOPTED, 0);
  assert_true(lives(left));
  assert_int_equal(write(k.fd, "\n", 1), 1);
  wait_ended(&next, 0);
  assert_false(lives(left));
  close(left);
  close(k.fd);
  release(&next, &r);
}

/* The numbers of processes are used again. */
static void another_process_with_that_number_is_not_touched(void **state)
{
  struct rig r, next;
  rig_start(&r, 0);
  struct kept k = launch(&r, 0, "cat", true), other = launch(&r, 1, "cat", true);
  int held = rig_hold((pid_t)k.process.pid);
  replace(&next, &r);
  pid_t stranger = fork();
  if (stranger == 0)
    for (;;)
      pause();
  struct tm_launched_process wrong[] = { other.process, other.process, other.process };
  wrong[0].pid = (uint32_t)stranger; /* it has no mark */
  wrong[0].born = tm_process_born(stranger);
  wrong[1].launch = 7; /* the mark of another launch */
  wrong[2].launch = 8;
  wrong[2].keeper = 9;
  for (uint32_t i = 0; i < 3; i++) {
    adopt(&next, i, &wrong[i], RIG_LIMIT);
    wait_ended(&next, i);
    rig_send(&next, TM_MSG_KILL_LAUNCH, 0, i, NULL, 0);
  }
  assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0);
  expect_echo(k.fd);

  wrong[0] = k.process;
  wrong[0].born++; /* the command has ended, and its number is used again by what it has left */
  adopt(&next, 4, &wrong[0], RIG_LIMIT);
  wait_ended(&next, 4);
  rig_wait_gone(held);
  kill(stranger, SIGKILL);
  waitpid(stranger, NULL, 0);
  close(k.fd);
  close(other.fd);
  (void)tm_session_kill_kept(r.dir, r.incarnation.epoch, r.incarnation.node);
  release(&next, &r);
}

/* Its keeper was killed before the supervisor had heard of it. */
static void a_command_with_an_unknown_number_is_ended(void **state)
{
  struct rig r, next;
  rig_start(&r, 0);
  struct kept k = launch(&r, 2, "trap '' TERM HUP; echo ready; while :; do sleep 1000; done", true);
  launch_read_line(k.fd);
  int held = rig_hold((pid_t)k.process.pid);
  replace(&next, &r);
  assert_true(lives(held));
  adopt(&next, 0, &(struct tm_launched_process) { .launch = 2, .started_ns = 1 }, RIG_LIMIT);
  wait_ended(&next, 0);
  rig_wait_gone(held);
  close(k.fd);
  release(&next, &r);
}

static void a_closed_channel_ends_adopted_commands_and_runs_the_last_command(void **state)
{
  struct rig r, next;
  struct tm_buf last = TM_BUF_NONE;
  rig_start(&r, 0);
  struct pair p = launch_pair(&r, "trap 'echo bye >&2; exit' TERM; echo ready; read x");
  replace(&next, &r);
  encode(&last, &next, "echo last >&2", false);
  rig_send(&next, TM_MSG_AT_END, 0, 0, last.data, last.len);
  tm_buf_release(&last);
  adopt(&next, 0, &p.polite.process, RIG_LIMIT);
  adopt(&next, 1, &p.stubborn.process, TM_MS);
  rig_wait(&next, TM_MSG_ADOPTED, 1);
  rig_send(&next, TM_MSG_END_LAUNCH, 0, 1, NULL, 0);
  wait_ended(&next, 1);
  rig_wait_gone(p.held);
  assert_int_equal(rig_end_keeper(&next), 0);
  rig_expect_text(&next, "err", "bye\nlast\n");
  close_pair(&p);
  release(&next, &r);
}

static void only_kept_launches_outlive_their_keeper(void **state)
{
  struct rig r, next;
  rig_start(&r, 0);
  struct kept kept = launch(&r, 0, "cat", true);
  struct kept other = launch(&r, 1, "trap '' HUP; echo ready; while :; do sleep 1000; done", false);
  launch_read_line(other.fd);
  int held = rig_hold((pid_t)other.process.pid);
  replace(&next, &r);
  rig_wait_gone(held);
  expect_echo(kept.fd);
  held = rig_hold((pid_t)kept.process.pid);
  assert_int_equal(rig_end_keeper(&next), 0); /* it has not adopted it */
  assert_true(lives(held));
  assert_int_equal(tm_session_kill_kept(r.dir, r.incarnation.epoch + 1, 0), 0);
  assert_int_equal(tm_session_kill_kept(r.dir, r.incarnation.epoch, 1), 0);
  assert_true(tm_session_kill_kept(r.dir, r.incarnation.epoch, 0) >= 1);
  rig_wait_gone(held);
  close(kept.fd);
  close(other.fd);
  release(&next, &r);
}

static void a_later_session_ends_kept_launches(void **state)
{
  struct rig r, next;
  rig_start(&r, 0);
  struct kept k = launch(&r, 0, "cat", true);
  int held = rig_hold((pid_t)k.process.pid);
  kill_keeper(&r);
  assert_true(lives(held));
  start_next(&next, &r, (struct tm_incarnation) { .epoch = 1 });
  rig_wait_gone(held);
  close(k.fd);
  release(&next, &r);
}

static void a_request_that_cannot_be_honoured_ends_the_keeper(void **state)
{
  struct rig r;
  struct tm_launched_process p = { .pid = 1, .born = 1, .started_ns = 1 };
  rig_start(&r, 0);
  rig_send(&r, TM_MSG_ADOPT, 0, 0, "x", 1);
  launch_expect_end_of_keeper(&r);

  rig_start(&r, 0);
  struct kept k = launch(&r, 0, "cat", false);
  adopt(&r, 0, &p, RIG_LIMIT);
  launch_expect_end_of_keeper(&r);
  close(k.fd);

  rig_open(&r, tm_hello()); /* there is no step */
  adopt(&r, 0, &p, RIG_LIMIT);
  launch_expect_end_of_keeper(&r);
}

UNIT_HOOKS(.serve = rig_serve);
UNIT_TESTS({
    cmocka_unit_test(the_next_keeper_adopts_a_command_and_notices_its_end),
    cmocka_unit_test(an_adopted_command_is_ended_on_request),
    cmocka_unit_test(leftover_processes_of_an_adopted_command_are_killed),
    cmocka_unit_test(another_process_with_that_number_is_not_touched),
    cmocka_unit_test(a_command_with_an_unknown_number_is_ended),
    cmocka_unit_test(a_closed_channel_ends_adopted_commands_and_runs_the_last_command),
    cmocka_unit_test(only_kept_launches_outlive_their_keeper),
    cmocka_unit_test(a_later_session_ends_kept_launches),
    cmocka_unit_test(a_request_that_cannot_be_honoured_ends_the_keeper),
});
