/* worker_phase.c - see worker_phase.h. */
#include "step/worker_phase.h"

#include "base/time.h"
#include "record/activity.h"

#define ASK_AFTER_NS (TM_ACTIVITY_SHOWN_NS - 300 * TM_MS) /* so that the answer is there by then */
#define LOOKS_NS     (300 * TM_MS)                        /* between two looks, on a busy machine */

void tm_worker_phase_look(struct tm_worker_phase *p, enum tm_phase call, uint64_t seq,
                          int64_t now_ns)
{
  if (p->since_ns != 0 && p->call == call && p->seq == seq)
    return;
  *p = (struct tm_worker_phase) {
    .call = call, .seq = seq, .since_ns = now_ns, .told = TM_PHASE_IDLE
  }; /* keeps (1) */
}

bool tm_worker_phase_is_asked(const struct tm_worker_phase *p, int64_t now_ns)
{
  return p->call != TM_PHASE_START && p->call != TM_PHASE_IDLE &&
         now_ns - p->since_ns >= ASK_AFTER_NS;
}

void tm_worker_phase_tell(struct tm_worker_phase *p, const struct tm_worker_doing *told,
                          int64_t now_ns)
{
  int64_t begun_ns = now_ns - told->phase_ns;

  p->is_stopped = told->is_stopped;
  p->is_waiting = told->is_waiting;
  if (told->phase != TM_PHASE_RECOVER && (p->seq == 0 || told->seq != p->seq))
    return; /* keeps (2) */
  p->told = told->phase;
  p->begun_wall_ns = told->begun_wall_ns;
  /* When the phase began, to the millisecond; or when the try was seen, a moment later. */
  if (begun_ns < p->since_ns && begun_ns > p->since_ns - LOOKS_NS)
    p->since_ns = begun_ns;
}
