/* row_code.h - rows of data frames as bytes, in the order of their columns: for the files of table_groups.h.
 *
 * Each value stands behind a byte that is 0 for null (and then there is none) and 1 otherwise: bool u8; long and datetime i64,
 * double its bits, little-endian; string bytes32.
 */
#ifndef TM_DATA_ROW_CODE_H
#define TM_DATA_ROW_CODE_H

#include "base/buf.h"
#include "data/frame.h"
#include "data/key.h"

void tm_row_encode(struct tm_buf *out, const struct tm_data_frame *f, int64_t row);
/* One row, into all columns of the builder. False: the bytes are none. */
bool tm_row_decode(struct tm_reader *r, struct tm_frame_builder *b);
/* A value as a key; the string points into the column. */
void tm_row_key(const struct tm_column *c, int64_t row, const char *name, struct tm_key *out);

#endif
