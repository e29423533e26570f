/* local_connection.h - a connection to a keeper that is our child, started with posix_spawn; only
 * its control channel identifies it. Workers are reached over sockets. After the close, a thread
 * waits for the keeper's end and reaps it. If the keeper was killed, the thread kills the processes
 * that it left behind, which a note says. */
#ifndef TM_FLEET_LOCAL_CONNECTION_H
#define TM_FLEET_LOCAL_CONNECTION_H

#include "fleet/node_connection.h"
#include "node/node_msg.h"

/* Starts `program keeper`. `has_stderr`: it gets our stderr, else none. */
struct tm_node_connection *tm_local_connection_start(struct tm_loop *loop, const char *program,
                                                     bool has_stderr,
                                                     const struct tm_incarnation *incarnation,
                                                     const struct tm_node_connection_user *user,
                                                     struct tm_err *err);

#endif
