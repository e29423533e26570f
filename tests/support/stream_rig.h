/* stream_rig.h - a stream between a supervisor and a relay (sys/messages/node_stream.h):
 * both ends on one loop, or one of them played by the test, byte by byte.
 */
#ifndef TM_TESTS_STREAM_RIG_H
#define TM_TESTS_STREAM_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "random.h"
#include "sys/messages/channel.h"
#include "sys/messages/node_stream.h"

#define HELLO   "tidemill 1.0"
#define WORKERS 6
#define CONTROL WORKERS /* as a worker: control messages */

struct side {
  struct tm_node_stream *stream;
  struct rig *rig;
  int opens, msgs, ends, closed, code, close_at;
  char text[600], skipped[201];
  size_t skipped_len;
  struct tm_msg last;
  uint64_t sent[WORKERS + 1], came[WORKERS + 1]; /* messages */
  size_t unconsumed[WORKERS];
  bool is_numbered; /* its messages are those of send_numbered() */
  bool holds;       /* consumes nothing by itself */
  bool answers;     /* each message with a message */
};

struct rig {
  struct tm_loop loop;
  struct side supervisor, relay;
  int fd;             /* of the test, if it plays one side */
  uint64_t nonce;     /* of the other side then */
  int64_t timeout_ns; /* of the heartbeats */
};

static inline size_t length_of(uint64_t index, uint32_t worker)
{
  struct random r = { index * 31 + worker };
  size_t kind = random_below(&r, 400);
  return random_below(&r, kind == 0 ? 1500000 : kind < 20 ? 50000 : kind < 200 ? 2000 : 60);
}

static inline char byte_of(uint64_t index, uint32_t worker, size_t i)
{
  return (char)((index + worker) * 7 + i * (i >> 8 | 1));
}

static inline void send_numbered(struct side *from, uint32_t worker)
{
  uint64_t index = from->sent[worker]++;
  size_t length = length_of(index, worker);
  char *payload = tm_xmalloc(length);
  for (size_t i = 0; i < length; i++)
    payload[i] = byte_of(index, worker, i);
  struct tm_msg f = { .type = worker == CONTROL ? 70 : 5,
                      .index = index,
                      .worker = worker,
                      .length = (uint32_t)length,
                      .payload = payload };
  tm_node_stream_send(from->stream, &f);
  free(payload);
}

static inline void check_numbered(struct side *to, const struct tm_msg *f)
{
  uint32_t worker = f->worker;
  assert_in_range(worker, 0, WORKERS);
  assert_int_equal(f->type, worker == CONTROL ? 70 : 5);
  assert_true(f->index == to->came[worker]);
  assert_int_equal(f->length, length_of(f->index, worker));
  for (size_t i = 0; i < f->length; i++)
    if (f->payload[i] != byte_of(f->index, worker, i))
      fail();
}

static inline void on_open(void *data, const char *skipped, size_t len)
{
  struct side *side = data;
  assert_int_equal(side->msgs, 0);
  assert_int_equal(strlen(skipped), len < 200 ? len : 200);
  strcpy(side->skipped, skipped);
  side->skipped_len = len;
  if (++side->opens == side->close_at)
    tm_node_stream_close(side->stream);
}

static inline void on_msg(void *data, const struct tm_msg *f)
{
  struct side *side = data;
  size_t bytes = TM_MSG_HEADER + (size_t)f->length;
  assert_int_equal(side->opens, 1);
  assert_int_equal(side->ends, 0);
  assert_int_equal(f->fd, -1);
  side->msgs++;
  side->last = *f;
  if (side->is_numbered)
    check_numbered(side, f);
  if (f->worker <= WORKERS)
    side->came[f->worker]++;
  if (f->type < 65 && side->holds)
    side->unconsumed[f->worker] += bytes;
  else if (f->type < 65)
    tm_node_stream_consumed(side->stream, f->worker, bytes);
  if (side->answers)
    tm_node_stream_send(side->stream, &(struct tm_msg) { .type = 3 });
  if (side->msgs == side->close_at)
    tm_node_stream_close(side->stream);
}

static inline void on_end(void *data, int code, const char *text)
{
  struct side *side = data;
  side->ends++;
  side->code = code;
  snprintf(side->text, sizeof side->text, "%s", text);
}

static inline void on_closed(void *data)
{
  struct side *side = data;
  side->closed++;
}

static inline void open_side(struct rig *rig, struct side *side, int in, int out, const char *hello)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_node_stream_options o = { .loop = &rig->loop,
                                      .in = in,
                                      .out = out,
                                      .is_supervisor = side == &rig->supervisor,
                                      .timeout_ns = side == &rig->supervisor ? rig->timeout_ns : 0,
                                      .hello = hello,
                                      .on_open = on_open,
                                      .on_msg = on_msg,
                                      .on_end = on_end,
                                      .on_closed = on_closed,
                                      .data = side };
  side->rig = rig;
  side->stream = tm_node_stream_open(&o, &err);
  assert_non_null(side->stream);
}

