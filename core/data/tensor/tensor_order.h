/* tensor_order.h - what is largest in each row of a tensor; tm_tensor_ops says how. */
#ifndef TM_DATA_TENSOR_TENSOR_ORDER_H
#define TM_DATA_TENSOR_TENSOR_ORDER_H

#include "data/tensor/tensor.h"

void tm_tensor_top(const struct tm_tensor *t, int64_t k, int64_t *places);
void tm_tensor_pick(const struct tm_tensor *t, int64_t k, const int64_t *places, void *to);
void tm_tensor_softmax(const struct tm_tensor *t, void *to);

#endif
