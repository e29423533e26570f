/* test_channel.c - frames on a loop: order, ends, descriptors, and slow, dead or hostile peers. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/messages/channel.h"

/* Two ends on one loop. `to` receives. */
struct ends {
  struct tm_loop loop;
  struct tm_channel from, to;
  int fds[2];
  int frames, frames_from, ends, code, closed, close_at, last_fd;
  uint64_t bytes;
  struct stat passed[4]; /* of the descriptors that arrived */
  int passed_len, pass_every;
};

static uint32_t length_of(uint64_t index)
{
  return (uint32_t)(index * 2654435761u % 5000);
}

static void check_numbered(const struct tm_msg *f, int index)
{
  assert_int_equal(f->index, index);
  assert_int_equal(f->length, length_of(f->index));
  for (uint32_t i = 0; i < f->length; i++)
    if (f->payload[i] != (char)(index + (int)i))
      fail();
}

static void send_numbered(struct tm_channel *c, uint64_t index)
{
  char payload[5000];
  struct tm_msg f = { .type = 3, .index = index, .length = length_of(index), .payload = payload };
  for (uint32_t i = 0; i < f.length; i++)
    payload[i] = (char)(index + i);
  tm_channel_send(c, &f);
}

static void on_closed(struct tm_channel *c)
{
  struct ends *e = c->data;
  e->closed++;
}

static void close_both(struct ends *e)
{
  tm_channel_close(&e->from);
  tm_channel_close(&e->to);
}

static void on_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct ends *e = c->data;
  assert_true(c == &e->to);
  e->frames++;
  e->bytes += f->length;
  assert_int_equal(f->type, 3);
  if (f->fd >= 0) {
    assert_in_range(e->passed_len, 0, 3);
    assert_int_equal(fcntl(f->fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fstat(f->fd, &e->passed[e->passed_len++]), 0);
    close(f->fd);
  }
  if (e->frames == e->close_at)
    close_both(e);
}

static void on_numbered(struct tm_channel *c, const struct tm_msg *f)
{
  struct ends *e = c->data;
  bool passes = e->pass_every > 0 && e->frames % e->pass_every == 0;
  assert_int_equal(f->fd >= 0, passes);
  check_numbered(f, e->frames);
  on_msg(c, f);
}

static void on_end(struct tm_channel *c, int code)
{
  struct ends *e = c->data;
  e->ends++;
  e->code = code;
  close_both(e);
}

static void on_frame_from(struct tm_channel *c, const struct tm_msg *f)
{
  struct ends *e = c->data;
  e->frames_from++;
}

static void on_end_from(struct tm_channel *c, int code)
{
  tm_channel_close(c);
}

/* Opens `from` as a channel only if asked; otherwise the test writes to fds[0] itself. */
static struct ends *ends_init(struct ends *e, bool opens_from,
                              void (*on)(struct tm_channel *, const struct tm_msg *))
{
  memset(e, 0, sizeof *e);
  assert_int_equal(tm_loop_init(&e->loop, NULL), 0);
  assert_int_equal(tm_channel_pair(e->fds, NULL), 0);
  if (opens_from)
    assert_int_equal(
        tm_channel_open(&e->from, &e->loop, e->fds[0], on_frame_from, on_end_from, e, NULL), 0);
  assert_int_equal(tm_channel_open(&e->to, &e->loop, e->fds[1], on, on_end, e, NULL), 0);
  e->to.on_closed = on_closed;
  return e;
}

static void ends_run(struct ends *e)
{
  tm_loop_run(&e->loop);
  tm_loop_release(&e->loop);
}

static void put(int fd, const void *p, size_t n)
{
  assert_int_equal(write(fd, p, n), (ssize_t)n);
}

static void put_header(int fd, uint32_t type, uint32_t length)
{
  char header[TM_MSG_HEADER];
  tm_msg_encode(&(struct tm_msg) { .type = type, .length = length }, header);
  put(fd, header, sizeof header);
}

