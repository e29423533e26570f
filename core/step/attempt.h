/* attempt.h - a try that has ended, for listeners and for the log of failed items. Part of the
 * supervisor, on its thread.
 */
#ifndef TM_STEP_ATTEMPT_H
#define TM_STEP_ATTEMPT_H

#include "agent/agent_msg.h"
#include "commit/failed_lines.h"
#include "step/supervisor_own.h"

/* How a try ended. */
struct tm_answer {
  struct tm_result_head head;
  enum tm_status status;
  const char *message, *stack, *where;
  int64_t bytes;           /* RUN_DONE: of its rows */
  int32_t signal;          /* that ended the worker; 0: none */
  uint32_t marked;         /* items that the script has marked as failed */
  struct tm_causes causes; /* RUN_DONE: why items failed although run() returned */
  bool no_halves;          /* of a part: halves would fail for the same reason */
};

/* Emits it. `failed`: items that have failed for good with this try. */
void tm_attempt_emit(struct tm_worker *w, const struct tm_in_flight *held,
                     const struct tm_answer *a, int64_t failed);
/* The same for the log of failed items. The caller frees `log`. */
struct tm_failed_try tm_attempt_failed(const struct tm_worker *w, const struct tm_in_flight *held,
                                       struct tm_answer *a, char **log);
/* The one of several items, not rows, that the message of a failed try names, to free(); NULL. */
char *tm_attempt_named_item(struct tm_supervisor *s, const struct tm_in_flight *held,
                            const struct tm_answer *a);
/* Adds a line for each item of the mini-batch, or of a part of it. */
int tm_attempt_list_items(struct tm_buf *out, const struct tm_failed_try *t, uint64_t part,
                          struct tm_supervisor *s, struct tm_err *err);

#endif
