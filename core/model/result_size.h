/* result_size.h - results that are larger than a tensor may be; pure. */
#ifndef TM_MODEL_RESULT_SIZE_H
#define TM_MODEL_RESULT_SIZE_H

#include "model/signature.h"

/* Whether a result of this type and shape can be a tensor; `more`: bytes of its strings. TM_ELIMIT:
 * the message has the output's name, the shape and the size. */
int tm_result_check(const struct tm_model_value *output, const struct tm_tensor *result,
                    int64_t more, struct tm_err *err);

/* The same before the call, if the model says the shape: each axis is fixed, or has the name of an
 * input's axis. `rows`: those of the first axis, where the model's own is only that of a piece;
 * -1: it is not. */
int tm_result_check_ahead(const struct tm_model_value *output, const struct tm_signature *s,
                          const struct tm_tensor *const *inputs, int64_t rows, struct tm_err *err);

#endif