static void many_frames_come_in_order_without_a_flush(void **state)
{
  struct ends e;
  ends_init(&e, true, on_numbered)->close_at = 3000;
  for (uint64_t i = 0; i < 3000; i++)
    send_numbered(&e.from, i);
  assert_true(tm_channel_pending(&e.from) > 3000 * TM_MSG_HEADER);
  ends_run(&e);
  assert_int_equal(e.frames, 3000);
  assert_int_equal(e.closed, 1);
  assert_int_equal(e.ends, 0);
  assert_int_equal(e.loop.open, 0);
}

static void a_frame_of_the_largest_size_goes_through(void **state)
{
  struct ends e;
  ends_init(&e, true, on_msg)->close_at = 2;
  char *payload = tm_xcalloc(1, TM_MSG_MAX);
  struct tm_msg f = { .type = 3, .length = TM_MSG_MAX, .payload = payload };
  tm_channel_send(&e.from, &f);
  free(payload);
  f.length = 0;
  f.payload = NULL;
  tm_channel_send(&e.from, &f);
  ends_run(&e);
  assert_int_equal(e.frames, 2);
  assert_int_equal(e.bytes, TM_MSG_MAX);
}

static void closed_within_a_frame_it_gives_no_other(void **state)
{
  struct ends e;
  ends_init(&e, true, on_numbered)->close_at = 5;
  for (uint64_t i = 0; i < 100; i++)
    send_numbered(&e.from, i);
  ends_run(&e);
  assert_int_equal(e.frames, 5);
  assert_int_equal(e.ends, 0);
  assert_int_equal(e.closed, 1);
  tm_channel_close(&e.to);
  tm_channel_flush(&e.to);
  send_numbered(&e.to, 1);
  assert_int_equal(tm_channel_pending(&e.to), 0);
}

static void frames_before_the_end_come_first(void **state)
{
  struct ends e;
  ends_init(&e, true, on_numbered);
  for (uint64_t i = 0; i < 50; i++)
    send_numbered(&e.from, i);
  tm_channel_close(&e.from); /* writes as much as it can */
  ends_run(&e);
  assert_int_equal(e.frames, 50);
  assert_int_equal(e.ends, 1);
  assert_int_equal(e.code, 0);
}

static void a_frame_cut_by_the_end_is_dropped(void **state)
{
  struct ends e;
  ends_init(&e, false, on_msg);
  put_header(e.fds[0], 3, 0);
  put_header(e.fds[0], 3, 100);
  put(e.fds[0], "torn", 4);
  close(e.fds[0]);
  ends_run(&e);
  assert_int_equal(e.frames, 1);
  assert_int_equal(e.ends, 1);
  assert_int_equal(e.code, 0);
}

static void a_peer_that_died_with_unread_bytes_has_ended(void **state)
{
  struct ends e;
  ends_init(&e, false, on_msg);
  put_header(e.fds[0], 3, 0);
  send_numbered(&e.to, 4);
  tm_channel_flush(&e.to);
  assert_int_equal(tm_channel_pending(&e.to), 0);
  close(e.fds[0]);
  ends_run(&e);
  assert_int_equal(e.frames, 1);
  assert_int_equal(e.ends, 1);
  assert_int_equal(e.code, 0);
}

static void sending_to_the_dead_is_no_signal_and_loses_no_last_words(void **state)
{
  struct ends e;
  ends_init(&e, false, on_msg);
  put_header(e.fds[0], 3, 0);
  close(e.fds[0]);
  send_numbered(&e.to, 4);
  tm_channel_flush(&e.to);
  assert_int_equal(tm_channel_pending(&e.to), 0);
  assert_int_equal(e.ends, 0);
  ends_run(&e);
  assert_int_equal(e.frames, 1);
  assert_int_equal(e.ends, 1);
  assert_int_equal(e.code, 0);
}

static void a_frame_that_is_too_long_ends_it(void **state)
{
  struct ends e;
  ends_init(&e, false, on_msg);
  put_header(e.fds[0], 3, 0);
  put_header(e.fds[0], 3, TM_MSG_MAX + 1);
  put_header(e.fds[0], 3, 0);
  ends_run(&e);
  assert_int_equal(e.frames, 1);
  assert_int_equal(e.ends, 1);
  assert_int_equal(e.code, TM_EPROTOCOL);
  close(e.fds[0]);
}

