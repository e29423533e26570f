/* token_rows.c - see token_rows.h. */
#include "data/text/token_rows.h"

void tm_token_rows_release(struct tm_token_rows *b)
{
  TM_ARRAY_RELEASE(&b->ids);
  TM_ARRAY_RELEASE(&b->types);
  TM_ARRAY_RELEASE(&b->ends);
}

static size_t len_of(const struct tm_token_rows *b, size_t row)
{
  return b->ends.at[row] - (row > 0 ? b->ends.at[row - 1] : 0);
}

size_t tm_token_rows_longest(const struct tm_token_rows *b)
{
  size_t longest = 0;

  for (size_t row = 0; row < b->ends.len; row++)
    longest = len_of(b, row) > longest ? len_of(b, row) : longest;
  return longest;
}

size_t tm_token_rows_shortest(const struct tm_token_rows *b)
{
  size_t shortest = b->ends.len > 0 ? len_of(b, 0) : 0;

  for (size_t row = 0; row < b->ends.len; row++)
    shortest = len_of(b, row) < shortest ? len_of(b, row) : shortest;
  return shortest;
}

void tm_token_rows_fill(const struct tm_token_rows *b, size_t width,
                        const struct tm_padding *padding, int64_t *ids, int64_t *mask,
                        int64_t *types)
{
  for (size_t row = 0; row < b->ends.len; row++) {
    size_t len = len_of(b, row), first = b->ends.at[row] - len;
    size_t before = padding->is_left ? width - len : 0;
    for (size_t i = 0; i < width; i++) {
      bool is_token = i >= before && i - before < len;
      size_t from = is_token ? first + i - before : 0;
      *ids++ = is_token ? b->ids.at[from] : padding->id;
      *types++ = is_token ? b->types.at[from] : padding->type;
      *mask++ = is_token;
    }
  }
}
