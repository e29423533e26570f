/* control_rules.c - see control_rules.h. */
#include "portal/control_rules.h"

#include <string.h>

static const char *const names[] = {
  "", "cancel", "cancel-now", "resume", "only-failed", "replay"
};

enum tm_control_action tm_control_action_of(const char *name)
{
  for (int i = TM_CONTROL_CANCEL; i <= TM_CONTROL_REPLAY; i++)
    if (strcmp(name, names[i]) == 0)
      return (enum tm_control_action)i;
  return TM_CONTROL_NONE;
}

const char *tm_control_name(enum tm_control_action action)
{
  return names[action];
}

static bool can_go_on(enum tidemill_state state)
{
  return state == TIDEMILL_STATE_FAILED || state == TIDEMILL_STATE_CANCELED ||
         state == TIDEMILL_STATE_INTERRUPTED;
}

/* What failed is known when a job has ended with a result. */
static int check_only_failed(enum tidemill_state state, const char **words)
{
  switch (state) {
  case TIDEMILL_STATE_COMPLETED:
  case TIDEMILL_STATE_FAILED:
  case TIDEMILL_STATE_CANCELED: return 0;
  case TIDEMILL_STATE_INTERRUPTED:
    *words = "The job was interrupted: what failed in it is known when it has ended. Resume it "
             "first.";
    return 409;
  case TIDEMILL_STATE_RUNNING:
  case TIDEMILL_STATE_SKIPPED:
  case TIDEMILL_STATE_WAITING: break;
  }
  *words = "The job is running: what failed in it is known when it has ended.";
  return 409;
}

int tm_control_check(enum tm_control_action action, enum tidemill_state state, const char **words)
{
  bool is_running = state == TIDEMILL_STATE_RUNNING;
  *words = "";
  switch (action) {
  case TM_CONTROL_CANCEL:
  case TM_CONTROL_CANCEL_NOW:
    *words = is_running ? "" : "The job is not running: there is nothing to cancel.";
    return is_running ? 0 : 409;
  case TM_CONTROL_RESUME:
    if (can_go_on(state))
      return 0;
    *words = is_running ? "The job is running already." : "The job has nothing left to do.";
    return 409;
  case TM_CONTROL_ONLY_FAILED: return check_only_failed(state, words);
  case TM_CONTROL_REPLAY: return 0; /* the job does not change */
  case TM_CONTROL_NONE: break;
  }
  *words = "The actions of the portal are cancel, cancel-now, resume, only-failed and replay.";
  return 404;
}

int tm_control_check_mini_batch(int64_t created, int64_t number, const char **words)
{
  *words = "";
  if (created < 0)
    *words = "The job has no step of this name.";
  else if (number < 0)
    *words = "A mini-batch has a number, from 0.";
  else if (number >= created)
    *words = "The step has no mini-batch of this number.";
  return **words ? 404 : 0;
}

enum tm_control_action tm_control_offer(enum tidemill_state state, bool was_asked)
{
  if (state == TIDEMILL_STATE_RUNNING)
    return was_asked ? TM_CONTROL_CANCEL_NOW : TM_CONTROL_CANCEL;
  return can_go_on(state) ? TM_CONTROL_RESUME : TM_CONTROL_NONE;
}

bool tm_control_resumes(enum tidemill_resume_way way, const char **words)
{
  *words = "";
  switch (way) {
  case TIDEMILL_RESUME_BY_JOB: return true;
  case TIDEMILL_RESUME_BY_ACCEPTING:
    *words = "Inputs of the job have changed. To continue with them, type `tidemill resume JOB "
             "--accept-changes`.";
    return false;
  case TIDEMILL_RESUME_BY_COMMAND:
    *words = "The record does not hold the pipeline. Type the command that began the job again, "
             "with --resume.";
    return false;
  case TIDEMILL_RESUME_BY_LIST:
    *words = "The inputs came from standard input. Type the command that began the job again, with "
             "--resume and the same list.";
    return false;
  case TIDEMILL_RESUME_NEVER: break;
  }
  *words = "The job cannot be resumed.";
  return false;
}
