/* stuck.h - what is asked and answered when no worker gets through init(): the workers are
 * interrupted, and have a grace to report where they are. The answers make the cause of the step's
 * failure more exact.
 *
 * Pure: time is an argument. Caller: begin; note each answer; when is_over, take the cause.
 */
#ifndef TM_STEP_STUCK_H
#define TM_STEP_STUCK_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct tm_stuck { /* zero: nobody is asked */
  int64_t since_ns;
  struct tm_err why;
  struct tm_buf places; /* the first answers, as text */
  int answers;
};

/* `why`: the rule that is broken. */
void tm_stuck_begin(struct tm_stuck *s, const struct tm_err *why, int64_t now_ns);
/* The worker was at `where`, such as a line of the script; "": it does not know. */
void tm_stuck_note(struct tm_stuck *s, const char *worker, const char *where);
/* Whether all have answered or the time is over. `in_init`: workers that are still there. */
bool tm_stuck_is_over(const struct tm_stuck *s, int64_t in_init, int64_t grace_ns, int64_t now_ns);
/* `logs_dir`: of the step; the text names the folder with all stacks. */
void tm_stuck_cause(const struct tm_stuck *s, const char *logs_dir, struct tm_err *out);
void tm_stuck_release(struct tm_stuck *s);

#endif
