/* table_look.h - shows rows of a table to a user: their columns with types, and the first ones. */
#ifndef TM_ENTRY_TABLE_LOOK_H
#define TM_ENTRY_TABLE_LOOK_H

#include "base/buf.h"
#include "data/frame/frame.h"

/* Adds "columns: id long, ..." and up to `rows` of the rows, each line after `indent`. */
void tm_table_look_add(struct tm_buf *out, const struct tm_data_frame *f, int64_t rows,
                       const char *indent);

#endif
