/* node_rig.h - a node over a stream, whose relay and keeper the test plays in the same loop. */
#ifndef TM_TESTS_NODE_RIG_H
#define TM_TESTS_NODE_RIG_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "fleet/node.h"
#include "job_keeper.h"
#include "relay_news.h"
#include "sys/messages/channel.h"
#include "sys/messages/node_stream.h"

#define WORKERS 4

struct rig;

struct rig_worker {
  struct rig *r;
  uint32_t id;
  struct tm_worker_link *link;
};

struct rig {
  struct tm_loop loop;
  struct tm_node *node; /* NULL: closed */
  uint32_t step;
  struct tm_buf order; /* what the supervisor heard: "started 10;10:a;" */
  struct tm_buf lost, notes, probed;
  size_t order_at_loss; /* bytes of `order` then */
  bool is_gone, is_held, closes_when_lost;
  bool is_other_build;
  bool shows_all; /* of messages: the type, the length and a hash of all bytes */
  struct rig_worker workers[WORKERS]; /* their number for the step is 10 more */
  /* the other side of a stream */
  int fd;
  struct tm_node_stream *relay; /* NULL: not yet, or closed */
  bool has_relay_ended, is_mute;
  bool is_silent_about_itself; /* sends no REPORT */
  bool asks_nothing;           /* sends no PROBE */
  const char *mode;            /* see job_keeper.h */
  const char *problem;         /* of its answer to the probe */
  struct tm_buf heard;
  int pings;
};

/* ---- the supervisor's side ---- */

static inline void on_note(void *data, const char *text)
{
  struct rig *r = data;
  tm_buf_printf(&r->notes, "%s;", text);
}

static inline void on_gone(void *data)
{
  struct rig *r = data;
  assert_false(r->is_gone);
  r->is_gone = true;
}

static inline void close_node(struct rig *r)
{
  struct tm_node *node = r->node;
  r->node = NULL;
  tm_node_close(node, on_gone);
}

static inline void on_lost(void *data, const char *text)
{
  struct rig *r = data;
  tm_buf_printf(&r->lost, "%s;", text);
  r->order_at_loss = r->order.len;
  r->is_other_build = tm_node_is_other_build(r->node);
  if (r->closes_when_lost)
    close_node(r);
}

static inline void on_report(void *data)
{
  struct rig *r = data;
  if (!r->asks_nothing)
    ask_nothing(r->node);
}

static inline void on_probed(void *data, const struct tm_node_probed *probed)
{
  struct rig *r = data;
  tm_buf_printf(&r->probed, "probed '%s';", probed->problem);
  if (probed->problem[0])
    tm_node_give_up(r->node, probed->problem);
  else
    tm_node_admit(r->node, false);
}

static inline void on_ready(void *data)
{
  struct rig *r = data;
  tm_buf_add_str(&r->probed, "ready;");
}

static inline void on_link_msg(void *data, const struct tm_msg *f)
{
  struct rig_worker *w = data;
  if (w->r->shows_all)
    tm_buf_printf(&w->r->order, "%u:%u %u %016" PRIx64 ";", w->id + 10, f->type, f->length,
                  tm_hash64(f->payload, f->length));
  else
    tm_buf_printf(&w->r->order, "%u:%.*s;", w->id + 10, (int)(f->length > 9 ? 9 : f->length),
                  f->payload);
}

static inline void on_link_end(void *data, int code)
{
  struct rig_worker *w = data;
  tm_buf_printf(&w->r->order, "%u end %d;", w->id + 10, code);
}

static inline void on_link_closed(void *data)
{
}

static inline void on_started(void *data, uint32_t worker, int64_t pid, struct tm_worker_link *link)
{
  struct rig *r = data;
  struct rig_worker *w = &r->workers[worker - 10];
  static const struct tm_worker_link_user user = { .on_msg = on_link_msg,
                                                   .on_end = on_link_end,
                                                   .on_closed = on_link_closed };
  assert_int_equal(pid, 77);
  tm_buf_printf(&r->order, "started %u;", worker);
  w->link = link;
  assert_int_equal(tm_worker_link_open(link, &r->loop, &user, w, NULL), 0);
  tm_worker_link_hold(link, r->is_held);
}

