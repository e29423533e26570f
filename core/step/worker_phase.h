/* worker_phase.h - what a worker is doing, and since when.
 *
 * The supervisor knows the current call of a worker, and the first mini-batch that it holds. Only
 * the keeper knows the phase of that mini-batch and the moment at which the worker began it. The
 * supervisor asks the keeper before it shows them. Pure: all times are arguments.
 *
 *  (1) If the call or the mini-batch is new, the time starts again, and the keeper's report is
 *      dropped.
 *  (2) The user's process can write to the page that the keeper reads. So the report counts only
 *      for the mini-batch that the worker holds, or for recover(), and is only shown.
 */
#ifndef TM_STEP_WORKER_PHASE_H
#define TM_STEP_WORKER_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node_msg.h"

struct tm_worker_phase {  /* zeroed: not looked at yet */
  uint64_t seq;           /* the first that it holds, or 0 */
  int64_t since_ns;       /* awake (active_clock.h) */
  int64_t begun_wall_ns;  /* by the keeper, for this seq; 0: nothing yet */
  enum tm_phase told : 8; /* likewise; IDLE: nothing yet */
  enum tm_phase call : 8; /* as the supervisor sees it; RUN: a mini-batch */
  bool is_stopped;        /* by the keeper */
  bool is_waiting;        /* likewise: for another worker */
};

void tm_worker_phase_look(struct tm_worker_phase *p, enum tm_phase call, uint64_t seq,
                          int64_t now_ns);
/* Whether to ask the keeper now: it may know more, and can answer before that is shown. */
bool tm_worker_phase_is_asked(const struct tm_worker_phase *p, int64_t now_ns);
/* The keeper's report. */
void tm_worker_phase_tell(struct tm_worker_phase *p, const struct tm_worker_doing *told,
                          int64_t now_ns);

#endif
