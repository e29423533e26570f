/* keeper.h - the one process on a node that starts, watches and ends its workers. */
#ifndef TM_NODE_KEEPER_H
#define TM_NODE_KEEPER_H

#include "sys/machine/memory.h"

#define TM_KEEPER_CONTROL_FD 3

/* How the keeper reads the machine's state; tests replace it. */
struct tm_keeper_readings {
  bool (*memory)(struct tm_memory *out); /* false: unknown */
  int64_t (*kills)(void);                /* tm_memory_kills() */
  bool (*log_names)(pid_t pid, int64_t since_ns);
};

/* Serves the control channel (descriptor 3) until it closes and everything beneath the keeper has
 * ended. Returns the exit status of the process. Takes over the process: session, subreaper,
 * SIGCHLD. */
int tm_keeper_run(void);
int tm_keeper_run_with(const struct tm_keeper_readings *readings);

#endif
