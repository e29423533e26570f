/* A link over a socket: messages in both directions, the end, and the close. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "fleet/worker_link.h"
#include "sys/channel.h"
#include "sys/link.h"

struct seen {
  struct tm_loop loop;
  struct tm_worker_link *link;
  struct tm_buf order; /* a letter for each call */
  int code;
};

static void on_msg(void *data, const struct tm_msg *f)
{
  struct seen *s = data;
  tm_buf_add(&s->order, f->payload, f->length);
}

static void on_end(void *data, int code)
{
  struct seen *s = data;
  tm_buf_add_str(&s->order, "E");
  s->code = code;
}

static void on_closed(void *data)
{
  struct seen *s = data;
  tm_buf_add_str(&s->order, "C");
}

static int open_link(struct seen *s)
{
  struct tm_worker_link_user user = {
    .data = s, .on_msg = on_msg, .on_end = on_end, .on_closed = on_closed
  };
  int pair[2];
  memset(s, 0, sizeof(*s));
  assert_int_equal(tm_loop_init(&s->loop, NULL), 0);
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  s->link = tm_worker_link_of_socket(pair[0]);
  assert_int_equal(tm_worker_link_open(s->link, &s->loop, &user, NULL), 0);
  return pair[1];
}

static void release(struct seen *s, const char *order)
{
  tm_loop_release(&s->loop);
  assert_string_equal(tm_buf_str(&s->order), order);
  tm_buf_release(&s->order);
}

static void say(struct tm_link *worker, const char *word)
{
  struct tm_msg f = { .type = 1, .payload = word, .length = (uint32_t)strlen(word), .fd = -1 };
  tm_link_send(worker, &f);
  assert_int_equal(tm_link_flush(worker, NULL), 0);
}

static void messages_go_both_ways(void **state)
{
  struct seen s;
  struct tm_link worker;
  struct tm_msg f = { .type = 7, .payload = "setup", .length = 5, .fd = -1 };
  int fd = open_link(&s);
  tm_link_init(&worker, fd);
  tm_worker_link_send(s.link, &f);
  tm_loop_turn(&s.loop);
  assert_int_equal(tm_link_read(&worker, &f, true, NULL, NULL), 1);
  assert_int_equal(f.type, 7);
  assert_memory_equal(f.payload, "setup", 5);
  say(&worker, "a");
  say(&worker, "b");
  while (s.order.len < 2)
    tm_loop_turn(&s.loop);
  tm_worker_link_close(s.link);
  tm_link_release(&worker);
  release(&s, "abC");
}

static void a_drain_brings_all_and_the_end(void **state)
{
  struct seen s;
  struct tm_link worker;
  int fd = open_link(&s);
  tm_link_init(&worker, fd);
  say(&worker, "a");
  say(&worker, "b");
  tm_link_release(&worker);
  close(fd);
  tm_worker_link_drain(s.link);
  assert_string_equal(tm_buf_str(&s.order), "abE");
  assert_int_equal(s.code, 0);
  tm_worker_link_close(s.link);
  release(&s, "abEC");
}

static void a_held_link_delivers_nothing(void **state)
{
  struct seen s;
  struct tm_link worker;
  int fd = open_link(&s);
  tm_link_init(&worker, fd);
  tm_worker_link_hold(s.link, true);
  say(&worker, "a");
  for (int i = 0; i < 3; i++)
    tm_loop_turn(&s.loop);
  tm_worker_link_drain(s.link);
  assert_int_equal(s.order.len, 0);
  tm_worker_link_hold(s.link, false);
  while (s.order.len < 1)
    tm_loop_turn(&s.loop);
  tm_worker_link_close(s.link);
  tm_link_release(&worker);
  close(fd);
  release(&s, "aC");
}

static void a_link_that_was_not_opened_closes_its_socket(void **state)
{
  int pair[2];
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  tm_worker_link_close(tm_worker_link_of_socket(pair[0]));
  assert_int_equal(fcntl(pair[0], F_GETFD), -1);
  close(pair[1]);
}

static void no_link_is_a_no_op(void **state)
{
  struct tm_msg f = { .type = 1, .fd = -1 };
  tm_worker_link_send(NULL, &f);
  tm_worker_link_drain(NULL);
  tm_worker_link_hold(NULL, true);
  tm_worker_link_close(NULL);
}

UNIT_TESTS({
    cmocka_unit_test(messages_go_both_ways),
    cmocka_unit_test(a_drain_brings_all_and_the_end),
    cmocka_unit_test(a_held_link_delivers_nothing),
    cmocka_unit_test(a_link_that_was_not_opened_closes_its_socket),
    cmocka_unit_test(no_link_is_a_no_op),
});
