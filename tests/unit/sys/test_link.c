/* test_link.c - the blocking end of a channel: frames in, frames out, ends. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/messages/channel.h"
#include "sys/messages/link.h"
#include "sys/threads.h"

static void send_number(struct tm_link *l, uint64_t index, uint32_t length)
{
  char *payload = tm_xmalloc(length + 1);
  memset(payload, (int)('a' + index % 26), length);
  struct tm_msg f = { .type = 9, .index = index, .length = length, .payload = payload, .fd = -1 };
  tm_link_send(l, &f);
  free(payload);
}

static void assert_number(const struct tm_msg *f, uint64_t index, uint32_t length)
{
  assert_int_equal(f->type, 9);
  assert_int_equal(f->index, index);
  assert_int_equal(f->length, length);
  assert_int_equal(f->fd, -1);
  for (uint32_t i = 0; i < length; i++)
    if (f->payload[i] != (char)('a' + index % 26))
      fail();
}

static void frames_come_in_order_and_an_end_differs_from_no_data(void **state)
{
  int fds[2];
  struct tm_link a, b;
  struct tm_msg f;
  bool ended = true;
  assert_int_equal(tm_channel_pair(fds, NULL), 0);
  assert_int_equal(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
  tm_link_init(&a, fds[0]);
  tm_link_init(&b, fds[1]);
  assert_int_equal(tm_link_read(&b, &f, false, &ended, NULL), 0);
  assert_false(ended);
  for (uint32_t i = 0; i < 100; i++)
    send_number(&a, i, i * 7);
  assert_int_equal(tm_link_read(&b, &f, false, &ended, NULL), 0); /* not flushed */
  assert_int_equal(tm_link_flush(&a, NULL), 0);
  for (uint32_t i = 0; i < 100; i++) {
    assert_int_equal(tm_link_read(&b, &f, i % 2, &ended, NULL), 1);
    assert_number(&f, i, i * 7);
  }
  assert_int_equal(tm_link_read(&b, &f, false, &ended, NULL), 0);
  assert_false(ended);
  close(fds[0]);
  assert_int_equal(tm_link_read(&b, &f, true, &ended, NULL), 0);
  assert_true(ended);
  assert_int_equal(tm_link_read(&b, &f, true, NULL, NULL), 0);
  close(fds[1]);
  tm_link_release(&a);
  tm_link_release(&b);
}

struct reader {
  int fd, frames;
};

static void read_many(void *data)
{
  struct reader *r = data;
  struct tm_link l;
  struct tm_msg f;
  tm_link_init(&l, r->fd);
  while (tm_link_read(&l, &f, true, NULL, NULL) > 0) {
    assert_number(&f, (uint64_t)r->frames, (uint32_t)(r->frames * 7919 % 400000));
    r->frames++;
  }
  tm_link_release(&l);
}

/* Through sockets and pipes, blocking and not. */
static void much_goes_through(int in, int out)
{
  struct reader r = { .fd = in };
  struct tm_thread t;
  struct tm_link l;
  assert_int_equal(tm_thread_start(&t, read_many, &r, NULL), 0);
  tm_link_init(&l, out);
  for (uint32_t i = 0; i < 200; i++) {
    send_number(&l, i, i * 7919 % 400000);
    if (i % 16 == 0)
      assert_int_equal(tm_link_flush(&l, NULL), 0);
  }
  assert_int_equal(tm_link_flush(&l, NULL), 0);
  close(out);
  tm_thread_join(&t);
  assert_int_equal(r.frames, 200);
  close(in);
  tm_link_release(&l);
}

static void frames_larger_than_the_socket_go_through(void **state)
{
  int fds[2];
  assert_int_equal(tm_channel_pair(fds, NULL), 0);
  much_goes_through(fds[0], fds[1]);
}

static void a_descriptor_that_does_not_block_is_waited_for(void **state)
{
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  much_goes_through(fds[0], fds[1]);
}

static void pipes_will_do(void **state)
{
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  much_goes_through(fds[0], fds[1]);
}

