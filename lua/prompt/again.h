/* again.h - prepares a mini-batch of a job to run again in this process, for `tidemill replay` and
 * the prompt. Does not change the job.
 *
 *   struct tm_again a = { .index = 7, .dir = dir, .say = say, .modules = modules };
 *   tm_again_find(&a, NULL, &err)                    finds the mini-batch and its step; checks
 *   items
 *   tm_again_load_pipeline(&a)                       runs its pipeline file, if that is needed
 *   tm_again_prepare(&a, root, &err)                 copies its script below root
 *   tm_again_fill_setup(&a, &trial.setup)            what the caller of the script must know
 *   tm_again_call(&a, &call, &trial, &err)           fills what run() gets; loads rows of a table
 *   tm_again_release(&a)                             in every case; frees all of the above
 */
#ifndef TM_PROMPT_AGAIN_H
#define TM_PROMPT_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/trial.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "inspect/survey.h"
#include "plan/pipeline.h"
#include "snapshot/snapshot.h"

struct lua_State;
struct tm_lua_module;

/* The files of an input, at their paths in the job; they exist until release. */
struct tm_again_link {
  char *folder; /* to free() */
  const char *path;
};

struct tm_again {
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
  /* Set by _find(). */
  struct tm_json *record;
  const struct tm_json *definition; /* of the step, in the record */
  /* The step as the job had it: its name, its script and what calls of it depend on. Inputs and
   * outputs have only names. */
  struct tm_step *step;
  struct tm_manifest_found found;
  /* Set by _load_pipeline(): the pipeline file as it is now; NULL: it is not needed, or cannot be
   * loaded. */
  struct tm_pipeline *pipeline;
  /* Set by _prepare(): also the arguments of `step`, and in its `paths` those that are new folders
   * in place of outputs. */
  struct tm_snapshot copy; /* of the job's copy */
  struct TM_ARRAY(struct tm_again_link) links;
  char **variables;              /* NAME=VALUE, of the job's environment, NULL-ended; or NULL */
  char *schema_file, *index_dir; /* of tables */
};

/* `step` NULL: the only one. TM_EUSAGE: there is no such step or mini-batch; TM_EINUSE: the job is
 * running; TM_ECHANGED: its items are gone; TM_EDAMAGE. */
int tm_again_find(struct tm_again *a, const char *step, struct tm_err *err);
/* Loads the pipeline file if the step has variables: they are not kept with the job. The file may
 * end the process, so this comes before folders are made. Its output goes where `prepare` says. */
void tm_again_load_pipeline(struct tm_again *a);
/* Outputs among the arguments become folders below `root`, which are kept unless they are empty. */
int tm_again_prepare(struct tm_again *a, const char *root, struct tm_err *err);
/* tm_setup_of_step() with the copy of the script and the tables; the caller adds the folders. */
void tm_again_fill_setup(struct tm_again *a, struct tm_setup *setup);
/* The rows belong to the loader of the trial. */
int tm_again_call(const struct tm_again *a, struct tm_run_call *call, struct tm_trial *trial,
                  struct tm_err *err);
/* Sets the variables of the job's environment in this process. */
void tm_again_set_variables(const struct tm_again *a);
/* The current directory that a worker of the job has. */
const char *tm_again_working_dir(const struct tm_again *a);
void tm_again_release(struct tm_again *a);

#endif
