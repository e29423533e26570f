/* stream_connection.c - see stream_connection.h. */
#include "fleet/stream_connection.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "fleet/stream_link.h"
#include "node/node_msg.h"
#include "sys/messages/heartbeat.h"
#include "sys/messages/node_stream.h"

#define SKIPPED_MAX ((size_t)200) /* what on_open gets of it */

struct stream_connection {
  struct tm_node_connection connection;
  char name[12];
  struct tm_stream_links links;
};

/* ---- the stream's side ---- */

/* What a command prints before it carries bytes may explain what goes wrong later. */
static void on_open(void *data, const char *skipped, size_t len)
{
  struct stream_connection *s = data;
  struct tm_buf text = TM_BUF_NONE;

  s->connection.user.on_open(s->connection.user.data);
  if (len == 0)
    return;
  tm_buf_printf(&text, "the command of node %s printed %zu %s before its first message: '", s->name,
                len, tm_text_counted((int64_t)len, "byte", "bytes"));
  tm_text_one_line(&text, skipped, len < SKIPPED_MAX ? len : SKIPPED_MAX, 0);
  tm_buf_add_str(&text, "'");
  s->connection.user.on_note(s->connection.user.data, tm_buf_str(&text));
  tm_buf_release(&text);
}

static void on_msg(void *data, const struct tm_msg *f)
{
  struct stream_connection *s = data;

  s->connection.user.on_msg(s->connection.user.data, f);
}

static void on_end(void *data, int code, const char *why)
{
  struct stream_connection *s = data;
  bool is_other = code == TM_EUSAGE;
  char *text = is_other   ? tm_xstrdup(why)
               : code < 0 ? tm_xprintf("the connection to node %s cannot be used: %s", s->name,
                                       why && *why ? why : tm_code_text(code))
                          : tm_xprintf("the connection to node %s has ended", s->name);

  tm_stream_links_leave(&s->links);
  s->connection.user.on_end(s->connection.user.data, text, is_other);
  free(text);
}

static void on_closed(void *data)
{
  struct stream_connection *s = data;
  struct tm_node_connection_user user = s->connection.user;

  free(s);
  user.on_gone(user.data);
  user.on_closed(user.data);
}

/* ---- the carrier ---- */

static void send_stream(struct tm_node_connection *c, const struct tm_msg *f)
{
  tm_node_stream_send(((struct stream_connection *)c)->links.stream, f);
}

static struct tm_worker_link *make_link(struct tm_node_connection *c, const struct tm_msg *started)
{
  return tm_stream_links_add(&((struct stream_connection *)c)->links, started->worker);
}

/* The code is a relay's, so any number: no end is a success that is not 0. */
static bool on_worker_closed(struct stream_connection *s, const struct tm_msg *f)
{
  int32_t code;

  if (f->length != 4)
    return false;
  code = (int32_t)tm_get_u32(f->payload);
  return tm_stream_links_end(&s->links, f->worker, code > 0 ? TM_EPROTOCOL : code);
}

static bool deliver(struct tm_node_connection *c, const struct tm_msg *f)
{
  struct stream_connection *s = (struct stream_connection *)c;

  return f->type == TM_MSG_CLOSED ? on_worker_closed(s, f) : tm_stream_links_take(&s->links, f);
}

static void end_link(struct tm_node_connection *c, uint32_t worker)
{
  (void)tm_stream_links_end(&((struct stream_connection *)c)->links, worker, 0);
}

/* The relay does that for its keeper. */
static void wake(struct tm_node_connection *c)
{
}

static void leave(struct tm_node_connection *c)
{
  struct stream_connection *s = (struct stream_connection *)c;

  tm_stream_links_leave(&s->links);
  tm_node_stream_end_out(s->links.stream);
}

static void close_stream(struct tm_node_connection *c, const char *job_dir)
{
  struct stream_connection *s = (struct stream_connection *)c;
  struct tm_node_stream *stream = s->links.stream;

  tm_stream_links_leave(&s->links);
  tm_node_stream_close(stream);
}

/* Nothing to wait for: the loop closes the stream. */
static void wait_stream(struct tm_node_connection *c)
{
}

static const char *foreign(const struct tm_node_connection *c, size_t *len)
{
  return tm_node_stream_foreign(((const struct stream_connection *)c)->links.stream, len);
}

static size_t pending(const struct tm_node_connection *c, uint32_t worker)
{
  struct tm_node_stream *stream = ((const struct stream_connection *)c)->links.stream;

  tm_node_stream_flush(stream);
  return tm_node_stream_pending_of(stream, worker);
}

static int64_t round_trip_ns(const struct tm_node_connection *c)
{
  return tm_node_stream_round_trip_ns(((const struct stream_connection *)c)->links.stream);
}

static int64_t clock_offset_ns(const struct tm_node_connection *c)
{
  return tm_node_stream_clock_offset_ns(((const struct stream_connection *)c)->links.stream);
}

static const struct tm_node_carrier carrier = { .send = send_stream,
                                                .make_link = make_link,
                                                .deliver = deliver,
                                                .end_link = end_link,
                                                .wake = wake,
                                                .leave = leave,
                                                .close = close_stream,
                                                .wait = wait_stream,
                                                .foreign = foreign,
                                                .pending = pending,
                                                .round_trip_ns = round_trip_ns,
                                                .clock_offset_ns = clock_offset_ns };

/* A longer timeout has the heartbeats of the longest one. */
static int64_t within_limits(int64_t timeout_ns)
{
  if (timeout_ns <= 0)
    return 0;
  if (timeout_ns < TM_HEARTBEAT_TIMEOUT_MIN_NS)
    return TM_HEARTBEAT_TIMEOUT_MIN_NS;
  return timeout_ns < TM_HEARTBEAT_TIMEOUT_MAX_NS ? timeout_ns : TM_HEARTBEAT_TIMEOUT_MAX_NS;
}

struct tm_node_connection *tm_stream_connection_open(struct tm_loop *loop, int in, int out,
                                                     const char *name, int64_t timeout_ns,
                                                     const struct tm_node_connection_user *user,
                                                     struct tm_err *err)
{
  struct stream_connection *s = TM_NEW(struct stream_connection);
  struct tm_node_stream_options o = { .loop = loop,
                                      .in = in,
                                      .out = out,
                                      .is_supervisor = true,
                                      .timeout_ns = within_limits(timeout_ns),
                                      .hello = tm_hello(),
                                      .on_open = on_open,
                                      .on_msg = on_msg,
                                      .on_end = on_end,
                                      .on_closed = on_closed,
                                      .data = s };

  s->connection = (struct tm_node_connection) { .carrier = &carrier, .user = *user };
  snprintf(s->name, sizeof(s->name), "%s", name);
  s->links.stream = tm_node_stream_open(&o, err);
  if (s->links.stream)
    return &s->connection;
  tm_err_wrap(err, "cannot open the connection to node %s", name);
  free(s);
  return NULL;
}
