/* model_words.h - the arguments of a step with a model, checked before anything runs. */
#ifndef TM_API_MODEL_WORDS_H
#define TM_API_MODEL_WORDS_H

#include "plan/pipeline.h"

/* TM_EUSAGE: an option of the model's script is misspelt, or its value is not accepted. */
int tm_model_words_check(const struct tm_step *s, struct tm_err *err);

#endif
