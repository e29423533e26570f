/* frame.h - a data frame (columns of one length, each with a name and a type), and its builder.
 *
 * column.h defines how a column lies in memory. A frame that is built here has all of its memory in
 * one arena (arena.h), including its names: it ends when the arena is cleared.
 *
 * Steps of a builder: _init, then for each row one value (or null) for each column, in any order of
 * columns, then _end.
 *
 *   struct tm_frame_builder b;
 *   tm_frame_builder_init(&b, arena, names, types, n);
 *   tm_builder_reserve(&b.columns[0], rows);            room, the better the guess the faster
 *   b.columns[0].f64[b.columns[0].len++] = 2.5;         a value: no call
 *   tm_builder_add_string(&b.columns[1], text, n);      inline, calls only to grow
 *   tm_builder_add_null(&b.columns[2]);
 *   tm_frame_builder_end(&b, &frame);
 *
 * Values go straight into the arrays. Before storing a value there must be room (len < cap);
 * afterwards, increment len; the validity bit is already set. column.h documents the arrays; they
 * move when they grow, so read the pointers from the builder each time.
 */
#ifndef TM_DATA_FRAME_FRAME_H
#define TM_DATA_FRAME_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "data/frame/arena.h"
#include "data/frame/column.h"

struct tm_data_frame {
  const struct tm_column *columns;
  const char *const *names; /* each NUL-ended; all different */
  size_t n;                 /* columns */
  int64_t len;              /* rows */
};

long tm_data_frame_find(const struct tm_data_frame *f, const char *name); /* -1: no such column */

/* A column being built. */
struct tm_column_builder {
  union {
    void *data;
    uint8_t *b8;
    int64_t *i64;
    double *f64;
    int32_t *off32; /* off[len] is where the next string begins */
    int64_t *off64;
  };
  char *bytes;
  uint8_t *validity; /* NULL until the first null; bits from len on are 1 */
  int64_t len, cap;  /* rows */
  int64_t bytes_len, bytes_cap;
  enum tm_column_type type;
  bool is_wide;        /* off64; becomes true when bytes_len would pass 2^31 - 1 */
  bool is_one_of_many; /* the frame has many columns: this one begins with little room */
  bool is_left_out;    /* not in the frame, gets no values. Set by the caller after _init */
  bool is_date;        /* as in column.h. Set by the caller after _init */
  struct tm_arena *arena;
};

struct tm_frame_builder {
  struct tm_arena *arena;
  struct tm_column_builder *columns; /* in the arena, like `names` */
  const char **names;
  size_t n;
};

/* `names` (copied) and `types`: n of each. The caller ensures that names differ. There is nothing
 * to release: to give up the builder, clear the arena. */
void tm_frame_builder_init(struct tm_frame_builder *b, struct tm_arena *arena,
                           const char *const *names, const enum tm_column_type *types, size_t n);
/* All columns that are not left out must have the same length. The frame points into the arena. */
void tm_frame_builder_end(struct tm_frame_builder *b, struct tm_data_frame *out);

/* Makes room for `rows` more rows; at least doubles it. */
void tm_builder_reserve(struct tm_column_builder *c, int64_t rows);
/* For strings: makes room for `n` more bytes; widens the offsets if necessary. */
void tm_builder_reserve_bytes(struct tm_column_builder *c, int64_t n);
/* Allocates the validity bits, all 1. */
void tm_builder_make_validity(struct tm_column_builder *c);

static inline void tm_builder_add_string(struct tm_column_builder *c, const char *s, size_t n)
{
  if (c->len == c->cap)
    tm_builder_reserve(c, 1);
  if ((uint64_t)(c->bytes_cap - c->bytes_len) < n)
    tm_builder_reserve_bytes(c, (int64_t)n);
  if (n > 0)
    memcpy(c->bytes + c->bytes_len, s, n);
  c->bytes_len += (int64_t)n;
  c->len++;
  if (c->is_wide)
    c->off64[c->len] = c->bytes_len;
  else
    c->off32[c->len] = (int32_t)c->bytes_len;
}

/* A row without a value. */
static inline void tm_builder_add_null(struct tm_column_builder *c)
{
  if (c->len == c->cap)
    tm_builder_reserve(c, 1);
  if (c->validity == NULL)
    tm_builder_make_validity(c);
  c->validity[c->len >> 3] &= (uint8_t) ~(1u << (c->len & 7));
  switch (c->type) {
  case TM_COLUMN_BOOL: c->b8[c->len++] = 0; break;
  case TM_COLUMN_STRING: tm_builder_add_string(c, "", 0); break;
  default: c->i64[c->len++] = 0; break;
  }
}

static inline bool tm_column_is_null(const struct tm_column *c, int64_t row)
{
  return c->validity != NULL && !(c->validity[row >> 3] >> (row & 7) & 1);
}

/* The bytes of a string column's row; *n: how many. */
static inline const char *tm_column_string(const struct tm_column *c, int64_t row, size_t *n)
{
  int64_t from = c->is_wide ? c->off64[row] : c->off32[row];
  int64_t to = c->is_wide ? c->off64[row + 1] : c->off32[row + 1];
  *n = (size_t)(to - from);
  return *n > 0 ? c->bytes + from : "";
}

/* "bool", "long", "double", "string", "datetime"; "?" for an invalid type. */
const char *tm_column_type_name(int type);
/* The type with that name, or 0. */
int tm_column_type_of(const char *name);
/* Bytes per row in `data`: 1, 4 or 8. Strings have one more offset than rows. */
size_t tm_column_width(int type, bool is_wide);

#endif
