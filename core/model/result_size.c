/* result_size.c - see result_size.h. */
#include "model/result_size.h"

#include <string.h>

#include "base/text.h"
#include "data/tensor/tensor_types.h"

int tm_result_check(const struct tm_model_value *output, const struct tm_tensor *result,
                    int64_t more, struct tm_err *err)
{
  struct tm_buf shape = TM_BUF_NONE, size = TM_BUF_NONE;
  int64_t bytes = tm_tensor_shape_bytes(result->type, result->rank, result->shape);

  if (bytes >= 0 && bytes <= TM_TENSOR_BYTES_MAX && more <= TM_TENSOR_BYTES_MAX - bytes)
    return 0;
  tm_tensor_add_shape(&shape, result->rank, result->shape);
  tm_text_bytes(&size, bytes < 0 || more > INT64_MAX - bytes ? INT64_MAX : bytes + more);
  tm_err_set(err, TM_ELIMIT,
             "output '%s' would be %s %s, %s; a tensor has less than 2 GB: run fewer rows at once "
             "('max_batch' joins the outputs of its pieces)",
             output->name, tm_tensor_type_name(result->type), tm_buf_str(&shape),
             tm_buf_str(&size));
  tm_buf_release(&shape);
  tm_buf_release(&size);
  return TM_ELIMIT;
}

/* The size of an axis with this name; -1: no input has it. */
static int64_t size_of(const char *name, const struct tm_signature *s,
                       const struct tm_tensor *const *inputs)
{
  for (size_t i = 0; i < s->inputs.len; i++) {
    const struct tm_model_value *v = &s->inputs.at[i];
    for (int32_t k = 0; k < v->rank && v->rank == inputs[i]->rank; k++)
      if (v->axes[k] && strcmp(v->axes[k], name) == 0)
        return inputs[i]->shape[k];
  }
  return -1;
}

int tm_result_check_ahead(const struct tm_model_value *output, const struct tm_signature *s,
                          const struct tm_tensor *const *inputs, int64_t rows, struct tm_err *err)
{
  struct tm_tensor result = { .type = output->type, .rank = output->rank };

  /* A rank of 0 may be an unknown one. */
  if (output->kind != TM_VALUE_TENSOR || output->rank == 0 || !tm_tensor_type_name(output->type))
    return 0;
  for (int32_t i = 0; i < output->rank; i++) {
    int64_t size = output->shape[i];
    if (size < 0 && output->axes[i])
      size = size_of(output->axes[i], s, inputs);
    if (i == 0 && rows >= 0)
      size = rows;
    if (size < 0)
      return 0;
    result.shape[i] = size;
  }
  return tm_result_check(output, &result, 0, err);
}
