/* failure_words.h - what a message of ONNX Runtime says about memory and GPUs; pure.
 *
 * The library's codes do not tell these failures apart, so its words decide.
 */
#ifndef TM_MODEL_FAILURE_WORDS_H
#define TM_MODEL_FAILURE_WORDS_H

#include <stdbool.h>

#include "base/err.h"

/* There is not enough memory, of the machine or of a GPU. */
bool tm_failure_is_memory(const char *message);

/* A failure of CUDA, or of a library over it, other than a lack of memory. In CUDA such a failure
 * stays: each later call of the process fails, too. */
bool tm_failure_is_of_gpu(const char *message);

/* Puts the message of a lack of memory in better words, with the sizes that it has. */
void tm_failure_explain_memory(struct tm_err *err, bool is_on_gpu, bool is_loading);

/* Whether a line of the library's log says nothing that our message does not say. */
bool tm_failure_repeats(const char *line, const char *message);

#endif