static void a_dead_peer_is_an_error_and_no_signal(void **state)
{
  int fds[2];
  struct tm_link l;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_channel_pair(fds, NULL), 0);
  close(fds[1]);
  tm_link_init(&l, fds[0]);
  send_number(&l, 1, 10);
  assert_int_equal(tm_link_flush(&l, &err), -EPIPE);
  assert_string_equal(err.text, "cannot write to the channel: broken pipe");
  assert_int_equal(l.out.len, 0);
  close(fds[0]);
  tm_link_release(&l);
}

static void bytes_that_are_not_frames_are_refused(void **state)
{
  const struct {
    uint32_t length, type;
  } bad[] = { { TM_MSG_MAX + 1, 1 }, { 0, 1 | TM_MSG_FD } };
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    int fds[2];
    struct tm_link l;
    struct tm_msg f = { .length = bad[i].length, .type = bad[i].type };
    struct tm_err err = TM_ERR_NONE;
    char header[TM_MSG_HEADER];
    tm_msg_encode(&f, header);
    assert_int_equal(tm_channel_pair(fds, NULL), 0);
    assert_int_equal(write(fds[1], header, sizeof header), sizeof header);
    tm_link_init(&l, fds[0]);
    assert_int_equal(tm_link_read(&l, &f, true, NULL, &err), TM_EPROTOCOL);
    assert_int_equal(err.code, TM_EPROTOCOL);
    close(fds[0]);
    close(fds[1]);
    tm_link_release(&l);
  }
}

UNIT_HOOKS(.limit_s = 60);
static void flush_all(void *link)
{
  assert_int_equal(tm_link_flush(link, NULL), 0);
}

/* Whatever has arrived, and however large the inbox must become. */
static void the_next_frame_can_be_seen_while_the_current_one_stays(void **state)
{
  static const uint32_t lengths[] = { 0, 10, 300000, 7, 0, 0, 1200000, 40 };
  int fds[2];
  struct tm_link a, b;
  struct tm_msg f, next;
  assert_int_equal(tm_channel_pair(fds, NULL), 0);
  tm_link_init(&a, fds[0]);
  tm_link_init(&b, fds[1]);
  struct tm_thread writer;
  send_number(&a, 0, lengths[0]);
  assert_int_equal(tm_link_flush(&a, NULL), 0);
  assert_int_equal(tm_link_read(&b, &f, true, NULL, NULL), 1);
  assert_false(tm_link_peek(&b, &f, &next));
  for (uint32_t i = 1; i < TM_COUNT_OF(lengths); i++)
    send_number(&a, i, lengths[i]);
  assert_int_equal(tm_thread_start(&writer, flush_all, &a, NULL), 0);
  for (uint32_t i = 1; i < TM_COUNT_OF(lengths); i++) {
    while (!tm_link_peek(&b, &f, &next))
      assert_number(&f, i - 1, lengths[i - 1]);
    assert_number(&f, i - 1, lengths[i - 1]);
    assert_number(&next, i, lengths[i]);
    assert_int_equal(tm_link_read(&b, &f, true, NULL, NULL), 1);
    assert_number(&f, i, lengths[i]);
  }
  tm_thread_join(&writer);
  close(fds[0]);
  assert_false(tm_link_peek(&b, &f, &next));
  assert_number(&f, 7, 40);
  tm_link_release(&a);
  tm_link_release(&b);
  close(fds[1]);
}

UNIT_TESTS({
    cmocka_unit_test(the_next_frame_can_be_seen_while_the_current_one_stays),
    cmocka_unit_test(frames_come_in_order_and_an_end_differs_from_no_data),
    cmocka_unit_test(frames_larger_than_the_socket_go_through),
    cmocka_unit_test(a_descriptor_that_does_not_block_is_waited_for),
    cmocka_unit_test(pipes_will_do),
    cmocka_unit_test(a_dead_peer_is_an_error_and_no_signal),
    cmocka_unit_test(bytes_that_are_not_frames_are_refused),
});
