/* keeper_start.h - the keeper as a child: how its parent starts it, and waits for its end. The
 * parent is a supervisor (fleet/node), or the relay of a supervisor on another machine. */
#ifndef TM_NODE_KEEPER_START_H
#define TM_NODE_KEEPER_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "node/worker_mark.h"

/* Starts `program keeper`, in a session of its own, with a control channel as its descriptor 3. It
 * gets our stderr, or none. Returns its pid, and in *control the caller's end of the channel; or a
 * negative code with a message. */
pid_t tm_keeper_launch(const char *program, bool has_stderr, int *control, struct tm_err *err);

/* After the control channel was closed: waits for the keeper, and kills it if it does not end.
 * A keeper that did not end by itself has not ended its workers: then kills the processes with its
 * mark, but not the launches that are kept (worker_mark.h). Returns how many. `job_dir` NULL: it
 * has had no step. `has_launches`: it may have to wait for commands that it has launched, and gets
 * more time. */
size_t tm_keeper_await(pid_t pid, bool has_launches, const char *job_dir,
                       const struct tm_incarnation *incarnation);

#endif
