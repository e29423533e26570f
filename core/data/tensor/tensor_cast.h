/* tensor_cast.h - elements of one type as elements of another: tm_tensor_ops.cast says how. */
#ifndef TM_DATA_TENSOR_TENSOR_CAST_H
#define TM_DATA_TENSOR_TENSOR_CAST_H

#include "data/tensor/tensor.h"

int64_t tm_tensor_cast(const struct tm_tensor_run *from, const struct tm_tensor_run *to, int64_t n);

/* The value of an IEEE half, and the half that is nearest to a value (of two, the even one). */
double tm_tensor_of_half(uint16_t bits);
uint16_t tm_tensor_half_of(double value);

#endif
