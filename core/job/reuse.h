/* reuse.h - finds an earlier step that did the same work, and takes its result instead of running
 * the step again.
 *
 * The work is the same if all of these are the same:
 *
 *   - the definition (snapshot/reuse_key.h)
 *   - every input file, by path, size and time, or by contents
 *   - what else the step reads: side inputs, datasets and outputs among the arguments, the files
 *     behind inputs that have a folder of their own, and the files beside a database
 *
 * The earlier result is taken if its outputs still exist unchanged, and its workers would find the
 * same libraries (sys/plugin_record.h). The folder of the step is then
 * the earlier one under a second name (link_tree.h), without its logs: whatever happens to the
 * earlier job, this one has its result. Only steps that were Completed are recorded
 * (store/results.h).
 *
 * Order: init. _hope() is quick and says whether it is worth looking. _look() lists the inputs.
 * Then either _take(), or the step runs and _keep() records it. Everything but init may run on a
 * thread of the caller's. A failure on the way to a reuse is not an error: the step runs, and
 * `words` says why.
 */
#ifndef TM_JOB_REUSE_H
#define TM_JOB_REUSE_H

#include "plan/pipeline.h"
#include "record/events.h"
#include "snapshot/reuse_key.h"
#include "store/results.h"

struct tm_reuse {
  const struct tm_fs *fs;
  const char *workspace; /* absolute, and exists */
  const char *pipeline;  /* its name */
  const struct tm_step *step;
  const char *job_dir; /* of the asking job: nothing is reused from it; NULL: there is no job yet */
  struct tm_json *definition;
  char key[TM_REUSE_KEY_LEN + 1];
  const atomic_bool *stop; /* or NULL */
  /* The directory of the job that holds what step `name` writes. */
  const char *(*dir_of)(void *data, const char *name);
  void *data;

  /* Results. */
  struct tm_result_rows rows; /* of the same definition */
  size_t chosen;
  struct tm_identity inputs, side; /* as they are now */
  bool has_side;                   /* `side` has been listed */
  bool is_new;                     /* nothing is known of this step: running it needs no message */
  char *words;                     /* why it is reused, or not; NULL before that is known */
};

/* Why a step can never be reused and its result never be kept; NULL: it can. Static memory. */
const char *tm_reuse_obstacle(const struct tm_pipeline *p, const struct tm_step *step);

/* The caller sets `fs`, `workspace`, `pipeline`, `step`, `job_dir` and dir_of; init fills in the
 * rest. */
void tm_reuse_init(struct tm_reuse *r, const char *snapshot_hash);
void tm_reuse_release(struct tm_reuse *r);

/* 1: there is an earlier result of the same definition. 0: there is none, and `words` says what
 * differs. `db` may be NULL: the workspace has no database. */
int tm_reuse_hope(struct tm_reuse *r, struct tm_db *db, struct tm_err *err);
/* 1: rows.at[chosen] can be taken; 0: it cannot. -ECANCELED. */
int tm_reuse_look(struct tm_reuse *r, struct tm_err *err);
/* Puts it at `view->dir`, which must not exist, and fills in the view's counts. */
int tm_reuse_take(struct tm_reuse *r, struct tm_step_view *view, struct tm_err *err);
/* Lists what the step reads beside its inputs, before it begins. */
int tm_reuse_look_aside(struct tm_reuse *r, struct tm_err *err);
/* Records the result of a Completed step. */
int tm_reuse_keep(struct tm_reuse *r, const struct tm_step_view *view, struct tm_err *err);

#endif
