/* tensor_ops.h - operations on whole tensors. They allocate nothing: the caller provides all
 * memory. The compiler and ffi.cdef both read this file, after tensor.h. Lua calls the functions
 * through one table of pointers, so that the program need not export them.
 *
 *   order   by value (-0 equals 0), false before true; NaN below all numbers. Of equal values the
 *           first comes first
 */
#ifndef TM_DATA_TENSOR_TENSOR_OPS_H
#define TM_DATA_TENSOR_TENSOR_OPS_H

#include <stdint.h>

#include "data/tensor/tensor.h"

struct tm_tensor_ops {
  /* bytes: must be the same in both languages, or the program must not be used */
  int64_t size_of_tensor;

  /* Converts n elements. An integer type takes the nearest integer, of two the even one, and its
   * smallest or largest for a value beyond; a float type takes the nearest value, or infinity;
   * bool takes true for anything but 0, also for NaN. Returns the first element that is NaN where
   * `to` has an integer type, and then has converted only part; otherwise -1. */
  int64_t (*cast)(const struct tm_tensor_run *from, const struct tm_tensor_run *to, int64_t n);
  double (*of_half)(uint16_t bits);
  uint16_t (*half_of)(double value);

  /* For each row (along the last axis, which has k or more elements) the places of its k largest,
   * from 0, in descending order; not of strings. Writes k for each row. */
  void (*top)(const struct tm_tensor *t, int64_t k, int64_t *places);
  /* Copies these elements of each row to `to`, which has the same type. */
  void (*pick)(const struct tm_tensor *t, int64_t k, const int64_t *places, void *to);
  /* Softmax of each row of a float type, into as many elements of the same type. */
  void (*softmax)(const struct tm_tensor *t, void *to);

  /* Of n strings: their bytes. */
  int64_t (*string_bytes)(const struct tm_tensor_string *strings, int64_t n);
  /* Copies n strings; their bytes go to `room`. Returns where the next ones go. */
  char *(*copy_strings)(const struct tm_tensor_string *from, int64_t n, struct tm_tensor_string *to,
                        char *room);
};

/* The only table. */
const struct tm_tensor_ops *tm_tensor_ops(void);

#endif