static void a_peer_that_promises_much_takes_no_memory(void **state)
{
  struct ends e;
  ends_init(&e, false, on_msg);
  put_header(e.fds[0], 3, TM_MSG_MAX);
  put(e.fds[0], "little", 6);
  tm_channel_drain(&e.to);
  assert_true(e.to.in.cap < 1u << 20);
  close(e.fds[0]);
  ends_run(&e);
  assert_int_equal(e.frames, 0);
  assert_int_equal(e.ends, 1);
}

static void on_each_third(struct tm_channel *c, const struct tm_msg *f)
{
  struct ends *e = c->data;
  check_numbered(f, e->frames++);
  if (e->frames % 3 == 0)
    tm_channel_hold(c, true);
}

/* What had been read with the frame that held the channel comes with its release. */
static void a_held_channel_delivers_nothing(void **state)
{
  struct ends e;
  ends_init(&e, true, on_each_third);
  for (uint64_t i = 0; i < 10; i++)
    send_numbered(&e.from, i);
  tm_channel_close(&e.from);
  tm_channel_drain(&e.to);
  assert_int_equal(e.frames, 3);
  tm_channel_hold(&e.to, true); /* does nothing */
  for (int i = 0; i < 5; i++)
    tm_loop_turn(&e.loop);
  tm_channel_drain(&e.to);
  assert_int_equal(e.frames, 3);
  assert_int_equal(e.ends, 0);
  for (int frames = 6; frames < 10; frames += 3) {
    tm_channel_hold(&e.to, false);
    tm_channel_drain(&e.to);
    assert_int_equal(e.frames, frames);
  }
  tm_channel_hold(&e.to, false);
  ends_run(&e);
  assert_int_equal(e.frames, 10);
  assert_int_equal(e.ends, 1);
  assert_int_equal(e.code, 0);
}

static void drain_reads_everything_at_once(void **state)
{
  struct ends e;
  ends_init(&e, true, on_numbered);
  for (uint64_t i = 0; i < 40; i++)
    send_numbered(&e.from, i);
  tm_channel_flush(&e.from);
  tm_channel_drain(&e.to); /* the loop has not run */
  assert_int_equal(e.frames, 40);
  assert_int_equal(e.ends, 0);
  tm_channel_drain(&e.to);
  tm_channel_close(&e.from);
  tm_channel_drain(&e.to);
  assert_int_equal(e.ends, 1);
  tm_channel_drain(&e.to);
  assert_int_equal(e.ends, 1);
  ends_run(&e);
  assert_int_equal(e.closed, 1);
}

static void on_endless(struct tm_channel *c, const struct tm_msg *f)
{
  struct ends *e = c->data;
  e->frames++;
  e->bytes += TM_MSG_HEADER + f->length;
  if (e->frames_from > 0) /* the other channel has had its turn */
    close_both(e);
}

/* Refills what the peer takes, so that the peer never sees it empty. */
static void refill(struct tm_turn *t)
{
  struct ends *e = t->data;
  if (!e->from.is_open) {
    tm_turn_close(t);
    return;
  }
  while (tm_channel_pending(&e->from) < 8u << 20)
    send_numbered(&e->from, 1);
  tm_channel_flush(&e->from);
}

static void on_other(struct tm_channel *c, const struct tm_msg *f)
{
  struct ends *e = c->data;
  e->frames_from++;
  tm_channel_close(c);
}

static void a_flood_leaves_others_their_turn(void **state)
{
  struct ends e;
  struct tm_turn turn;
  struct tm_channel other;
  int fds[2];
  ends_init(&e, true, on_endless);
  assert_int_equal(tm_channel_pair(fds, NULL), 0);
  assert_int_equal(tm_channel_open(&other, &e.loop, fds[1], on_other, on_end, &e, NULL), 0);
  put_header(fds[0], 3, 0);
  tm_turn_open(&turn, &e.loop, refill, &e);
  ends_run(&e);
  assert_int_equal(e.frames_from, 1);
  assert_true(e.bytes < 16u << 20);
  close(fds[0]);
}

