/* node_connection.h - what carries the messages between a node (node.h) and its keeper, and how
 * that ends: local_connection.h for a keeper that is our child, stream_connection.h for one that is
 * reached over a stream.
 *
 * A connection is made by one of those two, and belongs to its user from then on: send; close,
 * once, whether or not on_end came. It frees itself after on_closed. Everything is called on the
 * loop's thread.
 */
#ifndef TM_FLEET_NODE_CONNECTION_H
#define TM_FLEET_NODE_CONNECTION_H

#include "fleet/worker_link.h"
#include "sys/messages/msg.h"

struct tm_node_connection;

struct tm_node_connection_user {
  void *data;
  /* Once, before any message: the other side has been reached. Not for a keeper of this machine. */
  void (*on_open)(void *data);
  /* The descriptor of a message stays the connection's. */
  void (*on_msg)(void *data, const struct tm_msg *f);
  /* Once, after all messages; `text` says why. `is_other_build`: the other side is another
   * build. */
  void (*on_end)(void *data, const char *text, bool is_other_build);
  void (*on_note)(void *data, const char *text); /* for the log */
  /* Once, after close: every process is gone that the connection has started. */
  void (*on_gone)(void *data);
  void (*on_closed)(void *data); /* the last call, in a later turn of the loop than close */
};

/* What a carrier does; see the functions below. */
struct tm_node_carrier {
  void (*send)(struct tm_node_connection *c, const struct tm_msg *f);
  struct tm_worker_link *(*make_link)(struct tm_node_connection *c, const struct tm_msg *started);
  int (*take_fd)(struct tm_node_connection *c, const struct tm_msg *f); /* NULL: none can come */
  bool (*deliver)(struct tm_node_connection *c, const struct tm_msg *f);
  void (*end_link)(struct tm_node_connection *c, uint32_t worker);
  void (*wake)(struct tm_node_connection *c);
  void (*leave)(struct tm_node_connection *c); /* NULL: it is of this machine */
  void (*close)(struct tm_node_connection *c, const char *job_dir);
  void (*wait)(struct tm_node_connection *c);
  const char *(*foreign)(const struct tm_node_connection *c, size_t *len); /* NULL: none can come */
  size_t (*pending)(const struct tm_node_connection *c, uint32_t worker);  /* likewise */
  int64_t (*round_trip_ns)(const struct tm_node_connection *c); /* both NULL: of this machine */
  int64_t (*clock_offset_ns)(const struct tm_node_connection *c);
};

struct tm_node_connection {
  const struct tm_node_carrier *carrier;
  struct tm_node_connection_user user;
};

/* Copies the message, which goes out at the turn's end at the latest. */
static inline void tm_node_connection_send(struct tm_node_connection *c, const struct tm_msg *f)
{
  c->carrier->send(c, f);
}

/* Within on_msg of a STARTED: the link to its worker, or NULL: the message lacks what it needs. */
static inline struct tm_worker_link *tm_node_connection_make_link(struct tm_node_connection *c,
                                                                  const struct tm_msg *started)
{
  return c->carrier->make_link(c, started);
}

/* Within on_msg: the descriptor of the message, which is the caller's from now on; -1: none. */
static inline int tm_node_connection_take_fd(struct tm_node_connection *c, const struct tm_msg *f)
{
  return c->carrier->take_fd ? c->carrier->take_fd(c, f) : -1;
}

/* Within on_msg: a message of a worker, or CLOSED, for the worker's link. False: no such message
 * can come over this connection, or not of this worker. */
static inline bool tm_node_connection_deliver(struct tm_node_connection *c, const struct tm_msg *f)
{
  return c->carrier->deliver(c, f);
}

/* The worker has ended: its link gets nothing more over this connection. */
static inline void tm_node_connection_end_link(struct tm_node_connection *c, uint32_t worker)
{
  c->carrier->end_link(c, worker);
}

/* Continues a keeper that was stopped, if that can be done from here. */
static inline void tm_node_connection_wake(struct tm_node_connection *c)
{
  c->carrier->wake(c);
}

/* What the command that carries the connection printed before anything else, as long as the other
 * side has not been reached; valid until the loop turns. NULL: nothing. Until on_closed. */
static inline const char *tm_node_connection_foreign(const struct tm_node_connection *c,
                                                     size_t *len)
{
  *len = 0;
  return c->carrier->foreign ? c->carrier->foreign(c, len) : NULL;
}

/* How many bytes for a worker still wait here, after an attempt to write them. */
static inline size_t tm_node_connection_pending(const struct tm_node_connection *c, uint32_t worker)
{
  return c->carrier->pending ? c->carrier->pending(c, worker) : 0;
}

/* Until on_closed. 0: a keeper of this machine, or not known yet. */
static inline int64_t tm_node_connection_round_trip_ns(const struct tm_node_connection *c)
{
  return c->carrier->round_trip_ns ? c->carrier->round_trip_ns(c) : 0;
}

/* The other machine's wall clock minus ours; 0 while the round trip is 0. */
static inline int64_t tm_node_connection_clock_offset_ns(const struct tm_node_connection *c)
{
  return c->carrier->clock_offset_ns ? c->carrier->clock_offset_ns(c) : 0;
}

/* Before on_end: ends all links and sends nothing more, so that the other side ends. Messages that
 * it still sends are delivered. False: no message can come after that, so close the connection. */
static inline bool tm_node_connection_leave(struct tm_node_connection *c)
{
  if (c->carrier->leave)
    c->carrier->leave(c);
  return c->carrier->leave != NULL;
}

/* From here on only on_note, on_gone and on_closed come. `job_dir`: by which leftover processes of
 * the keeper are found; NULL: it has had no step. */
static inline void tm_node_connection_close(struct tm_node_connection *c, const char *job_dir)
{
  c->carrier->close(c, job_dir);
}

/* After close, before on_closed: waits until every process is gone that the connection has started.
 * on_gone comes by then, or when the loop turns. */
static inline void tm_node_connection_wait(struct tm_node_connection *c)
{
  c->carrier->wait(c);
}

#endif
