/* model_session.h - a loaded model that can be run.
 *
 *   tm_model_session_open(&s, runtime, path, &options, &err)
 *   tm_model_session_run(s, inputs, outputs, n, &results, &err)     as often as wanted
 *   ... tm_results_shape(), tm_results_copy() for each tensor; tm_results_release()
 *   tm_model_session_close(s)
 *
 * One thread at a time. tm_model_session_stop() may be called by a signal handler of that thread
 * meanwhile; the call then returns -ECANCELED, and the session can be run again.
 *
 *  (1) Names, types and sizes are checked here before the library sees them.
 *  (2) Inputs are not copied, except strings and the filled-up last piece of a batch.
 *  (3) A result that is larger than a tensor may be fails the call: before it runs, if the model
 *      says its shape.
 */
#ifndef TM_MODEL_MODEL_SESSION_H
#define TM_MODEL_MODEL_SESSION_H

#include "model/loaded_model.h"
#include "model/joined_results.h"

struct tm_model_session;

/* NULL and an error (tm_loaded_model_open). `options` and what it points to are the caller's, and
 * needed only for this call. `loading`: stops it, or NULL. */
struct tm_model_session *tm_model_session_open(struct tm_runtime *r, const char *path,
                                               const struct tm_model_options *options,
                                               struct tm_model_loading *loading,
                                               struct tm_err *err);
void tm_model_session_close(struct tm_model_session *s); /* NULL is a no-op */

/* Async-signal-safe; `session` is a struct tm_model_session. Also stops a call that begins
 * later. */
void tm_model_session_stop(void *session);
/* Forgets a stop that came too late for the call before it. Call it before each call that may be
 * stopped, while no handler can stop the session. */
void tm_model_session_forget_stop(struct tm_model_session *s);

const struct tm_loaded_model *tm_model_session_model(const struct tm_model_session *s);

/* `inputs`: one for each input of the model, in its order; NULL is refused as missing. `outputs`:
 * places in the signature. Release `results` in every case. TM_EUSAGE: the call does not fit the
 * model. TM_ELIMIT: not enough memory, or a result of 2 GB. -ECANCELED: stopped. */
int tm_model_session_run(struct tm_model_session *s, const struct tm_tensor *const *inputs,
                         const size_t *outputs, size_t outputs_len, struct tm_results *results,
                         struct tm_err *err);

#endif
