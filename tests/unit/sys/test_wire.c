/* test_wire.c - encodes headers byte by byte, and cuts frames at every place. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/messages/msg_bytes.h"

static const struct tm_msg frame = { .type = 0x01020304,
                                     .index = 0x1112131415161718,
                                     .worker = 0x21222324,
                                     .try = 0x31323334,
                                     .part = 0x4142434445464748,
                                     .length = 5,
                                     .payload = "hello",
                                     .fd = 77 };

static void a_header_is_little_endian(void **state)
{
  const unsigned char want[TM_MSG_HEADER] = { 5,    0,    0,    0,    0x04, 0x03, 0x02, 0x01,
                                              0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
                                              0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31,
                                              0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41 };
  char header[TM_MSG_HEADER];
  struct tm_msg f;
  tm_msg_encode(&frame, header);
  assert_memory_equal(header, want, sizeof want);
  assert_true(tm_msg_decode(&f, header));
  assert_int_equal(f.type, frame.type);
  assert_true(f.index == frame.index && f.part == frame.part);
  assert_int_equal(f.worker, frame.worker);
  assert_int_equal(f.try, frame.try);
  assert_int_equal(f.length, 5);
  assert_null(f.payload);
  assert_int_equal(f.fd, -1);
}

static void a_length_has_a_limit(void **state)
{
  char header[TM_MSG_HEADER] = { 0 };
  struct tm_msg f;
  tm_put_u32(header, TM_MSG_MAX);
  assert_true(tm_msg_decode(&f, header));
  tm_put_u32(header, TM_MSG_MAX + 1);
  assert_false(tm_msg_decode(&f, header));
  tm_put_u32(header, UINT32_MAX);
  assert_false(tm_msg_decode(&f, header));
}

static void a_frame_is_whole_or_absent(void **state)
{
  struct tm_buf all = TM_BUF_NONE;
  struct tm_msg f;
  tm_wire_add(&all, &frame, 0);
  assert_int_equal(all.len, TM_MSG_HEADER + 5);
  for (size_t n = 0; n <= all.len; n++) {
    struct tm_buf cut = { all.data, n, all.cap };
    size_t at = 0;
    assert_int_equal(tm_wire_next(&cut, &at, &f), n == all.len);
    assert_int_equal(at, n == all.len ? n : 0);
  }
  assert_memory_equal(f.payload, "hello", 5);
  tm_buf_release(&all);
}

static void the_flag_is_not_the_senders(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_msg f = frame;
  size_t at = 0;
  f.type |= TM_MSG_FD;
  tm_wire_add(&out, &f, 0);
  assert_int_equal(tm_wire_next(&out, &at, &f), 1);
  assert_int_equal(f.type, frame.type);
  tm_wire_add(&out, &frame, TM_MSG_FD);
  assert_int_equal(tm_wire_next(&out, &at, &f), 1);
  assert_int_equal(f.type, frame.type | TM_MSG_FD);
  tm_buf_release(&out);
}

static void room_moves_only_when_it_must(void **state)
{
  struct tm_buf in = TM_BUF_NONE;
  size_t at = 0, room, first;
  char *p = tm_wire_room(&in, &at, &first);
  assert_true(first >= 200000);
  memset(p, 'a', first);
  in.len = 100;
  at = 90;
  assert_ptr_equal(tm_wire_room(&in, &at, &room), p + 100); /* much follows: nothing moves */
  assert_int_equal(at, 90);
  in.len = first - 10;
  in.data[in.len - 1] = 'z';
  at = in.len - 3;
  assert_ptr_equal(tm_wire_room(&in, &at, &room), in.data + 3);
  assert_int_equal(at, 0);
  assert_memory_equal(in.data, "aaz", 3);
  assert_int_equal(room, first - 3);
  in.len = first - 10; /* one incomplete frame */
  tm_wire_room(&in, &at, &room);
  assert_true(room >= first - 10);
  at = in.len;
  tm_wire_room(&in, &at, &room); /* used up: starts again */
  assert_int_equal(in.len, 0);
  tm_buf_release(&in);
}

static void a_long_inbox_is_given_back(void **state)
{
  struct tm_buf in = TM_BUF_NONE;
  size_t at, room;
  tm_buf_reserve(&in, 8u << 20);
  at = in.len = 8u << 20;
  tm_wire_room(&in, &at, &room);
  assert_true(in.cap < 1u << 20);
  tm_buf_release(&in);
}

static void nothing_to_read_does_not_mean_the_end(void **state)
{
  int pair[2], fds[2];
  char byte;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  assert_int_equal(pipe(fds), 0);
  assert_true(tm_wire_is_socket(pair[0]));
  assert_false(tm_wire_is_socket(fds[0]));
  assert_int_equal(tm_wire_read(pair[0], true, &byte, 1, false, NULL), -EAGAIN);
  assert_int_equal(tm_wire_read(fds[0], false, &byte, 1, false, NULL), -EAGAIN);
  assert_int_equal(tm_wire_write(pair[1], true, "x", 1, false, -1), 1);
  assert_int_equal(tm_wire_write(fds[1], false, "x", 1, false, -1), 1);
  assert_int_equal(tm_wire_read(pair[0], true, &byte, 1, false, NULL), 1);
  assert_int_equal(tm_wire_read(fds[0], false, &byte, 1, false, NULL), 1);
  assert_int_equal(tm_wire_write(pair[0], true, "unread", 6, false, -1), 6);
  close(pair[1]);
  close(fds[1]);
  assert_int_equal(tm_wire_read(pair[0], true, &byte, 1, true, NULL),
                   0); /* ECONNRESET by the kernel */
  assert_int_equal(tm_wire_read(fds[0], false, &byte, 1, true, NULL), 0);
  assert_int_equal(tm_wire_write(pair[0], true, "x", 1, true, -1), -EPIPE);
  close(pair[0]);
  close(fds[0]);
}

UNIT_HOOKS(.limit_s = 30);
UNIT_TESTS({
    cmocka_unit_test(a_header_is_little_endian),
    cmocka_unit_test(a_length_has_a_limit),
    cmocka_unit_test(a_frame_is_whole_or_absent),
    cmocka_unit_test(the_flag_is_not_the_senders),
    cmocka_unit_test(room_moves_only_when_it_must),
    cmocka_unit_test(a_long_inbox_is_given_back),
    cmocka_unit_test(nothing_to_read_does_not_mean_the_end),
});
