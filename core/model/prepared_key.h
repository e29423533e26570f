/* prepared_key.h - the name of a prepared copy of a model (prepared.h): what decides its bytes.
 *
 * It covers the contents of the model and of its files of data, the version of the library, the
 * optimisation and the entries of the session's config, and the flags of the CPU. Threads, the
 * arena and spinning change nothing in the copy.
 */
#ifndef TM_MODEL_PREPARED_KEY_H
#define TM_MODEL_PREPARED_KEY_H

#include <stdatomic.h>

#include "model/loaded_model.h"
#include "model/onnx_file.h"

enum { TM_PREPARED_KEY_SIZE = 17 }; /* 16 digits and NUL */

/* `f` says what the file at `path` is, and its files of data were checked (onnx_data.h). Negative:
 * an error of the system; -ECANCELED: *is_stopped. */
int tm_prepared_key(char out[TM_PREPARED_KEY_SIZE], const struct tm_fs *fs, const char *path,
                    const struct tm_onnx_file *f, const char *version,
                    const struct tm_model_options *options, const atomic_bool *is_stopped,
                    struct tm_err *err);

#endif
