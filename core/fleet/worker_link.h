/* worker_link.h - how a step reaches a worker: messages in both directions, by whatever carries
 * them.
 *
 * A link is made by who started the worker, and given to the step, which owns it from then on:
 * open; send; close, whether or not on_end came. Everything is called on the loop's thread. A new
 * carrier is a struct with a tm_worker_link as its first member, and a tm_worker_carrier.
 */
#ifndef TM_FLEET_WORKER_LINK_H
#define TM_FLEET_WORKER_LINK_H

#include <stdbool.h>

#include "base/err.h"
#include "sys/loop.h"
#include "sys/messages/msg.h"

struct tm_worker_link;

/* The step's side; one for all of its links, which it outlives. */
struct tm_worker_link_user {
  /* The payload is valid during the call. Messages come in the order in which they were sent. */
  void (*on_msg)(void *data, const struct tm_msg *f);
  /* Once, after all messages: the worker sends nothing more. `code`: 0, or the error. */
  void (*on_end)(void *data, int code);
  /* The last call: by tm_worker_link_close(), or later. */
  void (*on_closed)(void *data);
};

/* What a carrier does; see the functions below. `close` also gets a link that is not open, and
 * frees it at once; one that is open it frees after on_closed. */
struct tm_worker_carrier {
  int (*open)(struct tm_worker_link *l, struct tm_loop *loop, struct tm_err *err);
  void (*send)(struct tm_worker_link *l, const struct tm_msg *f);
  void (*hold)(struct tm_worker_link *l, bool is_held);
  void (*drain)(struct tm_worker_link *l);
  void (*close)(struct tm_worker_link *l);
};

struct tm_worker_link {
  const struct tm_worker_carrier *carrier;
  const struct tm_worker_link_user *user; /* NULL: it is not open */
  void *data;                             /* the user's */
};

/* Over a socket, which the link owns now. A descriptor that the worker sends is closed. */
struct tm_worker_link *tm_worker_link_of_socket(int fd);

/* Messages come from the next turn of the loop on. On failure the link is gone, without a call. */
int tm_worker_link_open(struct tm_worker_link *l, struct tm_loop *loop,
                        const struct tm_worker_link_user *user, void *data, struct tm_err *err);
/* Copies the message, which goes out at the turn's end at the latest. Drops it if the link is
 * NULL or has ended. */
void tm_worker_link_send(struct tm_worker_link *l, const struct tm_msg *f);
/* While it is held, nothing is delivered; what the worker sends waits. Within on_msg a link can be
 * held, not released. A release may deliver. NULL is a no-op. */
void tm_worker_link_hold(struct tm_worker_link *l, bool is_held);
/* Delivers all that the worker has sent, up to its end, unless it is held meanwhile. For a worker
 * that is known to have ended; not within on_msg. NULL is a no-op. */
void tm_worker_link_drain(struct tm_worker_link *l);
/* Sends what the worker accepts at once, and delivers nothing more. NULL is a no-op. */
void tm_worker_link_close(struct tm_worker_link *l);

#endif
