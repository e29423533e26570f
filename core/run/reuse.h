/* reuse.h - an earlier step that has done the same work, and its result in the place of doing it again.
 *
 * The same is: the definition (plan/reuse_key.h), every input file by path, size and time, or by contents, and what else the step
 * is given to read: side inputs, datasets and outputs among the arguments, what inputs with a place of their own are made of, and what is
 * beside a database. The earlier result is taken when its outputs are still there and as they were; then the folder of the step is that of the
 * earlier one under a second name (link_tree.h), but for its logs: whatever becomes of the earlier job, this one has its result.
 * Only steps that were Completed are on record (store/results.h).
 *
 * Steps: init; _hope() is quick, and says whether it is worth looking; _look() lists the inputs; then _take(), or the step is run and
 * _keep() records it. All but init may be done on a thread of the caller's. What went wrong on the way to a reuse is no error: the
 * step is run, and the words say why.
 */
#ifndef TM_RUN_REUSE_H
#define TM_RUN_REUSE_H

#include "plan/pipeline.h"
#include "plan/reuse_key.h"
#include "run/events.h"
#include "store/results.h"

struct tm_reuse {
  const struct tm_fs *fs;
  const char *workspace; /* absolute, and there */
  const char *pipeline;  /* its name */
  const struct tm_step *step;
  const char
      *job_dir; /* of the job that asks: nothing is reused from it; NULL: there is none yet */
  struct tm_json *definition;
  char key[TM_REUSE_KEY_LEN + 1];
  const atomic_bool *stop; /* or NULL */
  /* The job whose directory has what step `name` writes. */
  const char *(*dir_of)(void *data, const char *name);
  void *data;

  /* What was found. */
  struct tm_result_rows rows; /* of the same definition */
  size_t chosen;
  struct tm_identity inputs, side; /* as they are now */
  bool has_side;                   /* `side` has been looked at */
  bool is_new; /* nothing is known of this step: that it is run needs no words */
  char *words; /* why it is reused, or not; NULL before it is known */
};

/* Why a step can never be reused, nor its result be kept; NULL: it can. Static memory. */
const char *tm_reuse_obstacle(const struct tm_pipeline *p, const struct tm_step *step);

/* `fs`, `workspace`, `pipeline`, `step`, `job_dir` and dir_of are set; the rest is filled in. */
void tm_reuse_init(struct tm_reuse *r, const char *snapshot_hash);
void tm_reuse_release(struct tm_reuse *r);

/* 1: there is an earlier result of the same definition; 0: there is none, and `words` say what is another. `db` may be NULL: the
 * workspace has no database. */
int tm_reuse_hope(struct tm_reuse *r, struct tm_db *db, struct tm_err *err);
/* 1: rows.at[chosen] can be taken; 0: it cannot. -ECANCELED. */
int tm_reuse_look(struct tm_reuse *r, struct tm_err *err);
/* Puts it at `view->dir`, which is not there, and fills in the view's counts. */
int tm_reuse_take(struct tm_reuse *r, struct tm_step_view *view, struct tm_err *err);
/* Of what the step reads beside its inputs, before it begins. */
int tm_reuse_look_aside(struct tm_reuse *r, struct tm_err *err);
/* The step is Completed. */
int tm_reuse_keep(struct tm_reuse *r, const struct tm_step_view *view, struct tm_err *err);

#endif
