/* test_link_memory.c - what the link to a worker over a stream takes in the memory of the
 * supervisor. A job may have 100,000 workers. */
#include "unit.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "fleet/stream_link.h"

#define FEW     64  /* workers; the stream itself has all its memory then */
#define WORKERS 512 /* the lists of workers have as much room */
#define PAYLOAD 60  /* bytes of a message: those of all workers fit into the socket */
#define EACH    180 /* bytes */

static int closed;
static bool is_open;

static void on_open(void *data, const char *skipped, size_t len)
{
  is_open |= data != NULL;
}

static void on_msg(void *data, const struct tm_msg *f)
{
}

static void on_end(void *data, int code)
{
}

static void on_stream_end(void *data, int code, const char *text)
{
}

static void on_closed(void *data)
{
  closed++;
}

static void on_stream_closed(void *data)
{
}

static struct tm_node_stream *open_stream(struct tm_loop *loop, int fd, bool is_supervisor)
{
  struct tm_node_stream_options o = { .loop = loop,
                                      .in = fd,
                                      .out = fd,
                                      .is_supervisor = is_supervisor,
                                      .hello = "tidemill",
                                      .on_open = on_open,
                                      .on_msg = on_msg,
                                      .on_end = on_stream_end,
                                      .on_closed = on_stream_closed,
                                      .data = is_supervisor ? loop : NULL };
  struct tm_node_stream *s = tm_node_stream_open(&o, NULL);

  assert_non_null(s);
  return s;
}

static size_t in_use(void)
{
  struct mallinfo2 m = mallinfo2();

  return m.uordblks + m.hblkhd;
}

static void send_to(struct tm_worker_link *l, size_t length)
{
  char *payload = tm_xcalloc(1, length);
  struct tm_msg f = { .type = 1, .payload = payload, .length = (uint32_t)length, .fd = -1 };

  tm_worker_link_send(l, &f);
  free(payload);
}

static struct tm_worker_link *links[WORKERS];

/* They have been used and are idle: all messages fit into the socket, and the relay does not read
 * meanwhile. */
static void use_links(struct tm_stream_links *of, struct tm_loop *loop, uint32_t from, uint32_t to)
{
  static const struct tm_worker_link_user user = { .on_msg = on_msg,
                                                   .on_end = on_end,
                                                   .on_closed = on_closed };

  for (uint32_t i = from; i < to; i++) {
    links[i] = tm_stream_links_add(of, i);
    assert_int_equal(tm_worker_link_open(links[i], loop, &user, NULL, NULL), 0);
    send_to(links[i], PAYLOAD);
  }
  tm_node_stream_flush(of->stream);
  assert_int_equal(tm_node_stream_pending(of->stream), 0);
}

static void a_link_takes_little_memory(void **state)
{
  struct tm_stream_links of = { .stream = NULL };
  struct tm_node_stream *relay;
  struct tm_loop loop;
  size_t before, each;
  int fds[2];

  if (mallinfo2().uordblks == 0) /* a sanitizer's allocator does not count */
    skip();
  assert_int_equal(tm_loop_init(&loop, NULL), 0);
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  of.stream = open_stream(&loop, fds[0], true);
  relay = open_stream(&loop, fds[1], false);
  while (!is_open)
    tm_loop_turn(&loop);
  use_links(&of, &loop, 0, FEW);
  before = in_use();
  use_links(&of, &loop, FEW, WORKERS);
  each = (in_use() - before) / (WORKERS - FEW);
  if (getenv("TM_SHOW"))
    print_message("each link: %d bytes\n", (int)each);
  assert_true(each <= EACH);
  for (uint32_t i = 0; i < WORKERS; i++)
    tm_worker_link_close(links[i]);
  tm_stream_links_leave(&of);
  tm_node_stream_close(of.stream);
  tm_node_stream_close(relay);
  tm_loop_release(&loop);
  assert_int_equal(closed, WORKERS);
}

UNIT_TESTS({
    cmocka_unit_test(a_link_takes_little_memory),
});
