/* again.h - a mini-batch of a job, made ready to be run once more in this process: what `tidemill replay` and a prompt share.
 * The job is not changed.
 *
 *   struct tm_again a = { .index = 7, .dir = dir, .say = say };
 *   tm_again_find(&a, NULL, &err)                      which mini-batch, of which step: its items are there still
 *   tm_again_prepare(&a, root, true, &setup, &err)     its script is copied below root, `setup` filled, variables found
 *   tm_again_call(&a, &call, &range, &err)             what run() is given
 *   tm_again_release(&a)                               in every case; what is pointed to goes
 */
#ifndef TM_LUA_AGAIN_H
#define TM_LUA_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/script.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "lua/table_look.h"
#include "plan/pipeline.h"
#include "plan/snapshot.h"
#include "run/survey.h"

struct lua_State;

/* At a path that an input had in the job: made for as long as this takes. */
struct tm_again_link {
  const char *folder, *path;
};

struct tm_again {
  int64_t index; /* of the mini-batch */
  char *dir;     /* of the job, absolute; freed by release */
  bool
      is_over; /* the caller knows that it has ended, and may have it open still: nobody is asked whether it runs */
  void (*say)(void *data, const char *words); /* what is not as it was then */
  void *data;
  /* Where the pipeline file runs that says which variables there are; as of struct tm_lua_piece. */
  void (*prepare)(void *host, struct lua_State *L);
  void *host;
  /* Filled by _find(). */
  struct tm_json *record;
  const struct tm_json *step, *definition, *settings; /* of the record */
  const char *step_name;
  struct tm_manifest_found found;
  /* Filled by _prepare(). */
  struct tm_snapshot copy; /* of the job's copy */
  struct TM_ARRAY(char *) arguments, runner_arguments, datasets, outputs, owned;
  struct TM_ARRAY(char *) folders; /* in the place of outputs among the arguments; among `owned` */
  struct TM_ARRAY(struct tm_again_link) links;
  struct tm_pipeline *pipeline;      /* NULL: not needed, or not to be had */
  struct TM_ARRAY(char *) variables; /* NAME=VALUE, of the job's environment; freed by release */
  bool has_header;                   /* the columns of a data frame are named above its rows */
  int64_t grace_ns;                  /* interrupt_grace */
  struct tm_table_look look;
};

/* `step` NULL: the only one. TM_EUSAGE: there is none, or no such mini-batch; TM_EINUSE: the job runs; TM_ECHANGED: its items are
 * gone; TM_EDAMAGE. */
int tm_again_find(struct tm_again *a, const char *step, struct tm_err *err);
/* Fills of `setup` what is not the folders'; outputs among the arguments become folders below `root`, which stay unless they are
 * empty. Without timeouts those of the job are 0. What the pipeline file prints, where it is run, goes where `prepare` says. */
int tm_again_prepare(struct tm_again *a, const char *root, bool has_timeouts,
                     struct tm_setup *setup, struct tm_err *err);
/* `range` is memory for where rows are. */
int tm_again_call(struct tm_again *a, struct tm_run_call *call, struct tm_item *range,
                  struct tm_err *err);
/* The variables of the job's environment, in this process. */
void tm_again_set_variables(const struct tm_again *a);
/* The current directory of a worker of the job. */
const char *tm_again_working_dir(const struct tm_again *a);
void tm_again_release(struct tm_again *a);

#endif
