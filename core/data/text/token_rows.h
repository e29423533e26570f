/* token_rows.h - the tokens of several texts, and the rectangle that a model takes. */
#ifndef TM_DATA_TOKEN_ROWS_H
#define TM_DATA_TOKEN_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct tm_token_rows {
  struct TM_ARRAY(int32_t) ids;
  struct TM_ARRAY(int32_t) types; /* beside ids */
  struct TM_ARRAY(size_t) ends;   /* of each text, in ids */
};

struct tm_padding {
  int32_t id, type;
  bool is_left;
};

void tm_token_rows_release(struct tm_token_rows *b);
/* The tokens of the longest text, and of the shortest one. */
size_t tm_token_rows_longest(const struct tm_token_rows *b);
size_t tm_token_rows_shortest(const struct tm_token_rows *b);
/* Fills ids, attention mask and types: for each text a row of `width`, which is at least the
 * longest. */
void tm_token_rows_fill(const struct tm_token_rows *b, size_t width,
                        const struct tm_padding *padding, int64_t *ids, int64_t *mask,
                        int64_t *types);

#endif