static inline void on_start_failed(void *data, uint32_t worker, const char *text)
{
  struct rig *r = data;
  tm_buf_printf(&r->order, "failed %u: %s;", worker, text);
}

static inline void on_taken(void *data, uint32_t worker, const uint64_t *seqs, size_t n)
{
  struct rig *r = data;
  tm_buf_printf(&r->order, "taken %u: %zu;", worker, n);
}

static inline void close_link(struct rig *r, uint32_t id)
{
  tm_worker_link_close(r->workers[id].link);
  r->workers[id].link = NULL;
}

static inline void on_ended(void *data, uint32_t worker, const struct tm_ended *ended)
{
  struct rig *r = data;
  tm_worker_link_drain(r->workers[worker - 10].link);
  tm_buf_printf(&r->order, "ended %u;", worker);
  if (!r->is_held)
    close_link(r, worker - 10);
}

/* ---- the relay's side ---- */

static inline void tell(struct rig *r, uint32_t type, uint32_t worker, const void *bytes,
                        size_t len)
{
  struct tm_msg f = {
    .type = type, .worker = worker, .payload = bytes, .length = (uint32_t)len, .fd = -1
  };
  tm_node_stream_send(r->relay, &f);
}

static inline void tell_started(struct rig *r, uint32_t worker)
{
  static const char pid[4] = { 77 };
  tell(r, TM_MSG_STARTED, worker, pid, sizeof(pid));
}

static inline void tell_text(struct rig *r, uint32_t type, uint32_t worker, const char *text)
{
  tell(r, type, worker, text, strlen(text));
}

