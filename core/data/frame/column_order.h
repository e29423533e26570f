/* column_order.h - compares values of columns for column_ops.h, which defines the order. */
#ifndef TM_DATA_FRAME_COLUMN_ORDER_H
#define TM_DATA_FRAME_COLUMN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "data/frame/column.h"

/* Neither row may be null. Less than, equal to or more than 0. */
int tm_column_order(const struct tm_column *a, int64_t a_row, const struct tm_column *b,
                    int64_t b_row);
/* Whether the keys of two rows are equal; null equals null. */
bool tm_rows_are_equal(const struct tm_column *const *a, int64_t a_row,
                       const struct tm_column *const *b, int64_t b_row, int32_t n_keys);
/* Equal rows have equal hashes. */
uint64_t tm_row_hash(const struct tm_column *const *keys, int64_t row, int32_t n_keys);
/* bool, long, double or datetime as a double. */
double tm_column_number(const struct tm_column *c, int64_t row);

#endif
