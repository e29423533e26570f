/* stream_connection.h - a connection to a node over a stream (sys/messages/node_stream.h).
 *
 * The relay at its other end has started the keeper there, and carries the messages of the keeper
 * and of its workers. Workers are reached over the stream, too (stream_link.h). Nothing is started
 * here: on_gone comes when the stream is closed. */
#ifndef TM_FLEET_STREAM_CONNECTION_H
#define TM_FLEET_STREAM_CONNECTION_H

#include "fleet/node_connection.h"

/* Takes over the descriptors, also on failure; they may be one. `name`: of the node, for messages;
 * copied. `timeout_ns`: after which the node would be given up, for the stream's heartbeats; 0: it
 * has none. */
struct tm_node_connection *tm_stream_connection_open(struct tm_loop *loop, int in, int out,
                                                     const char *name, int64_t timeout_ns,
                                                     const struct tm_node_connection_user *user,
                                                     struct tm_err *err);

#endif