static inline void tell_closed(struct rig *r, uint32_t worker, int32_t code)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_buf_add_u32(&bytes, (uint32_t)code);
  tell(r, TM_MSG_CLOSED, worker, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

static inline void tell_ended(struct rig *r, uint32_t worker)
{
  struct tm_ended ended = { .cause = TM_END_STOPPED, .pid = 77 };
  struct tm_buf bytes = TM_BUF_NONE;
  tm_ended_encode(&bytes, &ended);
  tell(r, TM_MSG_ENDED, worker, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

static inline void on_relay_open(void *data, const char *skipped, size_t len)
{
  struct rig *r = data;
  struct tm_node_report report = usual_report();
  if (!r->is_silent_about_itself)
    tell_report(r->relay, &report);
}

static inline void answer_start(struct rig *r, const struct tm_msg *f)
{
  struct tm_msg answer = *f;
  if (!r->mode)
    tell_started(r, f->worker);
  else if (bad_answer(r->mode, &answer))
    tell_text(r, answer.type, answer.worker, "no such machine");
}

static inline void answer_hello(struct rig *r)
{
  const char *mode = r->mode ? r->mode : "";
  if (strcmp(mode, "early") == 0)
    tell_text(r, TM_MSG_NOTE, 0, "good morning");
  tell_text(r, TM_MSG_HELLO, 0, strcmp(mode, "version") == 0 ? "another" : tm_hello());
}

static inline void on_relay_msg(void *data, const struct tm_msg *f)
{
  struct rig *r = data;
  if (r->is_mute)
    return;
  switch (f->type) {
  case TM_MSG_HELLO: answer_hello(r); break;
  case TM_MSG_START: answer_start(r, f); break;
  case TM_MSG_PING:
    r->pings++;
    tell(r, TM_MSG_PONG, 0, "", 0);
    break;
  case TM_MSG_PROBE: tell_probed(r->relay, r->problem ? r->problem : ""); break;
  case TM_MSG_STEP: break;
  default:
    tm_buf_printf(&r->heard, "%u to %u;", f->type, f->worker);
    if (f->type < TM_MSG_HELLO) /* control messages need no credit */
      tm_node_stream_consumed(r->relay, f->worker, TM_MSG_HEADER + f->length);
  }
}

static inline void on_relay_end(void *data, int code, const char *text)
{
  struct rig *r = data;
  r->has_relay_ended = true;
}

static inline void on_relay_closed(void *data)
{
}

static inline void open_relay(struct rig *r, const char *hello)
{
  struct tm_node_stream_options o = { .loop = &r->loop,
                                      .in = r->fd,
                                      .out = r->fd,
                                      .hello = hello,
                                      .on_open = on_relay_open,
                                      .on_msg = on_relay_msg,
                                      .on_end = on_relay_end,
                                      .on_closed = on_relay_closed,
                                      .data = r };
  r->relay = tm_node_stream_open(&o, NULL);
  assert_non_null(r->relay);
}

static inline void close_relay(struct rig *r)
{
  tm_node_stream_close(r->relay);
  r->relay = NULL;
}

/* ---- the rig ---- */

static inline struct tm_node_options options_of(struct rig *r)
{
  return (struct tm_node_options) { .loop = &r->loop,
                                    .incarnation = { .epoch = 1, .node = 3 },
                                    .address = "far",
                                    .on_note = on_note,
                                    .on_report = on_report,
                                    .on_probed = on_probed,
                                    .on_ready = on_ready,
                                    .on_lost = on_lost,
                                    .data = r };
}

static inline void add_step(struct rig *r)
{
  char *argv[] = { (char *)"worker", NULL }, *environment[] = { NULL };
  struct tm_node_step step = { .node_id = (char *)"3",
                               .job_dir = (char *)"/nonexistent",
                               .logs_dir = (char *)"/nonexistent/logs",
                               .cwd = (char *)"/",
                               .temp_base = (char *)"/nonexistent/temp",
                               .memory_base = (char *)"",
                               .worker_argv = argv,
                               .worker_argv_len = 1,
                               .environment = environment,
                               .run_timeout_ns = 3600 * TM_S };
  struct tm_node_user user = { .data = r,
                               .on_started = on_started,
                               .on_start_failed = on_start_failed,
                               .on_taken = on_taken,
                               .on_ended = on_ended };
  r->step = tm_node_add_step(r->node, &step, &user);
}

/* Without a relay yet. */
static inline void connect_for(struct rig *r, int64_t timeout_ns)
{
  struct tm_node_options o = options_of(r);
  int pair[2];
  o.node_timeout_ns = timeout_ns;
  memset(r, 0, sizeof(*r));
  for (uint32_t i = 0; i < WORKERS; i++)
    r->workers[i] = (struct rig_worker) { r, i, NULL };
  r->closes_when_lost = true;
  assert_int_equal(tm_loop_init(&r->loop, NULL), 0);
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  r->fd = pair[1];
  r->node = tm_node_connect(&o, pair[0], pair[0], NULL);
  assert_non_null(r->node);
  add_step(r);
}

static inline void connect_only(struct rig *r)
{
  connect_for(r, 4 * TM_S);
}

static inline void setup(struct rig *r)
{
  connect_only(r);
  open_relay(r, tm_hello());
}

static inline void turn(struct rig *r)
{
  tm_loop_turn(&r->loop);
}

static inline void await_order(struct rig *r, const char *order)
{
  while (r->order.len < strlen(order))
    turn(r);
  assert_string_equal(tm_buf_str(&r->order), order);
  tm_buf_clear(&r->order);
}

static inline void await_lost(struct rig *r, const char *text)
{
  while (r->lost.len == 0)
    turn(r);
  assert_string_equal(tm_buf_str(&r->lost), text);
}

static inline void start_worker(struct rig *r, uint32_t id)
{
  assert_int_equal(tm_node_start_worker(r->node, r->step, id + 10, "process000"), id);
}

/* Worker 0 lives. */
static inline void setup_worker(struct rig *r)
{
  setup(r);
  start_worker(r, 0);
  await_order(r, "started 10;");
}

static inline void release(struct rig *r)
{
  for (uint32_t i = 0; i < WORKERS; i++)
    if (r->workers[i].link)
      close_link(r, i);
  if (r->node)
    close_node(r);
  while (!r->is_gone)
    turn(r);
  if (r->relay) {
    while (!r->has_relay_ended) /* the node closes its stream */
      turn(r);
    close_relay(r);
  }
  tm_loop_release(&r->loop);
  tm_buf_release(&r->order);
  tm_buf_release(&r->lost);
  tm_buf_release(&r->notes);
  tm_buf_release(&r->probed);
  tm_buf_release(&r->heard);
}

#endif
