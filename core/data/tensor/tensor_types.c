/* tensor_types.c - see tensor_types.h. */
#include "data/tensor/tensor_types.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"

static const struct {
  const char *name;
  int64_t size;
} types[] = {
  [TM_TENSOR_FLOAT32] = { "float32", 4 },
  [TM_TENSOR_UINT8] = { "uint8", 1 },
  [TM_TENSOR_INT8] = { "int8", 1 },
  [TM_TENSOR_UINT16] = { "uint16", 2 },
  [TM_TENSOR_INT16] = { "int16", 2 },
  [TM_TENSOR_INT32] = { "int32", 4 },
  [TM_TENSOR_INT64] = { "int64", 8 },
  [TM_TENSOR_STRING] = { "string", sizeof(struct tm_tensor_string) },
  [TM_TENSOR_BOOL] = { "bool", 1 },
  [TM_TENSOR_FLOAT16] = { "float16", 2 },
  [TM_TENSOR_FLOAT64] = { "float64", 8 },
  [TM_TENSOR_UINT32] = { "uint32", 4 },
  [TM_TENSOR_UINT64] = { "uint64", 8 },
};

enum { N_TYPES = sizeof types / sizeof types[0] };

const char *tm_tensor_type_name(int32_t type)
{
  return type > 0 && type < N_TYPES ? types[type].name : NULL;
}

int32_t tm_tensor_type_of(const char *name)
{
  for (int32_t type = 1; type < N_TYPES; type++)
    if (strcmp(types[type].name, name) == 0)
      return type;
  return 0;
}

int64_t tm_tensor_element_size(int32_t type)
{
  return type > 0 && type < N_TYPES ? types[type].size : 0;
}

/* `count` times the sizes of a shape. A size of 0 makes it 0, whatever the others are. */
static int64_t multiplied(int64_t count, int32_t rank, const int64_t *shape)
{
  bool is_empty = false;
  for (int32_t i = 0; i < rank; i++) {
    if (shape[i] < 0)
      return -1;
    is_empty = is_empty || shape[i] == 0;
  }
  if (is_empty)
    return 0;
  for (int32_t i = 0; i < rank; i++)
    if (__builtin_mul_overflow(count, shape[i], &count))
      return -1;
  return count;
}

int64_t tm_tensor_shape_count(int32_t rank, const int64_t *shape)
{
  return multiplied(1, rank, shape);
}

int64_t tm_tensor_shape_bytes(int32_t type, int32_t rank, const int64_t *shape)
{
  tm_require(tm_tensor_type_name(type) != NULL);
  return multiplied(types[type].size, rank, shape);
}

int64_t tm_tensor_count(const struct tm_tensor *t)
{
  return tm_tensor_shape_count(t->rank, t->shape);
}

int64_t tm_tensor_bytes(const struct tm_tensor *t)
{
  return tm_tensor_shape_bytes(t->type, t->rank, t->shape);
}

void tm_tensor_add_shape(struct tm_buf *out, int32_t rank, const int64_t *shape)
{
  tm_buf_add_str(out, "[");
  for (int32_t i = 0; i < rank; i++)
    tm_buf_printf(out, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
  tm_buf_add_str(out, "]");
}
