/* step_life.h - the life of a step, as two tables: what each event means in each state, and what
 * each state permits.
 *
 *   OPENED --> STAGING ----> RUNNING ----> DRAINING --> COMMITTING --> UPLOADING --> ENDED
 *                 |             `--> STUCK ----^                `-------------------^
 *                 `--> UNSTAGING --------------'
 *
 * A step without inputs to stage goes from OPENED to RUNNING at once. After an error that no step
 * survives, FAILING takes the place of DRAINING, and FAILING_STAGING that of UNSTAGING. Every state
 * leads to CLOSED, and CLOSED to FREED.
 *
 * Pure: it reads no clock, opens nothing, calls nobody. Its caller reports each event and carries
 * out the action at once. The state has changed by then, so an action may report further events.
 *
 *  (1) A step ends once: END is returned once at most, after COMMIT, and COMMIT once.
 *  (2) The verdict is decided once, by COMPLETE, GIVE_UP, CANCEL or CANCEL_NOW. Only FAIL changes
 *      it later, and not after COMMIT.
 *  (3) Nothing happens after CLOSE except FREE, and nothing after FREE.
 *  (4) An event that cannot come in a state is a fault of ours, and ends the program.
 */
#ifndef TM_STEP_STEP_LIFE_H
#define TM_STEP_STEP_LIFE_H

#include <stdbool.h>

enum tm_step_life_state {
  TM_STEP_IS_OPENED,          /* what earlier sessions left is recovered; nothing runs */
  TM_STEP_IS_STAGING,         /* inputs are put in their places; no worker runs */
  TM_STEP_IS_RUNNING,         /* mini-batches are listed and handed out */
  TM_STEP_IS_STUCK,           /* no worker gets through init(): they are asked where they hang */
  TM_STEP_IS_UNSTAGING,       /* it ended while STAGING, which has to return first */
  TM_STEP_IS_FAILING_STAGING, /* likewise, after an error */
  TM_STEP_IS_DRAINING,        /* the verdict is known; workers end, and a sync may be under way */
  TM_STEP_IS_FAILING,         /* likewise, after an error: no more results are taken */
  TM_STEP_IS_COMMITTING,      /* nothing runs; the commit is finished */
  TM_STEP_IS_UPLOADING,       /* outputs go to their destinations */
  TM_STEP_IS_ENDED,           /* its owner knows */
  TM_STEP_IS_CLOSED,          /* handles are being closed */
  TM_STEP_IS_FREED,
  TM_STEP_STATES
};

enum tm_step_life_event {
  TM_STEP_ON_STAGING,    /* a thread has begun to stage its inputs */
  TM_STEP_ON_STAGED,     /* the inputs are in place, or need no staging */
  TM_STEP_ON_NOT_STAGED, /* staging has failed, or was canceled */
  TM_STEP_ON_NODE,       /* it has a node */
  TM_STEP_ON_STUCK,      /* no worker gets through init(), and they can be interrupted */
  TM_STEP_ON_DONE,       /* every mini-batch is over, and no limit is exceeded */
  TM_STEP_ON_GIVE_UP,    /* a limit is exceeded, or a rule of time is broken */
  TM_STEP_ON_CANCEL,     /* the job is canceled: what runs may end */
  TM_STEP_ON_CANCEL_NOW, /* likewise, but it is killed */
  TM_STEP_ON_FAIL,       /* an error that no step survives */
  TM_STEP_ON_QUIET,      /* no worker lives, and no sync is under way */
  TM_STEP_ON_UPLOADING,  /* a thread has begun to upload its outputs */
  TM_STEP_ON_UPLOADED,   /* it has ended; or there was nothing to upload, or it could not begin */
  TM_STEP_ON_CLOSE,      /* the owner closes it */
  TM_STEP_ON_RELEASED,   /* the last handle is closed */
  TM_STEP_EVENTS
};

enum tm_step_life_action {
  TM_STEP_DO_NOTHING,
  TM_STEP_DO_LIST,          /* list the mini-batches; then use the node that it has, if any */
  TM_STEP_DO_USE_NODE,      /* start workers there */
  TM_STEP_DO_COMPLETE,      /* the verdict is Completed; workers end */
  TM_STEP_DO_GIVE_UP,       /* the verdict is Failed; workers are killed */
  TM_STEP_DO_CANCEL,        /* the verdict is Canceled; no more is handed out, and workers end */
  TM_STEP_DO_CANCEL_NOW,    /* the verdict is Canceled; workers are killed */
  TM_STEP_DO_KILL,          /* the verdict stays; workers are killed */
  TM_STEP_DO_FAIL,          /* the verdict is Failed, whatever it was; workers are killed */
  TM_STEP_DO_LOOK,          /* report QUIET, if that is so */
  TM_STEP_DO_COMMIT,        /* finish the commit, then upload: report UPLOADING or UPLOADED */
  TM_STEP_DO_CANCEL_UPLOAD, /* UPLOADED comes soon */
  TM_STEP_DO_END,           /* inform the owner */
  TM_STEP_DO_CLOSE,         /* close everything, and report RELEASED after the last handle */
  TM_STEP_DO_FLUSH_CLOSE,   /* likewise, and write the results that were taken */
  TM_STEP_DO_FREE,
  TM_STEP_ACTIONS
};

/* What a state permits. */
enum tm_step_life_may {
  TM_STEP_MAY_WRITE = 1, /* what was added to the commit is written to its files */
  TM_STEP_MAY_SYNC = 2,  /* each turn and each sync interval does so; syncs end with a record */
  TM_STEP_MAY_RUN = 4,   /* mini-batches are handed out */
  TM_STEP_MAY_START = 8, /* workers start; limits and rules of time are applied */
  TM_STEP_MAY_ASK = 16,  /* workers report where init() hangs */
  TM_STEP_MAY_WATCH = 32 /* workers are looked at ten times a second */
};

struct tm_step_life {
  enum tm_step_life_state state; /* zero: OPENED */
};

/* The action to carry out. Aborts if the event cannot come in this state. */
enum tm_step_life_action tm_step_life_event(struct tm_step_life *l, enum tm_step_life_event event);
bool tm_step_life_may(const struct tm_step_life *l, enum tm_step_life_may what);
/* Whether the event can come in the state. */
bool tm_step_life_is_possible(enum tm_step_life_state state, enum tm_step_life_event event);

#endif
