/* stream_in.h - what a stream receives (node_stream.h): pieces of messages joined, and what the
 * other side may send. It touches no descriptor. The frames may be hostile.
 */
#ifndef TM_SYS_MESSAGES_STREAM_IN_H
#define TM_SYS_MESSAGES_STREAM_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "sys/messages/stream_credit.h"
#include "sys/messages/stream_frames.h"

struct tm_stream_in {
  bool is_by_worker; /* each worker has a credit of its own; else all share `credit` */
  size_t limit;      /* of a credit, bytes */
  struct tm_credit_in credit;
  struct tm_join control;
  struct tm_join *done;  /* its message has been returned */
  struct tm_map numbers; /* of the workers */
  struct tm_list all;    /* workers */
};

void tm_stream_in_init(struct tm_stream_in *in, bool is_by_worker, size_t limit);
void tm_stream_in_release(struct tm_stream_in *in);
/* Takes a frame, except those of the stream itself. 1: *whole is a message, valid until the next
 * call; 0: more of it follows; TM_EPROTOCOL with a message. */
int tm_stream_in_add(struct tm_stream_in *in, const struct tm_msg *f, struct tm_msg *whole,
                     struct tm_err *err);
/* TM_STREAM_CUT has come. False: no message of the worker has begun. */
bool tm_stream_in_cut(struct tm_stream_in *in, uint32_t worker);
/* The caller has consumed bytes of messages that were returned. */
void tm_stream_in_consume(struct tm_stream_in *in, uint32_t worker, size_t bytes);
/* Bytes that are to be granted now, for the worker or for all; or 0. Ask after each of the
 * others. */
uint64_t tm_stream_in_grant(struct tm_stream_in *in, uint32_t worker);

#endif
