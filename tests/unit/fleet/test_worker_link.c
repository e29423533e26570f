/* A link, over a socket and over a stream: messages in both directions, the end, and the close. */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "fleet/stream_link.h"
#include "fleet/worker_link.h"
#include "sys/messages/channel.h"
#include "sys/messages/link.h"
#include "sys/messages/node_stream.h"

#define WORKER 3 /* the first one's number on the node */

/* The parameter of the cases that run for both carriers. */
static const bool over_socket = false, over_stream = true;

struct seen {
  struct tm_loop loop;
  struct tm_worker_link *link;
  struct tm_buf order; /* a letter for each call, or the payload */
  int code;
  bool closes_in_msg, holds_in_msg;
  uint32_t length; /* of the last payload that is long */
  /* the worker's side of a socket */
  int fd;
  struct tm_link worker;
  /* both sides of a stream */
  bool is_stream;
  struct tm_stream_links links;
  struct tm_node_stream *relay;
  uint32_t number;      /* the worker's */
  size_t sent, arrived; /* messages of the worker */
  struct tm_buf heard;  /* what the worker got: type and payload */
};

static void on_msg(void *data, const struct tm_msg *f)
{
  struct seen *s = data;
  if (f->length > 100)
    s->length = f->length;
  tm_buf_add(&s->order, f->payload, f->length > 100 ? 1 : f->length);
  if (s->holds_in_msg)
    tm_worker_link_hold(s->link, true);
  if (s->closes_in_msg)
    tm_worker_link_close(s->link);
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

static void on_stream_open(void *data, const char *skipped, size_t len)
{
}

static void on_stream_end(void *data, int code, const char *text)
{
}

static void on_stream_closed(void *data)
{
}

static void on_node_msg(void *data, const struct tm_msg *f)
{
  struct seen *s = data;
  s->arrived++;
  assert_true(tm_stream_links_take(&s->links, f));
}

static void on_relay_msg(void *data, const struct tm_msg *f)
{
  struct seen *s = data;
  assert_int_equal(f->worker, WORKER);
  tm_buf_printf(&s->heard, "%u ", f->type);
  tm_buf_add(&s->heard, f->payload, f->length > 100 ? 1 : f->length);
  tm_node_stream_consumed(s->relay, f->worker, TM_MSG_HEADER + f->length);
}

static struct tm_node_stream *open_stream(struct seen *s, int fd, bool is_supervisor)
{
  struct tm_node_stream_options o = { .loop = &s->loop,
                                      .in = fd,
                                      .out = fd,
                                      .is_supervisor = is_supervisor,
                                      .hello = "hello",
                                      .on_open = on_stream_open,
                                      .on_msg = is_supervisor ? on_node_msg : on_relay_msg,
                                      .on_end = on_stream_end,
                                      .on_closed = on_stream_closed,
                                      .data = s };
  struct tm_node_stream *opened = tm_node_stream_open(&o, NULL);
  assert_non_null(opened);
  return opened;
}

static void make_link(struct seen *s, bool is_stream)
{
  int pair[2];
  memset(s, 0, sizeof(*s));
  s->is_stream = is_stream;
  s->number = WORKER;
  assert_int_equal(tm_loop_init(&s->loop, NULL), 0);
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  if (is_stream) {
    s->links.stream = open_stream(s, pair[0], true);
    s->relay = open_stream(s, pair[1], false);
    s->link = tm_stream_links_add(&s->links, WORKER);
  } else {
    s->link = tm_worker_link_of_socket(pair[0]);
    s->fd = pair[1];
    tm_link_init(&s->worker, s->fd);
  }
}

static void open_link(struct seen *s)
{
  static const struct tm_worker_link_user user = { .on_msg = on_msg,
                                                   .on_end = on_end,
                                                   .on_closed = on_closed };
  assert_int_equal(tm_worker_link_open(s->link, &s->loop, &user, s, NULL), 0);
}

static void setup(struct seen *s, bool is_stream)
{
  make_link(s, is_stream);
  open_link(s);
}

static void close_streams(struct seen *s)
{
  tm_stream_links_leave(&s->links);
  tm_node_stream_close(s->links.stream);
  tm_node_stream_close(s->relay);
  s->links.stream = s->relay = NULL;
}

static void release(struct seen *s, const char *order)
{
  if (s->is_stream) {
    close_streams(s);
  } else {
    tm_link_release(&s->worker);
    if (s->fd >= 0)
      close(s->fd);
  }
  tm_loop_release(&s->loop);
  assert_string_equal(tm_buf_str(&s->order), order);
  tm_buf_release(&s->order);
  tm_buf_release(&s->heard);
}

/* Worker's side. */

static void say_bytes(struct seen *s, const char *bytes, size_t len)
{
  struct tm_msg f = {
    .type = 1, .worker = s->number, .payload = bytes, .length = (uint32_t)len, .fd = -1
  };
  s->sent++;
  if (s->is_stream) {
    tm_node_stream_send(s->relay, &f);
    return;
  }
  tm_link_send(&s->worker, &f);
  assert_int_equal(tm_link_flush(&s->worker, NULL), 0);
}

static void say(struct seen *s, const char *word)
{
  say_bytes(s, word, strlen(word));
}

/* What the worker has sent lies in the link, or in its socket. */
static void let_arrive(struct seen *s)
{
  while (s->is_stream && s->arrived < s->sent)
    tm_loop_turn(&s->loop);
}

/* The worker sends nothing more. */
static void leave(struct seen *s)
{
  let_arrive(s);
  if (s->is_stream) {
    assert_true(tm_stream_links_end(&s->links, WORKER, 0));
  } else {
    close(s->fd);
    s->fd = -1;
  }
}

static void hear(struct seen *s, const char *text)
{
  struct tm_msg f;
  if (!s->is_stream) {
    tm_loop_turn(&s->loop);
    assert_int_equal(tm_link_read(&s->worker, &f, true, NULL, NULL), 1);
    tm_buf_printf(&s->heard, "%u ", f.type);
    tm_buf_add(&s->heard, f.payload, f.length);
  }
  while (s->heard.len < strlen(text))
    tm_loop_turn(&s->loop);
  assert_string_equal(tm_buf_str(&s->heard), text);
}

static void await(struct seen *s, size_t len)
{
  while (s->order.len < len)
    tm_loop_turn(&s->loop);
}

/* ---- both carriers ---- */

static void messages_go_both_ways(void **state)
{
  struct seen s;
  struct tm_msg f = { .type = 7, .worker = WORKER, .payload = "setup", .length = 5, .fd = -1 };
  setup(&s, *(bool *)*state);
  tm_worker_link_send(s.link, &f);
  hear(&s, "7 setup");
  say(&s, "a");
  say(&s, "b");
  await(&s, 2);
  tm_worker_link_close(s.link);
  release(&s, "abC");
}

static void a_drain_brings_all_and_the_end(void **state)
{
  struct seen s;
  setup(&s, *(bool *)*state);
  tm_worker_link_hold(s.link, s.is_stream);
  say(&s, "a");
  say(&s, "b");
  leave(&s);
  assert_int_equal(s.order.len, 0);
  tm_worker_link_hold(s.link, false);
  tm_worker_link_drain(s.link);
  assert_string_equal(tm_buf_str(&s.order), "abE");
  assert_int_equal(s.code, 0);
  tm_worker_link_close(s.link);
  release(&s, "abEC");
}

static void a_held_link_delivers_nothing(void **state)
{
  struct seen s;
  setup(&s, *(bool *)*state);
  tm_worker_link_hold(s.link, true);
  say(&s, "a");
  let_arrive(&s);
  for (int i = 0; i < 3; i++)
    tm_loop_turn(&s.loop);
  tm_worker_link_drain(s.link);
  assert_int_equal(s.order.len, 0);
  tm_worker_link_hold(s.link, false);
  await(&s, 1);
  tm_worker_link_close(s.link);
  release(&s, "aC");
}

static void a_link_held_in_a_message_delivers_one(void **state)
{
  struct seen s;
  setup(&s, *(bool *)*state);
  s.holds_in_msg = true;
  say(&s, "a");
  say(&s, "b");
  let_arrive(&s);
  await(&s, 1);
  for (int i = 0; i < 3; i++)
    tm_loop_turn(&s.loop);
  tm_worker_link_drain(s.link);
  assert_string_equal(tm_buf_str(&s.order), "a");
  s.holds_in_msg = false;
  tm_worker_link_hold(s.link, false);
  leave(&s);
  await(&s, 3);
  tm_worker_link_close(s.link);
  release(&s, "abEC");
}

static void a_link_closed_in_a_message_delivers_no_other(void **state)
{
  struct seen s;
  setup(&s, *(bool *)*state);
  s.closes_in_msg = true;
  say(&s, "a");
  say(&s, "b");
  await(&s, 2);
  let_arrive(&s);
  release(&s, "aC");
}

static void long_messages_arrive_whole(void **state)
{
  size_t len = 1 << 20;
  char *bytes = tm_xcalloc(1, len);
  struct seen s;
  memset(bytes, '\n', len); /* a byte that a stream swaps */
  setup(&s, over_stream);
  for (int i = 0; i < 5; i++) {
    struct tm_msg f = {
      .type = 2, .worker = WORKER, .payload = bytes, .length = (uint32_t)len, .fd = -1
    };
    bytes[0] = (char)('1' + i);
    say_bytes(&s, bytes, len);
    tm_worker_link_send(s.link, &f);
  }
  await(&s, 5);
  assert_int_equal(s.length, len);
  hear(&s, "2 12 22 32 42 5");
  tm_worker_link_close(s.link);
  release(&s, "12345C");
  free(bytes);
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

/* ---- the stream ---- */

static void messages_before_the_open_wait(void **state)
{
  struct seen s;
  make_link(&s, over_stream);
  say(&s, "a");
  say(&s, "b");
  leave(&s);
  open_link(&s);
  assert_int_equal(s.order.len, 0);
  await(&s, 3);
  tm_worker_link_close(s.link);
  release(&s, "abEC");
}

/* The node may have 1 MiB on its way that was not consumed. */
static void what_waits_holds_the_node_back(void **state)
{
  static const char bytes[100] = "x";
  size_t many = 40000;
  struct seen s;
  setup(&s, over_stream);
  tm_worker_link_hold(s.link, true);
  for (size_t i = 0; i < many; i++)
    say_bytes(&s, bytes, sizeof(bytes));
  for (int i = 0; i < 200; i++)
    tm_loop_turn(&s.loop);
  assert_in_range(s.arrived, TM_STREAM_NODE_CREDIT / 200, TM_STREAM_NODE_CREDIT / 132);
  assert_true(tm_node_stream_pending(s.relay) > 0);
  tm_worker_link_hold(s.link, false);
  await(&s, many * sizeof(bytes));
  tm_buf_clear(&s.order);
  tm_worker_link_close(s.link);
  release(&s, "C");
}

/* What is being delivered at the close, what waits behind it, and what comes later: all of it
 * counts as consumed. Otherwise the node would have no credit after a few workers. */
static void a_closed_link_holds_nobody_back(void **state)
{
  static char bytes[200 << 10] = "x";
  struct seen s;
  setup(&s, over_stream);
  s.closes_in_msg = true;
  for (uint32_t i = 0; i < 12; i++) {
    if (i > 0) {
      s.number = WORKER + i;
      s.link = tm_stream_links_add(&s.links, s.number);
      open_link(&s);
    }
    tm_worker_link_hold(s.link, true);
    say_bytes(&s, bytes, sizeof(bytes));
    say_bytes(&s, bytes, sizeof(bytes));
    let_arrive(&s);
    tm_worker_link_hold(s.link, false);
    for (int k = 0; k < 6; k++)
      say_bytes(&s, bytes, sizeof(bytes));
    let_arrive(&s);
  }
  tm_loop_turn(&s.loop);
  release(&s, "xCxCxCxCxCxCxCxCxCxCxCxC");
}

static void a_worker_that_was_not_started_has_no_link(void **state)
{
  struct tm_msg f = { .type = 1, .worker = WORKER + 1, .fd = -1 };
  struct seen s;
  setup(&s, over_stream);
  for (int i = 0; i < 2; i++, f.worker = 0) {
    assert_false(tm_stream_links_take(&s.links, &f));
    assert_false(tm_stream_links_end(&s.links, f.worker, 0));
  }
  tm_worker_link_close(s.link);
  release(&s, "C");
}

static void a_link_outlives_its_stream(void **state)
{
  struct tm_msg f = { .type = 7, .fd = -1 };
  struct seen s;
  setup(&s, over_stream);
  tm_worker_link_hold(s.link, true);
  say(&s, "a");
  let_arrive(&s);
  close_streams(&s);
  tm_loop_turn(&s.loop);
  assert_int_equal(s.order.len, 0);
  tm_worker_link_send(s.link, &f);
  tm_worker_link_hold(s.link, false);
  assert_string_equal(tm_buf_str(&s.order), "aE");
  tm_worker_link_close(s.link);
  release(&s, "aEC");
}

#define BOTH(f)                                                                                    \
  { #f " (socket)", f, NULL, NULL, (void *)&over_socket },                                         \
  {                                                                                                \
#f " (stream)", f, NULL, NULL, (void *)&over_stream                                            \
  }

UNIT_TESTS({
    BOTH(messages_go_both_ways),
    BOTH(a_drain_brings_all_and_the_end),
    BOTH(a_held_link_delivers_nothing),
    BOTH(a_link_held_in_a_message_delivers_one),
    BOTH(a_link_closed_in_a_message_delivers_no_other),
    cmocka_unit_test(long_messages_arrive_whole),
    cmocka_unit_test(a_link_that_was_not_opened_closes_its_socket),
    cmocka_unit_test(no_link_is_a_no_op),
    cmocka_unit_test(messages_before_the_open_wait),
    cmocka_unit_test(what_waits_holds_the_node_back),
    cmocka_unit_test(a_closed_link_holds_nobody_back),
    cmocka_unit_test(a_worker_that_was_not_started_has_no_link),
    cmocka_unit_test(a_link_outlives_its_stream),
});
