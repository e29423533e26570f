/* column_ops_own.h - the functions behind the table of column_ops.h, which documents them. They are
 * in column_look.c, column_take.c, column_sort.c, column_group.c and column_join.c.
 */
#ifndef TM_DATA_FRAME_COLUMN_OPS_OWN_H
#define TM_DATA_FRAME_COLUMN_OPS_OWN_H

#include "data/frame/column_ops.h"

void tm_column_summarize(const struct tm_column *c, struct tm_column_summary *out);
int64_t tm_column_compare(const struct tm_column *c, int32_t comparison, const struct tm_value *v,
                          int32_t *rows);
int64_t tm_column_where_null(const struct tm_column *c, int32_t wanted, int32_t *rows);
int64_t tm_column_take_bytes(const struct tm_column *c, const int32_t *rows, int64_t n);
int64_t tm_column_take(const struct tm_column *c, const int32_t *rows, int64_t n,
                       struct tm_column *out);
int64_t tm_column_append(const struct tm_column *c, struct tm_column *out, int64_t at,
                         int64_t byte_at);
void tm_column_copy_bits(const uint8_t *from, int64_t first, int64_t n, uint8_t *to);
void tm_column_sort(const struct tm_sort_key *keys, int32_t n_keys, int32_t *rows, int64_t n,
                    struct tm_sort_pair *room);
int64_t tm_column_group(const struct tm_column *const *keys, int32_t n_keys, int64_t n,
                        int32_t *ids, int32_t *firsts, int32_t *slots, int64_t n_slots);
void tm_column_group_count(const struct tm_column *c, const int32_t *ids, int64_t *counts);
void tm_column_group_pick(const struct tm_column *c, const int32_t *ids, int64_t groups,
                          int32_t what, int32_t *rows);
int32_t tm_column_group_sum(const struct tm_column *c, const int32_t *ids, int64_t groups,
                            double *sums, int64_t *exact);
void tm_column_group_spread(const struct tm_column *c, const int32_t *ids, int64_t groups,
                            const double *sums, const int64_t *counts, double *out);
void tm_column_join_index(const struct tm_column *const *right, int32_t n_keys, int64_t n,
                          int32_t *next, int32_t *slots, int64_t n_slots);
int64_t tm_column_join(const struct tm_column *const *left, const struct tm_column *const *right,
                       int32_t n_keys, int64_t n, const int32_t *next, const int32_t *slots,
                       int64_t n_slots, int32_t keep, int32_t *left_rows, int32_t *right_rows,
                       uint8_t *matched);

#endif
