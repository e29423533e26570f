/* tensor_types.h - the types of tensors, their sizes and shapes, and both as text. */
#ifndef TM_DATA_TENSOR_TENSOR_TYPES_H
#define TM_DATA_TENSOR_TENSOR_TYPES_H

#include <stdbool.h>

#include "base/buf.h"
#include "data/tensor/tensor.h"

/* Bytes of a tensor in Lua: LuaJIT's limit for a userdata, less our own part. */
#define TM_TENSOR_BYTES_MAX ((INT64_C(2) << 30) - 65536)

/* "float32"; NULL: not a type. */
const char *tm_tensor_type_name(int32_t type);
/* The type with this name; 0: none. */
int32_t tm_tensor_type_of(const char *name);
/* Bytes of one element; 0: not a type. */
int64_t tm_tensor_element_size(int32_t type);

/* The number of elements of a shape. -1: more than int64_t holds, or a size below 0. A rank of 0
 * has one element. */
int64_t tm_tensor_shape_count(int32_t rank, const int64_t *shape);
/* The bytes of its elements, without those that strings point to; -1 likewise. */
int64_t tm_tensor_shape_bytes(int32_t type, int32_t rank, const int64_t *shape);

/* The same for a tensor, which has a valid type and shape. */
int64_t tm_tensor_count(const struct tm_tensor *t);
int64_t tm_tensor_bytes(const struct tm_tensor *t);

/* Adds "[2, 3]". */
void tm_tensor_add_shape(struct tm_buf *out, int32_t rank, const int64_t *shape);

#endif
