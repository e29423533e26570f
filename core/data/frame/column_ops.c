/* column_ops.c - the table of functions. */
#include "data/frame/column_ops_own.h"

const struct tm_column_ops *tm_column_ops(void)
{
  static const struct tm_column_ops ops = {
    .size_of_column = sizeof(struct tm_column),
    .summarize = tm_column_summarize,
    .compare = tm_column_compare,
    .where_null = tm_column_where_null,
    .take_bytes = tm_column_take_bytes,
    .take = tm_column_take,
    .append = tm_column_append,
    .copy_bits = tm_column_copy_bits,
    .sort = tm_column_sort,
    .group = tm_column_group,
    .group_count = tm_column_group_count,
    .group_pick = tm_column_group_pick,
    .group_sum = tm_column_group_sum,
    .group_spread = tm_column_group_spread,
    .join_index = tm_column_join_index,
    .join = tm_column_join,
  };
  return &ops;
}
