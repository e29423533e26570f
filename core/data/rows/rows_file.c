/* rows_file.c - see rows_file.h. */
#include "data/rows/rows_file.h"

struct tm_json_lines_options tm_rows_json_options(const struct tm_rows_options *o)
{
  return (struct tm_json_lines_options) { .drop_invalid = o->drop_invalid,
                                          .misfit = o->dialect.misfit,
                                          .encoding = o->dialect.encoding,
                                          .limits = o->dialect.limits };
}
