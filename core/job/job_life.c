/* job_life.c - see job_life.h. An entry of the table that is left out is impossible. */
#include "job/job_life.h"

#include "base/check.h"

struct change {
  bool is_possible;
  enum tm_job_life_state next;
  enum tm_job_life_action action;
};

/* In the row of a state: the event leads to `next`, and `action` is to be carried out. */
#define ON(event, next, action) [TM_JOB_ON_##event] = { true, TM_JOB_IS_##next, TM_JOB_DO_##action }

/* clang-format off */
static const struct change changes[TM_JOB_STATES][TM_JOB_EVENTS] = {
  [TM_JOB_IS_OPENED] = {
    ON(KEPT, KEPT, NOTHING),
    ON(START, OPENED, START),
    ON(STARTED, RUNNING, RUN),
    ON(CANCEL, CANCELED, NOTE_CANCEL),
    ON(CANCEL_NOW, CANCELED, NOTE_CANCEL),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_JOB_IS_CANCELED] = {
    ON(START, CANCELED, START),
    ON(STARTED, CANCELING, RUN_CANCELED),
    ON(CANCEL, CANCELED, NOTHING),
    ON(CANCEL_NOW, CANCELED, NOTHING),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_JOB_IS_KEPT] = {
    ON(START, KEPT, RECHECK),
    ON(RECHECKING, RECHECKING, NOTHING),
    ON(SAME, REPEATING, REPEAT),
    ON(CHANGED, REFUSED, REFUSE),
    ON(CANCEL, KEPT, NOTHING),
    ON(CANCEL_NOW, KEPT, NOTHING),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_JOB_IS_RECHECKING] = {
    ON(SAME, REPEATING, REPEAT),
    ON(CHANGED, REFUSED, REFUSE),
    ON(CANCEL, REFUSED, STOP_RECHECK),
    ON(CANCEL_NOW, REFUSED, STOP_RECHECK),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_JOB_IS_REPEATING] = {
    ON(CANCEL, REPEATING, NOTHING),
    ON(CANCEL_NOW, REPEATING, NOTHING),
    ON(DONE, ENDED, REPEAT_END),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_JOB_IS_RUNNING] = {
    ON(CANCEL, CANCELING, CANCEL),
    ON(CANCEL_NOW, CANCELING, CANCEL_NOW),
    ON(DONE, ENDING, END),
    ON(CLOSE, CLOSED, CLOSE_EARLY),
  },
  [TM_JOB_IS_CANCELING] = {
    ON(CANCEL, CANCELING, CANCEL),
    ON(CANCEL_NOW, CANCELING, CANCEL_NOW),
    ON(DONE, ENDING, END),
    ON(CLOSE, CLOSED, CLOSE_EARLY),
  },
  [TM_JOB_IS_ENDING] = {
    ON(CANCEL, ENDING, NOTHING),
    ON(CANCEL_NOW, ENDING, NOTHING),
    ON(DONE, ENDING, NOTHING),
    ON(GONE, ENDED, CONCLUDE),
    ON(CLOSE, CLOSED, CLOSE_EARLY),
  },
  [TM_JOB_IS_ENDED] = {
    ON(CANCEL, ENDED, NOTHING),
    ON(CANCEL_NOW, ENDED, NOTHING),
    ON(DONE, ENDED, NOTHING),
    ON(GONE, ENDED, NOTHING),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_JOB_IS_REFUSED] = {
    ON(CANCEL, REFUSED, NOTHING),
    ON(CANCEL_NOW, REFUSED, NOTHING),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_JOB_IS_CLOSED] = {
    ON(CANCEL, CLOSED, NOTHING),
    ON(CANCEL_NOW, CLOSED, NOTHING),
    ON(DONE, CLOSED, NOTHING),
    ON(GONE, CLOSED, NOTHING),
    ON(RELEASED, FREED, FREE),
  },
};
/* clang-format on */

static const unsigned permits[TM_JOB_STATES] = {
  [TM_JOB_IS_OPENED] = TM_JOB_MAY_RESULT,
  [TM_JOB_IS_CANCELED] = TM_JOB_MAY_RESULT,
  [TM_JOB_IS_KEPT] = TM_JOB_MAY_RESULT,
  [TM_JOB_IS_RECHECKING] = TM_JOB_MAY_RESULT,
  [TM_JOB_IS_REPEATING] = TM_JOB_MAY_RESULT,
  [TM_JOB_IS_RUNNING] = TM_JOB_MAY_RESULT | TM_JOB_MAY_RUN | TM_JOB_MAY_BEGIN,
  [TM_JOB_IS_CANCELING] = TM_JOB_MAY_RESULT | TM_JOB_MAY_RUN,
  [TM_JOB_IS_ENDING] = TM_JOB_MAY_RESULT,
  [TM_JOB_IS_ENDED] = TM_JOB_MAY_RESULT,
};

enum tm_job_life_action tm_job_life_event(struct tm_job_life *l, enum tm_job_life_event event)
{
  tm_require(tm_job_life_is_possible(l->state, event)); /* keeps (4) */
  const struct change *c = &changes[l->state][event];
  l->state = c->next;
  return c->action;
}

bool tm_job_life_may(const struct tm_job_life *l, enum tm_job_life_may what)
{
  return permits[l->state] & what;
}

bool tm_job_life_is_possible(enum tm_job_life_state state, enum tm_job_life_event event)
{
  return state < TM_JOB_STATES && event < TM_JOB_EVENTS && changes[state][event].is_possible;
}
