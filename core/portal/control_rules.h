/* control_rules.h - what the portal may do with a job, and when. Pure. */
#ifndef TM_PORTAL_CONTROL_RULES_H
#define TM_PORTAL_CONTROL_RULES_H

#include <tidemill.h>

enum tm_control_action {
  TM_CONTROL_NONE,
  TM_CONTROL_CANCEL, /* soon: running mini-batches may end */
  TM_CONTROL_CANCEL_NOW,
  TM_CONTROL_RESUME,
  TM_CONTROL_ONLY_FAILED, /* a new job over the items that failed */
  TM_CONTROL_REPLAY,      /* a mini-batch */
};

/* By its name in a path: "cancel", "cancel-now", "resume", "only-failed", "replay". */
enum tm_control_action tm_control_action_of(const char *name);
const char *tm_control_name(enum tm_control_action action);
/* 0: it is possible. Otherwise the status 404 or 409, and *words says why. */
int tm_control_check(enum tm_control_action action, enum tidemill_state state, const char **words);
/* Whether mini-batch `number` of a step can be replayed: as tm_control_check(). `created`: how
 * many mini-batches the step has; -1: the job has no such step. */
int tm_control_check_mini_batch(int64_t created, int64_t number, const char **words);
/* What the page offers; besides, TM_CONTROL_ONLY_FAILED where it is possible and the library knows
 * the command. `was_asked`: somebody has asked to cancel the session that runs. */
enum tm_control_action tm_control_offer(enum tidemill_state state, bool was_asked);
/* Whether the portal may resume a job in this way; otherwise *words says what the user can do. */
bool tm_control_resumes(enum tidemill_resume_way way, const char **words);

#endif
