/* step_life.c - see step_life.h. An entry of the table that is left out is impossible. */
#include "step/step_life.h"

#include "base/check.h"

struct change {
  bool is_possible;
  enum tm_step_life_state next;
  enum tm_step_life_action action;
};

/* In the row of a state: the event leads to `next`, and `action` is to be carried out. */
#define ON(event, next, action)                                                                    \
  [TM_STEP_ON_##event] = { true, TM_STEP_IS_##next, TM_STEP_DO_##action }
/* Once the step is ending, its start may still be on the stack. */
#define IGNORE_START(state)                                                                        \
  ON(STAGING, state, NOTHING), ON(STAGED, state, NOTHING), ON(NOT_STAGED, state, NOTHING)
/* After the commit, what others decide comes too late. */
#define IGNORE_OTHERS(state)                                                                       \
  ON(NODE, state, NOTHING), ON(CANCEL, state, NOTHING), ON(CANCEL_NOW, state, NOTHING),            \
      ON(FAIL, state, NOTHING), ON(QUIET, state, NOTHING)

/* clang-format off */
static const struct change changes[TM_STEP_STATES][TM_STEP_EVENTS] = {
  [TM_STEP_IS_OPENED] = {
    ON(STAGING, STAGING, NOTHING),
    ON(STAGED, RUNNING, LIST),
    ON(NODE, OPENED, NOTHING),
    ON(CANCEL, DRAINING, CANCEL),
    ON(CANCEL_NOW, DRAINING, CANCEL_NOW),
    ON(FAIL, FAILING, FAIL),
    ON(QUIET, OPENED, NOTHING),
    ON(CLOSE, CLOSED, FLUSH_CLOSE),
  },
  [TM_STEP_IS_STAGING] = {
    ON(STAGED, RUNNING, LIST),
    ON(NOT_STAGED, FAILING, FAIL),
    ON(NODE, STAGING, NOTHING), /* LIST uses it */
    ON(CANCEL, UNSTAGING, CANCEL),
    ON(CANCEL_NOW, UNSTAGING, CANCEL_NOW),
    ON(FAIL, FAILING_STAGING, FAIL),
    ON(QUIET, STAGING, NOTHING),
    ON(CLOSE, CLOSED, FLUSH_CLOSE),
  },
  [TM_STEP_IS_RUNNING] = {
    ON(NODE, RUNNING, USE_NODE),
    ON(STUCK, STUCK, NOTHING),
    ON(DONE, DRAINING, COMPLETE),
    ON(GIVE_UP, DRAINING, GIVE_UP),
    ON(CANCEL, DRAINING, CANCEL),
    ON(CANCEL_NOW, DRAINING, CANCEL_NOW),
    ON(FAIL, FAILING, FAIL),
    ON(QUIET, RUNNING, NOTHING),
    ON(CLOSE, CLOSED, FLUSH_CLOSE),
  },
  [TM_STEP_IS_STUCK] = {
    ON(NODE, STUCK, USE_NODE),
    ON(GIVE_UP, DRAINING, GIVE_UP),
    ON(CANCEL, DRAINING, CANCEL),
    ON(CANCEL_NOW, DRAINING, CANCEL_NOW),
    ON(FAIL, FAILING, FAIL),
    ON(QUIET, STUCK, NOTHING),
    ON(CLOSE, CLOSED, FLUSH_CLOSE),
  },
  [TM_STEP_IS_UNSTAGING] = {
    ON(STAGED, DRAINING, LOOK),
    ON(NOT_STAGED, DRAINING, LOOK),
    ON(NODE, UNSTAGING, NOTHING),
    ON(CANCEL, UNSTAGING, NOTHING),
    ON(CANCEL_NOW, UNSTAGING, KILL),
    ON(FAIL, FAILING_STAGING, FAIL),
    ON(QUIET, UNSTAGING, NOTHING),
    ON(CLOSE, CLOSED, FLUSH_CLOSE),
  },
  [TM_STEP_IS_FAILING_STAGING] = {
    ON(STAGED, FAILING, LOOK),
    ON(NOT_STAGED, FAILING, LOOK),
    ON(NODE, FAILING_STAGING, NOTHING),
    ON(CANCEL, FAILING_STAGING, NOTHING),
    ON(CANCEL_NOW, FAILING_STAGING, KILL),
    ON(FAIL, FAILING_STAGING, KILL),
    ON(QUIET, FAILING_STAGING, NOTHING),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_STEP_IS_DRAINING] = {
    IGNORE_START(DRAINING),
    ON(NODE, DRAINING, NOTHING),
    ON(CANCEL, DRAINING, NOTHING),
    ON(CANCEL_NOW, DRAINING, KILL),
    ON(FAIL, FAILING, FAIL),
    ON(QUIET, COMMITTING, COMMIT),
    ON(CLOSE, CLOSED, FLUSH_CLOSE),
  },
  [TM_STEP_IS_FAILING] = {
    IGNORE_START(FAILING),
    ON(NODE, FAILING, NOTHING),
    ON(CANCEL, FAILING, NOTHING),
    ON(CANCEL_NOW, FAILING, KILL),
    ON(FAIL, FAILING, KILL),
    ON(QUIET, COMMITTING, COMMIT),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_STEP_IS_COMMITTING] = {
    IGNORE_START(COMMITTING),
    IGNORE_OTHERS(COMMITTING),
    ON(UPLOADING, UPLOADING, NOTHING),
    ON(UPLOADED, ENDED, END),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_STEP_IS_UPLOADING] = {
    IGNORE_START(UPLOADING),
    ON(NODE, UPLOADING, NOTHING),
    ON(CANCEL, UPLOADING, NOTHING),
    ON(CANCEL_NOW, UPLOADING, CANCEL_UPLOAD),
    ON(FAIL, UPLOADING, NOTHING),
    ON(QUIET, UPLOADING, NOTHING),
    ON(UPLOADED, ENDED, END),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_STEP_IS_ENDED] = {
    IGNORE_START(ENDED),
    IGNORE_OTHERS(ENDED),
    ON(CLOSE, CLOSED, CLOSE),
  },
  [TM_STEP_IS_CLOSED] = {
    IGNORE_OTHERS(CLOSED),
    ON(RELEASED, FREED, FREE),
  },
};
/* clang-format on */

#define WRITES (TM_STEP_MAY_WRITE | TM_STEP_MAY_SYNC)
#define RUNS   (WRITES | TM_STEP_MAY_RUN | TM_STEP_MAY_WATCH)

static const unsigned permits[TM_STEP_STATES] = {
  [TM_STEP_IS_OPENED] = WRITES,
  [TM_STEP_IS_STAGING] = WRITES,
  [TM_STEP_IS_RUNNING] = RUNS | TM_STEP_MAY_START,
  [TM_STEP_IS_STUCK] = RUNS | TM_STEP_MAY_ASK,
  [TM_STEP_IS_UNSTAGING] = WRITES,
  [TM_STEP_IS_FAILING_STAGING] = TM_STEP_MAY_WRITE,
  [TM_STEP_IS_DRAINING] = WRITES | TM_STEP_MAY_WATCH,
  [TM_STEP_IS_FAILING] = TM_STEP_MAY_WRITE | TM_STEP_MAY_WATCH,
  [TM_STEP_IS_UPLOADING] = TM_STEP_MAY_WATCH,
};

enum tm_step_life_action tm_step_life_event(struct tm_step_life *l, enum tm_step_life_event event)
{
  tm_require(tm_step_life_is_possible(l->state, event)); /* keeps (4) */
  const struct change *c = &changes[l->state][event];
  l->state = c->next;
  return c->action;
}

bool tm_step_life_may(const struct tm_step_life *l, enum tm_step_life_may what)
{
  return permits[l->state] & what;
}

bool tm_step_life_is_possible(enum tm_step_life_state state, enum tm_step_life_event event)
{
  return state < TM_STEP_STATES && event < TM_STEP_EVENTS && changes[state][event].is_possible;
}
