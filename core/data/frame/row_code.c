/* row_code.c - see row_code.h. */
#include "data/frame/row_code.h"

#include "base/check.h"

static void encode_value(struct tm_buf *out, const struct tm_column *c, int64_t row)
{
  uint64_t bits;
  size_t n;
  const char *p;
  switch (c->type) {
  case TM_COLUMN_BOOL: tm_buf_add_char(out, (char)c->b8[row]); break;
  case TM_COLUMN_STRING:
    p = tm_column_string(c, row, &n);
    tm_buf_add_bytes32(out, n > 0 ? p : "", n);
    break;
  default: /* also the bits of a double */
    memcpy(&bits, &c->i64[row], sizeof(bits));
    tm_buf_add_u64(out, bits);
    break;
  }
}

void tm_row_encode(struct tm_buf *out, const struct tm_data_frame *f, int64_t row)
{
  tm_require(row >= 0 && row < f->len);
  for (size_t i = 0; i < f->n; i++) {
    bool is_null = tm_column_is_null(&f->columns[i], row);
    tm_buf_add_char(out, is_null ? 0 : 1);
    if (!is_null)
      encode_value(out, &f->columns[i], row);
  }
}

static bool decode_value(struct tm_reader *r, struct tm_column_builder *c)
{
  const char *p;
  size_t n;
  uint64_t bits;
  if (c->len == c->cap)
    tm_builder_reserve(c, 1);
  switch (c->type) {
  case TM_COLUMN_BOOL:
    p = tm_read_raw(r, 1);
    if (p == NULL || (p[0] != 0 && p[0] != 1))
      return false;
    c->b8[c->len++] = (uint8_t)p[0];
    return true;
  case TM_COLUMN_STRING:
    p = tm_read_bytes32(r, &n);
    if (p == NULL)
      return false;
    tm_builder_add_string(c, p, n);
    return true;
  default:
    bits = tm_read_u64(r);
    if (r->bad)
      return false;
    memcpy(&c->i64[c->len++], &bits, sizeof(bits));
    return true;
  }
}

bool tm_row_decode(struct tm_reader *r, struct tm_frame_builder *b)
{
  for (size_t i = 0; i < b->n; i++) {
    const char *mark = tm_read_raw(r, 1);
    if (mark == NULL || (mark[0] != 0 && mark[0] != 1))
      return false;
    if (mark[0] == 0)
      tm_builder_add_null(&b->columns[i]);
    else if (!decode_value(r, &b->columns[i]))
      return false;
  }
  return true;
}

void tm_row_key(const struct tm_column *c, int64_t row, const char *name, struct tm_key *out)
{
  tm_require(row >= 0 && row < c->len);
  *out = (struct tm_key) { .name = name, .name_len = strlen(name), .type = TM_KEY_NULL };
  if (tm_column_is_null(c, row))
    return;
  switch ((enum tm_column_type)c->type) {
  case TM_COLUMN_BOOL:
    out->type = TM_KEY_BOOL;
    out->integer = c->b8[row];
    break;
  case TM_COLUMN_LONG:
    out->type = TM_KEY_LONG;
    out->integer = c->i64[row];
    break;
  case TM_COLUMN_DOUBLE:
    out->type = TM_KEY_DOUBLE;
    out->number = c->f64[row];
    break;
  case TM_COLUMN_DATETIME:
    out->type = TM_KEY_DATETIME;
    out->integer = c->i64[row];
    break;
  case TM_COLUMN_STRING:
    out->type = TM_KEY_STRING;
    out->string.at = tm_column_string(c, row, &out->string.len);
    if (out->string.len == 0)
      out->string.at = "";
    break;
  }
}
