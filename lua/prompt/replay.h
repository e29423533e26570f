/* replay.h - prepares a mini-batch of a job to run again in this process, for `tidemill replay` and
 * the prompt. Does not change the job.
 *
 *   struct tm_replay a = { .index = 7, .dir = dir, .say = say, .modules = modules };
 *   tm_replay_open(&a, NULL, "replay", &folders, &trial.setup, &err)
 *   tm_replay_call(&a, &call, &trial, &err)           fills what run() gets; loads rows of a table
 *   tm_replay_release(&a)                             in every case; frees all of the above
 */
#ifndef TM_PROMPT_REPLAY_H
#define TM_PROMPT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/trial.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "entry/script_folders.h"
#include "inspect/inspection.h"
#include "plan/pipeline.h"
#include "snapshot/snapshot.h"

struct lua_State;
struct tm_lua_module;

/* The files of an input, at their paths in the job; they exist until release. */
struct tm_replay_link {
  char *folder; /* to free() */
  const char *path;
};

struct tm_replay {
  int64_t index; /* of the mini-batch */
  char *dir;     /* of the job, absolute; release frees it */
  /* The caller knows that the job has ended, and may still have it open: nobody checks whether it
   * runs.
   */
  bool is_over;
  void (*say)(void *data, const char *words); /* reports what has changed since the job */
  void *data;
  /* For the Lua state of the pipeline file that sets the variables; as in struct tm_lua_piece. */
  const struct tm_lua_module *modules;
  void (*prepare)(void *host, struct lua_State *L);
  void *host;
  /* Set by _open(). */
  struct tm_json *record;
  const struct tm_json *definition; /* of the step, in the record */
  /* The step as the job had it: its name, its script and what calls of it depend on. Inputs and
   * outputs have only names; `paths` are arguments that are new folders in place of outputs. */
  struct tm_step *step;
  struct tm_manifest_found found;
  struct tm_pipeline *pipeline; /* as it is now; NULL: not needed, or it cannot be loaded */
  struct tm_snapshot copy;      /* of the job's copy */
  struct TM_ARRAY(struct tm_replay_link) links;
  char **variables;              /* NAME=VALUE, of the job's environment, NULL-ended; or NULL */
  char *schema_file, *index_dir; /* of tables */
};

/* Finds the mini-batch and its step, checks its items, makes folders of this kind (scratch.h),
 * copies the script below them, and fills the setup. `step` NULL: the only one. Outputs among the
 * arguments become folders, which are kept unless they are empty. If the pipeline file runs, its
 * output goes where `prepare` says. TM_EUSAGE: there is no such step or mini-batch; TM_EINUSE: the
 * job is running; TM_ECHANGED: its items are gone; TM_EDAMAGE. */
int tm_replay_open(struct tm_replay *a, const char *step, const char *kind,
                   struct tm_script_folders *folders, struct tm_setup *setup, struct tm_err *err);
/* The rows belong to the loader of the trial. */
int tm_replay_call(const struct tm_replay *a, struct tm_run_call *call, struct tm_trial *trial,
                   struct tm_err *err);
/* Sets the variables of the job's environment in this process. */
void tm_replay_set_variables(const struct tm_replay *a);
/* The current directory that a worker of the job has. */
const char *tm_replay_working_dir(const struct tm_replay *a);
void tm_replay_release(struct tm_replay *a);

#endif
