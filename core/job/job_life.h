/* job_life.h - the life of a job, as two tables: what each event means in each state, and what each
 * state permits.
 *
 *   OPENED --> RUNNING --> ENDING --> ENDED    KEPT --> RECHECKING --> REPEATING --> ENDED
 *     |           |          ^                   |          |              ^
 *     |           v          |                   |          `--> REFUSED   |
 *     `> CANCELED > CANCELING'                   `-------------------------'
 *
 *   A job that was Completed before is KEPT. RECHECKING: the user has asked to compare its inputs.
 *   Every state leads to CLOSED, and CLOSED to FREED.
 *
 * Pure: it reads no clock, opens nothing, calls nobody. Its caller reports each event and carries
 * out the action at once. The state has changed by then, so an action may report further events.
 *
 *  (1) A job ends once: one of CONCLUDE, REPEAT_END, REFUSE and STOP_RECHECK is returned, once at
 *      most.
 *  (2) Only a job that has started ends with a result of its own (END, then CONCLUDE).
 *  (3) Nothing happens after CLOSE except FREE, and nothing after FREE.
 *  (4) An event that cannot come in a state is a fault of ours, and ends the program.
 */
#ifndef TM_JOB_JOB_LIFE_H
#define TM_JOB_JOB_LIFE_H

#include <stdbool.h>

enum tm_job_life_state {
  TM_JOB_IS_OPENED,     /* nothing runs yet */
  TM_JOB_IS_CANCELED,   /* likewise, but it was canceled */
  TM_JOB_IS_KEPT,       /* it was Completed before: nothing will run */
  TM_JOB_IS_RECHECKING, /* the inputs of such a job are compared */
  TM_JOB_IS_REPEATING,  /* the result of such a job is repeated in the next turn */
  TM_JOB_IS_RUNNING,
  TM_JOB_IS_CANCELING, /* what runs ends; nothing else begins */
  TM_JOB_IS_ENDING,    /* no step runs any more; its keepers end */
  TM_JOB_IS_ENDED,     /* its owner knows */
  TM_JOB_IS_REFUSED,   /* likewise; this session did nothing, and has no result */
  TM_JOB_IS_CLOSED,    /* its handle is being closed */
  TM_JOB_IS_FREED,
  TM_JOB_STATES
};

enum tm_job_life_event {
  TM_JOB_ON_KEPT,       /* the directory holds the result of a Completed job */
  TM_JOB_ON_START,      /* the owner starts it */
  TM_JOB_ON_RECHECKING, /* a thread has begun to compare the inputs of a Completed job */
  TM_JOB_ON_SAME,       /* the inputs are as they were, or need not be compared */
  TM_JOB_ON_CHANGED,    /* they are not, or cannot be compared */
  TM_JOB_ON_STARTED,    /* listeners know of it: steps may begin */
  TM_JOB_ON_CANCEL,     /* the owner, or another process, ends it early: what runs may end */
  TM_JOB_ON_CANCEL_NOW, /* likewise, but it is killed */
  TM_JOB_ON_DONE,       /* every step is over, or it is time to repeat the result */
  TM_JOB_ON_GONE,       /* no process of the job is left */
  TM_JOB_ON_CLOSE,      /* the owner closes it, or it could not be opened */
  TM_JOB_ON_RELEASED,   /* the handle is closed */
  TM_JOB_EVENTS
};

enum tm_job_life_action {
  TM_JOB_DO_NOTHING,
  TM_JOB_DO_START,        /* inform listeners, then report STARTED */
  TM_JOB_DO_RECHECK,      /* compare the inputs if the user wants that: RECHECKING, or SAME */
  TM_JOB_DO_REPEAT,       /* inform listeners, and report DONE in the next turn */
  TM_JOB_DO_RUN,          /* begin the steps */
  TM_JOB_DO_RUN_CANCELED, /* begin those that are open, and kill them: they end as Canceled */
  TM_JOB_DO_NOTE_CANCEL,  /* remember when */
  TM_JOB_DO_CANCEL,       /* likewise, and cancel the steps */
  TM_JOB_DO_CANCEL_NOW,   /* likewise, and kill what they run */
  TM_JOB_DO_END,          /* close the nodes, and report GONE when no process is left */
  TM_JOB_DO_CONCLUDE,     /* write the result, inform the owner */
  TM_JOB_DO_REPEAT_END,   /* inform the owner */
  TM_JOB_DO_REFUSE,       /* likewise: Failed */
  TM_JOB_DO_STOP_RECHECK, /* stop the comparison and inform the owner: Canceled */
  TM_JOB_DO_CLOSE,        /* close everything, and report RELEASED after the handle */
  TM_JOB_DO_CLOSE_EARLY,  /* likewise, and remove what processes of the job leave */
  TM_JOB_DO_FREE,
  TM_JOB_ACTIONS
};

/* What a state permits. */
enum tm_job_life_may {
  TM_JOB_MAY_BEGIN = 1, /* steps that wait begin */
  TM_JOB_MAY_RUN = 2,   /* steps run */
  TM_JOB_MAY_RESULT = 4 /* there is a result to tell */
};

struct tm_job_life {
  enum tm_job_life_state state; /* zero: OPENED */
};

/* The action to carry out. Aborts if the event cannot come in this state. */
enum tm_job_life_action tm_job_life_event(struct tm_job_life *l, enum tm_job_life_event event);
bool tm_job_life_may(const struct tm_job_life *l, enum tm_job_life_may what);
/* Whether the event can come in the state. */
bool tm_job_life_is_possible(enum tm_job_life_state state, enum tm_job_life_event event);

#endif