static int pass(struct tm_channel *c, uint64_t index, int fd, struct tm_err *err)
{
  char payload[5000];
  struct tm_msg f = { .type = 3, .index = index, .length = length_of(index), .payload = payload };
  for (uint32_t i = 0; i < f.length; i++)
    payload[i] = (char)(index + i);
  return tm_channel_send_fd(c, &f, fd, err);
}

/* Every 500th of 2000 frames has a descriptor. The peer reads nothing while the first are sent, so
 * they wait in the outbox among the others. */
static void descriptors_stay_with_their_frames(void **state)
{
  struct ends e;
  struct stat want[4];
  ends_init(&e, true, on_numbered)->close_at = 2000;
  e.pass_every = 500;
  for (uint64_t i = 0; i < 2000; i++) {
    if (i % 500 != 0) {
      send_numbered(&e.from, i);
      continue;
    }
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(fstat(fds[0], &want[i / 500]), 0);
    assert_int_equal(pass(&e.from, i, fds[0], NULL), 0);
    close(fds[0]); /* the message holds its own copy */
    close(fds[1]);
  }
  assert_true(e.from.fd_out.len > 0);
  ends_run(&e);
  assert_int_equal(e.frames, 2000);
  assert_int_equal(e.passed_len, 4);
  for (int i = 0; i < 4; i++)
    assert_true(e.passed[i].st_ino == want[i].st_ino && e.passed[i].st_dev == want[i].st_dev);
}

static void closing_lets_go_of_descriptors_that_wait(void **state)
{
  struct ends e;
  int fds[2];
  char byte;
  ends_init(&e, true, on_msg);
  assert_int_equal(pipe(fds), 0);
  while (tm_channel_pending(&e.from) == 0) {
    for (int i = 0; i < 100; i++)
      send_numbered(&e.from, 1);
    tm_channel_flush(&e.from);
  }
  assert_int_equal(pass(&e.from, 1, fds[1], NULL), 0);
  close(fds[1]);
  close_both(&e);
  assert_int_equal(read(fds[0], &byte, 1), 0); /* nobody holds the other end */
  close(fds[0]);
  ends_run(&e);
}

static void a_descriptor_that_has_not_come_ends_it(void **state)
{
  struct ends e;
  ends_init(&e, false, on_msg);
  put_header(e.fds[0], 3 | TM_MSG_FD, 0);
  ends_run(&e);
  assert_int_equal(e.frames, 0);
  assert_int_equal(e.code, TM_EPROTOCOL);
  close(e.fds[0]);
}

