/* row_code.h - rows of data frames as bytes, in the order of their columns: for the files of
 * table_groups.h.
 *
 * A byte precedes each value: 0 for null (without a value), else 1. bool is u8; long and datetime
 * are i64, double its bits, all little-endian; string is bytes32.
 */
#ifndef TM_DATA_FRAME_ROW_CODE_H
#define TM_DATA_FRAME_ROW_CODE_H

#include "base/buf.h"
#include "data/frame/frame.h"
#include "data/key.h"

void tm_row_encode(struct tm_buf *out, const struct tm_data_frame *f, int64_t row);
/* Appends one row to all columns of the builder. False: the bytes are not a row. */
bool tm_row_decode(struct tm_reader *r, struct tm_frame_builder *b);
/* A value as a key; the string points into the column. */
void tm_row_key(const struct tm_column *c, int64_t row, const char *name, struct tm_key *out);

#endif