static inline void init_rig(struct rig *rig)
{
  memset(rig, 0, sizeof *rig);
  rig->fd = -1;
  assert_int_equal(tm_loop_init(&rig->loop, NULL), 0);
}

static inline void open_ends(struct rig *rig, bool is_pipe)
{
  int there[2], back[2];
  if (is_pipe) {
    assert_int_equal(pipe2(there, O_CLOEXEC), 0);
    assert_int_equal(pipe2(back, O_CLOEXEC), 0);
    open_side(rig, &rig->supervisor, back[0], there[1], HELLO);
    open_side(rig, &rig->relay, there[0], back[1], HELLO);
  } else {
    assert_int_equal(tm_channel_pair(there, NULL), 0);
    open_side(rig, &rig->supervisor, there[0], there[0], HELLO);
    open_side(rig, &rig->relay, there[1], there[1], HELLO);
  }
}

/* Both ends, over a pair of sockets or over two pipes. */
static inline void open_both(struct rig *rig, bool is_pipe)
{
  init_rig(rig);
  open_ends(rig, is_pipe);
}

static inline void turn(struct rig *rig, int turns)
{
  while (turns-- > 0)
    tm_loop_turn(&rig->loop);
}

static inline void close_rig(struct rig *rig)
{
  struct side *sides[] = { &rig->supervisor, &rig->relay };
  for (int i = 0; i < 2; i++)
    if (sides[i]->stream != NULL && sides[i]->close_at == 0)
      tm_node_stream_close(sides[i]->stream);
  tm_loop_release(&rig->loop);
  for (int i = 0; i < 2; i++)
    assert_int_equal(sides[i]->closed, sides[i]->stream != NULL);
  if (rig->fd >= 0)
    close(rig->fd);
}

static inline void open_end(struct rig *rig, bool is_supervisor)
{
  int fds[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
  rig->fd = fds[1];
  open_side(rig, is_supervisor ? &rig->supervisor : &rig->relay, fds[0], fds[0], HELLO);
}

/* One end; the test plays the other, up to its preface. */
static inline void open_one(struct rig *rig, bool is_supervisor)
{
  init_rig(rig);
  open_end(rig, is_supervisor);
}

/* Reads all that came. */
static inline void get(struct rig *rig, struct tm_buf *out)
{
  char bytes[4096];
  ssize_t n;
  turn(rig, 2);
  while ((n = read(rig->fd, bytes, sizeof bytes)) > 0) {
    tm_buf_add(out, bytes, (size_t)n);
    turn(rig, 1);
  }
}

static inline void put(struct rig *rig, const void *p, size_t n)
{
  for (size_t at = 0; at < n;) {
    ssize_t put = write(rig->fd, (const char *)p + at, n - at);
    assert_true(put > 0 || errno == EAGAIN);
    at += put > 0 ? (size_t)put : 0;
    turn(rig, 1);
  }
  turn(rig, 2);
}

static inline void put_buf(struct rig *rig, struct tm_buf *b)
{
  put(rig, b->data, b->len);
  tm_buf_clear(b);
}

static inline void add_preface(struct tm_buf *out, uint64_t echo, const char *hello)
{
  tm_preface_add(out, &(struct tm_preface) { 1, 77, echo, hello, strlen(hello) });
}

/* The preface of a relay that the test plays. */
static inline void answer(struct rig *rig, struct tm_buf *out)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_preface p;
  size_t at = 0, len;
  get(rig, &in);
  assert_int_equal(tm_preface_find(in.data, in.len, 0, &at, &len, &p), 1);
  assert_int_equal(at + len, in.len);
  rig->nonce = p.nonce;
  add_preface(out, p.nonce, HELLO);
  tm_buf_release(&in);
}

/* A supervisor that the test has answered as a relay. */
static inline void open_begun(struct rig *rig)
{
  struct tm_buf out = TM_BUF_NONE;
  open_one(rig, true);
  answer(rig, &out);
  put_buf(rig, &out);
  assert_int_equal(rig->supervisor.opens, 1);
  tm_buf_release(&out);
}

static inline void send_bytes(struct side *from, uint32_t type, uint32_t worker, size_t length)
{
  char *payload = tm_xcalloc(1, length + 1);
  tm_node_stream_send(from->stream, &(struct tm_msg) { .type = type,
                                                       .worker = worker,
                                                       .length = (uint32_t)length,
                                                       .payload = payload });
  free(payload);
}

#endif
