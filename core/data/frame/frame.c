/* frame.c - building the columns of a frame in an arena.
 *
 *  (1) c->cap rows fit and, for strings, cap + 1 offsets, the first of which is 0; off[len] ==
 *      bytes_len.
 *  (2) validity, if not NULL, has cap bits, and those from len on are 1: adding a value need not
 *      set its bit.
 *  (3) bytes_cap is at most INT32_MAX while the offsets are 32 bits wide: a caller that finds room
 *      there need not check again.
 */
#include "data/frame/frame.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* Initial room of a column. With many columns each gets little, because most may stay small. */
#define COLUMNS_MANY 512
#define ROWS_MIN     64
#define ROWS_FEW     1
#define BYTES_MIN    1024
#define BYTES_FEW    16

static const struct {
  const char *name;
  size_t width; /* bytes; for strings, of a narrow offset */
} types[] = {
  [TM_COLUMN_BOOL] = { "bool", 1 },         [TM_COLUMN_LONG] = { "long", 8 },
  [TM_COLUMN_DOUBLE] = { "double", 8 },     [TM_COLUMN_STRING] = { "string", 4 },
  [TM_COLUMN_DATETIME] = { "datetime", 8 },
};

const char *tm_column_type_name(int type)
{
  return type > 0 && (size_t)type < TM_COUNT_OF(types) ? types[type].name : "?";
}

int tm_column_type_of(const char *name)
{
  for (size_t i = 1; i < TM_COUNT_OF(types); i++)
    if (strcmp(types[i].name, name) == 0)
      return (int)i;
  return 0;
}

size_t tm_column_width(int type, bool is_wide)
{
  tm_require(type > 0 && (size_t)type < TM_COUNT_OF(types));
  return is_wide ? 8 : types[type].width;
}

long tm_data_frame_find(const struct tm_data_frame *f, const char *name)
{
  for (size_t i = 0; i < f->n; i++)
    if (strcmp(f->names[i], name) == 0)
      return (long)i;
  return -1;
}

void tm_frame_builder_init(struct tm_frame_builder *b, struct tm_arena *arena,
                           const char *const *names, const enum tm_column_type *column_types,
                           size_t n)
{
  *b = (struct tm_frame_builder) { .arena = arena, .n = n };
  b->columns = tm_arena_take(arena, n * sizeof *b->columns);
  b->names = tm_arena_take(arena, n * sizeof *b->names);
  for (size_t i = 0; i < n; i++) {
    size_t size = strlen(names[i]) + 1;
    tm_require(tm_column_width(column_types[i], false) > 0);
    b->names[i] = memcpy(tm_arena_take(arena, size), names[i], size);
    b->columns[i] = (struct tm_column_builder) { .type = column_types[i],
                                                 .is_one_of_many = n > COLUMNS_MANY,
                                                 .arena = arena };
    tm_builder_reserve(&b->columns[i], 0);
  }
}

static int64_t grown(int64_t cap, int64_t want, int64_t least)
{
  tm_require(want >= 0 && want <= INT64_MAX / 4);
  if (want < least)
    want = least;
  return want > cap * 2 ? want : cap * 2;
}

static void grow_validity(struct tm_column_builder *c, int64_t cap)
{
  size_t old_size = (size_t)(c->cap + 7) / 8, size = (size_t)(cap + 7) / 8;
  c->validity = tm_arena_grow(c->arena, c->validity, old_size, size);
  memset(c->validity + old_size, 0xff, size - old_size); /* keeps (2) */
}

void tm_builder_reserve(struct tm_column_builder *c, int64_t rows)
{
  if (c->data != NULL && c->cap - c->len >= rows)
    return;
  bool is_string = c->type == TM_COLUMN_STRING;
  size_t width = tm_column_width(c->type, c->is_wide);
  int64_t least = c->is_one_of_many ? ROWS_FEW : ROWS_MIN;
  int64_t cap = grown(c->cap, c->len + rows, least);
  size_t old_size = c->data == NULL ? 0 : width * (size_t)(c->cap + is_string);
  c->data = tm_arena_grow(c->arena, c->data, old_size, width * (size_t)(cap + is_string));
  if (is_string && old_size == 0)
    c->off32[0] = 0; /* keeps (1): not wide while empty */
  if (c->validity != NULL)
    grow_validity(c, cap);
  c->cap = cap;
}

static void widen(struct tm_column_builder *c)
{
  int64_t *wide = tm_arena_take(c->arena, sizeof *wide * (size_t)(c->cap + 1));
  for (int64_t i = 0; i <= c->len; i++)
    wide[i] = c->off32[i];
  c->off64 = wide;
  c->is_wide = true;
}

void tm_builder_reserve_bytes(struct tm_column_builder *c, int64_t n)
{
  tm_require(c->type == TM_COLUMN_STRING);
  if (c->bytes_cap - c->bytes_len >= n)
    return;
  int64_t least = c->is_one_of_many ? BYTES_FEW : BYTES_MIN;
  int64_t want = c->bytes_len + n, cap = grown(c->bytes_cap, want, least);
  if (!c->is_wide && want > INT32_MAX)
    widen(c);
  if (!c->is_wide && cap > INT32_MAX)
    cap = INT32_MAX; /* keeps (3) */
  c->bytes = tm_arena_grow(c->arena, c->bytes, (size_t)c->bytes_cap, (size_t)cap);
  c->bytes_cap = cap;
}

void tm_builder_make_validity(struct tm_column_builder *c)
{
  if (c->validity != NULL)
    return;
  size_t size = (size_t)(c->cap + 7) / 8;
  c->validity = tm_arena_take(c->arena, size);
  memset(c->validity, 0xff, size);
}

void tm_frame_builder_end(struct tm_frame_builder *b, struct tm_data_frame *out)
{
  struct tm_column *columns = tm_arena_take(b->arena, b->n * sizeof *columns);
  size_t n = 0;
  for (size_t i = 0; i < b->n; i++) {
    const struct tm_column_builder *c = &b->columns[i];
    if (c->is_left_out)
      continue;
    tm_require(n == 0 || c->len == columns[0].len);
    b->names[n] = b->names[i];
    columns[n++] = (struct tm_column) { .data = c->data,
                                        .bytes = c->bytes,
                                        .validity = c->validity,
                                        .len = c->len,
                                        .type = (int32_t)c->type,
                                        .is_wide = c->is_wide,
                                        .is_date = c->is_date };
  }
  *out = (struct tm_data_frame) {
    .columns = columns, .names = b->names, .n = n, .len = n > 0 ? columns[0].len : 0
  };
}
