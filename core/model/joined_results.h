/* joined_results.h - what a call of a model has returned, in pieces, and the pieces joined. */
#ifndef TM_MODEL_JOINED_RESULTS_H
#define TM_MODEL_JOINED_RESULTS_H

#include "model/ort_values.h"

/* The outputs of all pieces. Zeroed: none. */
struct tm_results {
  const struct tm_runtime *runtime;
  size_t outputs; /* that were asked for */
  size_t pieces;
  struct tm_value *at; /* of output i and piece k: at[k * outputs + i] */
  int64_t size, fill;  /* rows of a piece, 0: nothing was cut; rows of the last piece to drop */
};

void tm_results_release(struct tm_results *results);

/* Type and shape of output `i` of all pieces together, and the bytes of its strings. The first
 * piece's value is a tensor. */
int tm_results_shape(const struct tm_results *results, size_t i, struct tm_tensor *shape,
                     int64_t *string_bytes, struct tm_err *err);
/* Copies its elements. `room`: for the bytes of strings. */
void tm_results_copy(const struct tm_results *results, size_t i, void *to, char *room);

#endif
