/* tensor.h - numbers of one type in rows and columns of any rank, as they lie in memory. The
 * compiler and ffi.cdef both read this file (without lines that begin with '#' for the latter), so
 * it holds plain declarations only.
 *
 * The elements lie in C order, without gaps: the last axis varies fastest. A slice along the first
 * axis is a tensor that points into the memory of another. Axes and elements are counted from 0
 * here, from 1 in Lua.
 *
 *   type               element
 *   float32, float64   float, double
 *   float16            uint16_t, the bits of an IEEE half
 *   int8 to uint64     intN_t, uintN_t
 *   bool               uint8_t, 0 or 1
 *   string             struct tm_tensor_string
 *
 * Whoever made a tensor owns its memory; a struct tm_tensor only points to it.
 */
#ifndef TM_DATA_TENSOR_TENSOR_H
#define TM_DATA_TENSOR_TENSOR_H

#include <stdint.h>

/* The numbers are those of ONNX's TensorProto.DataType. */
enum tm_tensor_type {
  TM_TENSOR_FLOAT32 = 1,
  TM_TENSOR_UINT8 = 2,
  TM_TENSOR_INT8 = 3,
  TM_TENSOR_UINT16 = 4,
  TM_TENSOR_INT16 = 5,
  TM_TENSOR_INT32 = 6,
  TM_TENSOR_INT64 = 7,
  TM_TENSOR_STRING = 8,
  TM_TENSOR_BOOL = 9,
  TM_TENSOR_FLOAT16 = 10,
  TM_TENSOR_FLOAT64 = 11,
  TM_TENSOR_UINT32 = 12,
  TM_TENSOR_UINT64 = 13
};

enum { TM_TENSOR_MAX_RANK = 16 };

/* Any bytes, not NUL-ended. NULL and 0: the empty string. */
struct tm_tensor_string {
  const char *bytes;
  int64_t len;
};

struct tm_tensor {
  void *data;
  int64_t shape[TM_TENSOR_MAX_RANK]; /* elements along each axis, 0 or more */
  int32_t rank;                      /* axes; 0: one element */
  int32_t type;                      /* enum tm_tensor_type */
};

/* Elements of one type at equal distances, such as a column of a tensor. */
struct tm_tensor_run {
  void *data;
  int64_t step; /* elements from one to the next */
  int32_t type; /* enum tm_tensor_type, not string */
};

#endif
