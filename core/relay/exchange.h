/* exchange.h - passes messages on between the stream of a supervisor, the keeper's control channel
 * and the sockets of workers.
 *
 *   supervisor ===== stream =====+-- control channel --- keeper
 *                                +-- socket ------------ worker, one each
 *
 * Control messages go through unchanged. The socket that comes with STARTED stays here. A worker's
 * messages go to and from its socket, by its number. When a worker closes its socket, CLOSED is
 * sent; CLOSED and ENDED follow everything that the worker sent.
 *
 * It holds a bounded amount: the supervisor may send more to a worker when its socket has taken
 * what came before, and sockets are not read while TM_STREAM_NODE_CREDIT waits for the supervisor.
 *
 * Whatever comes on the stream shows that the supervisor lives; its heartbeats say what its timeout
 * is. Until one has come, and if it sends none, its silence is not watched.
 *
 * Everything is called on the loop's thread. Caller: open; end_keeper; note; finish; close, whether
 * or not on_end came.
 */
#ifndef TM_RELAY_EXCHANGE_H
#define TM_RELAY_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/loop.h"
#include "sys/messages/msg.h"

struct tm_exchange;

/* A supervisor that is silent for so long has given the node up long ago, or does not live. */
#define TM_EXCHANGE_TIMEOUTS 8

enum tm_exchange_end {
  TM_EXCHANGE_STREAM_ENDED,  /* the supervisor's side. code 0: it ended between two messages */
  TM_EXCHANGE_STREAM_SILENT, /* nothing came for TM_EXCHANGE_TIMEOUTS timeouts of the supervisor */
  TM_EXCHANGE_KEEPER_ENDED,  /* or it could not be started, sent what cannot be, or is silent */
};

struct tm_exchange_options {
  struct tm_loop *loop;
  int in, out;        /* of the stream; taken over */
  const char *hello;  /* tm_hello() */
  int64_t timeout_ns; /* the supervisor's, until a heartbeat brings it */
  /* Once: the supervisor is there. Starts the keeper, and returns our end of its control channel;
   * or a negative code with a message. What it sends comes before all messages of the keeper. */
  int (*on_open)(void *data, struct tm_err *err);
  /* A control message of the supervisor, before it is passed on. */
  void (*on_control)(void *data, const struct tm_msg *f);
  /* PROBE, SOURCE and SOURCE_DATA, which are for the relay, and are not passed on. Negative with a
   * message: it cannot be; the end follows. */
  int (*on_own)(void *data, const struct tm_msg *f, struct tm_err *err);
  /* Once. After it, only what is on its way to the supervisor is passed on. `text`: one line
   * without a break. */
  void (*on_end)(void *data, enum tm_exchange_end end, int code, const char *text);
  void *data;
};

/* NULL with a message; the descriptors are closed then. */
struct tm_exchange *tm_exchange_open(const struct tm_exchange_options *o, struct tm_err *err);
/* Closes the control channel: the keeper ends all its workers, and itself. */
void tm_exchange_end_keeper(struct tm_exchange *x);
/* Sends the supervisor a control message of the relay's own. */
void tm_exchange_send(struct tm_exchange *x, uint32_t type, const void *p, size_t n);
/* So many bytes of SOURCE_DATA, headers and payloads, were used: as many more may come. */
void tm_exchange_consumed(struct tm_exchange *x, size_t bytes);
/* Sends the supervisor text for its log, if the keeper has introduced itself. */
void tm_exchange_note(struct tm_exchange *x, const char *text);
/* When no process is left beneath the keeper: passes on what workers and keeper have sent, and
 * calls on_finished when the supervisor's side has all of it, or after limit_ns. The loop runs
 * meanwhile. Once. */
void tm_exchange_finish(struct tm_exchange *x, int64_t limit_ns, void (*on_finished)(void *data));
/* Tries once to write what waits, then closes everything. It is freed on the loop's next turn. NULL
 * is a no-op. */
void tm_exchange_close(struct tm_exchange *x);

#endif
