/* model_sample.h - one input for a model, made from its signature, and whether two models return
 * the same for it. Pure. */
#ifndef TM_MODEL_MODEL_SAMPLE_H
#define TM_MODEL_MODEL_SAMPLE_H

#include "model/ort_values.h"

/* Zeroed: none. */
struct tm_model_sample {
  struct tm_tensor *at; /* one for each input; their data are owned */
  const struct tm_tensor **list;
  size_t len;
};

struct tm_sample_numbers {
  int64_t free; /* the size of free axes behind the first, which has one element if it is free */
  int whole;    /* of integers and booleans: 0 or 1 */
};
/* Whether an axis behind the first is free. */
bool tm_model_sample_is_free(const struct tm_model_values *inputs);

/* Floats rise from 0 to 1, again and again; texts are empty. TM_EINPUT: an input is not a tensor of
 * a type that tensors have, or takes more than 256 MB. Release `s` in every case. */
int tm_model_sample_make(struct tm_model_sample *s, const struct tm_model_values *inputs,
                         const struct tm_sample_numbers *numbers, struct tm_err *err);
void tm_model_sample_release(struct tm_model_sample *s);

/* The largest difference of two numbers is allowed to be 1e-5, or 1e-5 of the number if that is
 * above 1. NaN equals NaN; everything but floats must be equal. TM_EINPUT, with the first
 * difference. `name`: of the output. */
#define TM_SAMPLE_DIFFERENCE 1e-5
int tm_model_sample_compare(const char *name, const struct tm_value *expected,
                            const struct tm_value *given, struct tm_err *err);

#endif
