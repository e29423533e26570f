/* signature.h - what a model takes and returns, and whether a call fits it.
 *
 * Pure: it knows no library. Sizes are those of struct tm_tensor; an axis without a fixed size has
 * -1, and perhaps a name.
 */
#ifndef TM_MODEL_SIGNATURE_H
#define TM_MODEL_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/tensor/tensor.h"
#include "model/onnx_file.h"

enum tm_value_kind { TM_VALUE_TENSOR, TM_VALUE_SEQUENCE, TM_VALUE_MAP, TM_VALUE_OTHER };

struct tm_model_value {
  char *name;
  enum tm_value_kind kind;
  int32_t type; /* of a tensor: ONNX's number, perhaps not one of enum tm_tensor_type */
  int32_t rank; /* of a tensor; 0: one element, or not known */
  int64_t shape[TM_TENSOR_MAX_RANK];
  char *axes[TM_TENSOR_MAX_RANK]; /* names of free axes; NULL: none */
};

struct tm_model_values {
  struct tm_model_value *at;
  size_t len;
};

struct tm_signature {
  struct tm_model_values inputs, outputs;
};

void tm_signature_release(struct tm_signature *s);

/* The place of a name, from 0; -1, with an error that lists the names, and the nearest one. `what`:
 * "input" or "output". */
int tm_model_values_find(const struct tm_model_values *v, const char *what, const char *name,
                         struct tm_err *err);

/* "float32", or "a type that tensors do not have" */
const char *tm_model_type_name(int32_t type);
/* Adds "[n, 3, 224, 224]"; "[]" for one element. */
void tm_model_value_add_shape(struct tm_buf *out, const struct tm_model_value *v);

/* Whether the model takes this tensor as its input `v`; the message has both shapes. TM_EUSAGE. */
int tm_model_value_check(const struct tm_model_value *v, const struct tm_tensor *given,
                         struct tm_err *err);

/* Whether free axes with one name have one size in all inputs, or 1, which many operators repeat.
 * TM_EUSAGE: the message has both inputs and sizes. The library does not ask that of a model, so
 * another size may work: ask when a call has failed, or is cut. */
int tm_signature_check_axes(const struct tm_signature *s, const struct tm_tensor *const *given,
                            struct tm_err *err);

/* Whether only the first axis of all inputs may vary. */
bool tm_model_varies_in_rows(const struct tm_onnx_file *f);

#endif
