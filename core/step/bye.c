/* bye.c - the last message of a worker: see tm_worker_results_bye() in supervisor_own.h. */
#include "step/supervisor_own.h"

void tm_worker_results_bye(struct tm_worker *w, const struct tm_msg *f)
{
  struct tm_failure failure;
  struct tm_err err = TM_ERR_NONE;

  if (f->length == 0)
    return;
  if (tm_failure_decode(&failure, f->payload, f->length, &err) < 0) {
    tm_worker_results_on_rubbish(w);
    return;
  }
  struct tm_event e = { .kind = TM_EVENT_SHUTDOWN_FAILED,
                        .level = TM_WARNING,
                        .message = failure.message,
                        .stack = failure.stack,
                        .script_where = failure.where };
  tm_supervisor_emit(w->s, &e, w);
  tm_failure_release(&failure);
}
