/* keeper.h - the one process on a node that starts, watches and ends its workers. */
#ifndef TM_NODE_KEEPER_H
#define TM_NODE_KEEPER_H

#define TM_KEEPER_CONTROL_FD 3

/* Serves the control channel (descriptor 3) until it closes; then everything beneath it has been ended. Returns the exit
 * status of the process. Takes over the process: session, subreaper, SIGCHLD. */
int tm_keeper_run(void);

#endif