/* One header, with the descriptor n times in its message. */
static void put_with_fds(int socket, uint32_t type, int fd, int n)
{
  char header[TM_MSG_HEADER];
  union {
    char bytes[CMSG_SPACE(20 * sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec v = { header, sizeof header };
  struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control.bytes };
  tm_msg_encode(&(struct tm_msg) { .type = type }, header);
  memset(&control, 0, sizeof control);
  m.msg_controllen = CMSG_SPACE((size_t)n * sizeof fd);
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN((size_t)n * sizeof fd);
  for (int i = 0; i < n; i++)
    memcpy(CMSG_DATA(c) + (size_t)i * sizeof fd, &fd, sizeof fd);
  assert_int_equal(sendmsg(socket, &m, 0), sizeof header);
}

static void descriptors_that_no_frame_announces_are_closed(void **state)
{
  struct ends e;
  int fds[2];
  char byte;
  ends_init(&e, false, on_msg);
  assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
  put_with_fds(e.fds[0], 3, fds[1], 3);
  put_with_fds(e.fds[0], 3 | TM_MSG_FD, fds[1], 20);
  close(fds[1]);
  tm_channel_drain(&e.to);
  assert_int_equal(e.frames, 2);
  assert_int_equal(e.passed_len, 1);
  assert_int_equal(read(fds[0], &byte, 1), 0);
  close(fds[0]);
  close(e.fds[0]);
  ends_run(&e);
  assert_int_equal(e.ends, 1);
}

static void a_descriptor_that_cannot_be_passed_is_reported(void **state)
{
  struct ends e;
  struct tm_err err = TM_ERR_NONE;
  ends_init(&e, true, on_msg);
  assert_int_equal(pass(&e.from, 1, 999, &err), -EBADF);
  assert_string_equal(err.text, "cannot pass a descriptor on: bad file descriptor");
  assert_int_equal(tm_channel_pending(&e.from), 0);
  close_both(&e);
  assert_int_equal(pass(&e.from, 1, 0, &err), -EPIPE);
  ends_run(&e);
}

static void pipes_are_channels_of_one_direction(void **state)
{
  struct ends e;
  int fds[2];
  memset(&e, 0, sizeof e);
  assert_int_equal(tm_loop_init(&e.loop, NULL), 0);
  assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
  assert_int_equal(tm_channel_open(&e.to, &e.loop, fds[0], on_numbered, on_end, &e, NULL), 0);
  assert_int_equal(tm_channel_open(&e.from, &e.loop, fds[1], on_frame_from, on_end_from, &e, NULL),
                   0);
  assert_int_equal(pass(&e.from, 0, 0, NULL), -ENOTSOCK);
  e.close_at = 300;
  for (uint64_t i = 0; i < 300; i++)
    send_numbered(&e.from, i);
  ends_run(&e);
  assert_int_equal(e.frames, 300);
}

static void the_writing_end_of_a_pipe_learns_of_its_readers_end(void **state)
{
  struct ends e;
  int fds[2];
  memset(&e, 0, sizeof e);
  assert_int_equal(tm_loop_init(&e.loop, NULL), 0);
  assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
  assert_int_equal(tm_channel_open(&e.to, &e.loop, fds[1], on_msg, on_end, &e, NULL), 0);
  close(fds[0]);
  ends_run(&e);
  assert_int_equal(e.ends, 1);
  assert_int_equal(e.code, 0);
}

static void descriptors_that_cannot_be_opened_are_closed(void **state)
{
  struct tm_loop loop;
  struct tm_channel c;
  struct tm_err err = TM_ERR_NONE;
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  assert_int_equal(tm_loop_init(&loop, NULL), 0);
  assert_true(tm_channel_open(&c, &loop, fd, on_msg, on_end, NULL, &err) < 0);
  assert_int_equal(fcntl(fd, F_GETFD), -1);
  tm_channel_close(&c);
  tm_loop_release(&loop);
}

UNIT_HOOKS(.limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(many_frames_come_in_order_without_a_flush),
    cmocka_unit_test(a_frame_of_the_largest_size_goes_through),
    cmocka_unit_test(closed_within_a_frame_it_gives_no_other),
    cmocka_unit_test(frames_before_the_end_come_first),
    cmocka_unit_test(a_frame_cut_by_the_end_is_dropped),
    cmocka_unit_test(a_peer_that_died_with_unread_bytes_has_ended),
    cmocka_unit_test(sending_to_the_dead_is_no_signal_and_loses_no_last_words),
    cmocka_unit_test(a_frame_that_is_too_long_ends_it),
    cmocka_unit_test(a_peer_that_promises_much_takes_no_memory),
    cmocka_unit_test(a_held_channel_delivers_nothing),
    cmocka_unit_test(drain_reads_everything_at_once),
    cmocka_unit_test(a_flood_leaves_others_their_turn),
    cmocka_unit_test(descriptors_stay_with_their_frames),
    cmocka_unit_test(closing_lets_go_of_descriptors_that_wait),
    cmocka_unit_test(a_descriptor_that_has_not_come_ends_it),
    cmocka_unit_test(descriptors_that_no_frame_announces_are_closed),
    cmocka_unit_test(a_descriptor_that_cannot_be_passed_is_reported),
    cmocka_unit_test(pipes_are_channels_of_one_direction),
    cmocka_unit_test(the_writing_end_of_a_pipe_learns_of_its_readers_end),
    cmocka_unit_test(descriptors_that_cannot_be_opened_are_closed),
});
