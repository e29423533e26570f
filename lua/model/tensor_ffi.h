/* tensor_ffi.h - a tensor in Lua: a userdata with this struct. The compiler reads it, and ffi.cdef
 * after core/data/tensor/tensor.h.
 *
 * *ended is 0 while the memory may be read: a tensor over a column of the frame that run() gets
 * ends when run() has returned. A tensor over a column is read-only, because a frame never changes.
 */
#ifndef TM_MODEL_TENSOR_FFI_H
#define TM_MODEL_TENSOR_FFI_H

#include "data/tensor/tensor.h"

struct tm_tensor_handle {
  struct tm_tensor tensor;
  const int32_t *ended;
  int32_t is_read_only;
};

#endif
