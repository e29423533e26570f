/* prepared.h - one copy of a model's weights for all workers of a machine.
 *
 * Kernels repack weights while a model is loaded, so that each process has a copy of its own. The
 * library can write what it has repacked; whoever loads that copy maps it, and shares the pages.
 * The copies of a workspace are folders, named by what decides their bytes (prepared_key.h):
 *
 *   <folder>/<key>/model.onnx     optimised
 *   <folder>/<key>/weights.bin    repacked
 *   <folder>/<key>/made.json      {"version":1,"model_bytes":N,"model_hash":HEX,"weights_bytes":N},
 *                                 or {"version":1,"refused":"WHY"}, without the other two; with
 *                                 "unchecked":true the copy could not be compared
 *   <folder>/<key>.lock           held by the process that makes the copy (prepared_lock.h)
 *   <folder>/<key>.part/          what it makes, until that is renamed
 *
 *  (1) A copy is offered only after it has returned what the plain model returns, for one input.
 *  (2) A copy whose model.onnx has another size or hash, or whose weights have another size, is
 *      removed and made again. So is one that was left unfinished. The bytes of the weights are not
 *      compared.
 *  (3) A model is never refused because it cannot be prepared: the plain one is used. So it is for
 *      the rest of a session in which TM_PREPARED_DEATHS_MAX makers have died, perhaps for lack of
 *      memory, or in which one with a limited time has not finished. A maker that dies together
 *      with its session says nothing about the copy.
 *  (4) A process that waits for another one does so for a limited time.
 *  (5) A copy, and a reason not to have one, belong to the model that the key names: if its files
 *      were replaced meanwhile, neither is kept.
 *  (6) A folder that others may write, or that another user has made, is not used
 *      (prepared_mark.h).
 */
#ifndef TM_MODEL_PREPARED_H
#define TM_MODEL_PREPARED_H

#include "model/model_session.h"

enum { TM_PREPARED_SINCE = 21, TM_PREPARED_DEATHS_MAX = 2 };

enum tm_prepared_state {
  TM_PREPARED_NONE,      /* nothing to say: too few weights, or no model; loading it says why */
  TM_PREPARED_READY,     /* load `path` */
  TM_PREPARED_MADE,      /* the same; this call has made it */
  TM_PREPARED_BUSY,      /* another process still makes it */
  TM_PREPARED_PLAIN,     /* use the plain model: `why` */
  TM_PREPARED_REFUSED,   /* the same: the copy returns other values, or cannot be loaded */
  TM_PREPARED_UNCHECKED, /* the same: there is no input to compare it with the model */
};

struct tm_prepared {
  enum tm_prepared_state state;
  char *path; /* owned */
  char *why;  /* owned */
};

/* Zero it before. */
struct tm_preparing {
  const struct tm_fs *fs; /* `<folder>` and what is read and removed there */
  const char *folder;     /* made if it is missing, with mode 0700 */
  int64_t weights_min;    /* bytes */
  int64_t wait_ns;        /* for another process; 0: not at all */
  const char *session;    /* of the job that this process works for */
  bool is_limited;        /* it has a limited time for this, in which it may be ended */
  struct tm_model_loading loading;
  _Atomic(struct tm_model_session *) running;
};
/* Async-signal-safe; `preparing` is a struct tm_preparing. */
void tm_preparing_stop(void *preparing);

/* Finds the copy of the model at `path`, or makes it. Negative, only with -ECANCELED: it was
 * stopped. Release `out` in every case. */
int tm_prepared_find(struct tm_prepared *out, struct tm_runtime *r, const char *path,
                     const struct tm_model_options *options, struct tm_preparing *p,
                     struct tm_err *err);
void tm_prepared_release(struct tm_prepared *out);

#endif
