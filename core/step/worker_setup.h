/* worker_setup.h - what the definition of a step says to whatever calls its script: the part of
 * struct tm_setup that is the same in a worker, in `try`, in `replay`, at a prompt and in a host.
 *
 * Caller: tm_setup_of_step(); add folders, files and the copy of the script, which depend on where
 * the script runs; use it; tm_setup_release_step().
 */
#ifndef TM_STEP_WORKER_SETUP_H
#define TM_STEP_WORKER_SETUP_H

#include "agent/agent_msg.h"
#include "plan/pipeline.h"

/* Overwrites *s. Its strings belong to the step, which must outlive it. */
void tm_setup_of_step(struct tm_setup *s, const struct tm_step *step);
/* The cores for one worker, where as many as `workers` share the `cores` of a node; at least 1. */
int64_t tm_setup_cores(int64_t cores, int64_t workers);
/* Frees what tm_setup_of_step() has made. Zeroed: a no-op. */
void tm_setup_release_step(struct tm_setup *s);

#endif
