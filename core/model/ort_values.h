/* ort_values.h - what a model has returned: tensors, and sequences and maps of them.
 *
 * The memory is the library's, and ours for strings. It is valid until the value is released.
 */
#ifndef TM_MODEL_ORT_VALUES_H
#define TM_MODEL_ORT_VALUES_H

#include "model/ort_runtime.h"
#include "model/signature.h"

/* Zeroed: nothing. */
struct tm_value {
  enum tm_value_kind kind;
  struct tm_tensor tensor;
  struct tm_value *items; /* of a sequence; of a map: its keys and its values, each a tensor */
  size_t len;
  struct tm_ort_value *ort;         /* owned */
  struct tm_tensor_string *strings; /* owned, with `bytes` */
  char *bytes;
};

/* Takes `ort`, also if it fails. */
int tm_value_read(struct tm_value *v, const struct tm_runtime *r, struct tm_ort_value *ort,
                  struct tm_err *err);
void tm_value_release(struct tm_value *v, const struct tm_runtime *r);

/* Makes the library's value of a tensor: over its memory, or a copy of strings. */
int tm_value_make(struct tm_ort_value **out, const struct tm_runtime *r, const struct tm_tensor *t,
                  struct tm_err *err);

#endif
