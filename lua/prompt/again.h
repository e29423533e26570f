/* again.h - prepares a mini-batch of a job to run again in this process, for `tidemill replay` and
 * the prompt. Does not change the job.
 *
 *   struct tm_again a = { .index = 7, .dir = dir, .say = say, .modules = modules };
 *   tm_again_find(&a, NULL, &err)                    finds the mini-batch and its step; checks
 *   items
 *   tm_again_prepare(&a, root, true, &setup, &err)   copies its script below root, fills `setup`
 *   tm_again_call(&a, &call, &range, &err)           fills what run() gets
 *   tm_again_release(&a)                             in every case; frees all of the above
 */
#ifndef TM_PROMPT_AGAIN_H
#define TM_PROMPT_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/script.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "entry/table_look.h"
#include "inspect/survey.h"
#include "plan/pipeline.h"
#include "snapshot/snapshot.h"

struct lua_State;
struct tm_lua_module;

/* The files of an input, at their paths in the job; they exist until release. */
struct tm_again_link {
  const char *folder, *path;
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
  const struct tm_json *step, *definition, *settings; /* of the record */
  const char *step_name;
  struct tm_manifest_found found;
  /* Set by _prepare(). */
  struct tm_snapshot copy; /* of the job's copy */
  struct TM_ARRAY(char *) arguments, runner_arguments, datasets, outputs, owned;
  struct TM_ARRAY(char *) folders; /* replace outputs among the arguments; among `owned` */
  struct TM_ARRAY(struct tm_again_link) links;
  struct tm_pipeline *pipeline;      /* NULL: not needed, or not available */
  struct TM_ARRAY(char *) variables; /* NAME=VALUE, of the job's environment; freed by release */
  /* a data frame's rows come after a line with its column names */
  bool has_header;
  int64_t grace_ns; /* interrupt_grace */
  struct tm_table_look look;
};

/* `step` NULL: the only one. TM_EUSAGE: there is no such step or mini-batch; TM_EINUSE: the job is
 * running; TM_ECHANGED: its items are gone; TM_EDAMAGE. */
int tm_again_find(struct tm_again *a, const char *step, struct tm_err *err);
/* Fills `setup` except for the folders. Outputs among the arguments become folders below `root`,
 * which are kept unless they are empty. Without timeouts, those of the job are 0. If the pipeline
 * file runs, its output goes where `prepare` says. */
int tm_again_prepare(struct tm_again *a, const char *root, bool has_timeouts,
                     struct tm_setup *setup, struct tm_err *err);
/* `range` is memory for the position of rows. */
int tm_again_call(struct tm_again *a, struct tm_run_call *call, struct tm_item *range,
                  struct tm_err *err);
/* Sets the variables of the job's environment in this process. */
void tm_again_set_variables(const struct tm_again *a);
/* The current directory that a worker of the job has. */
const char *tm_again_working_dir(const struct tm_again *a);
void tm_again_release(struct tm_again *a);

#endif
