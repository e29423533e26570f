/* table_ops.c - see table_ops.h. */
#include "data/table/table_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/frame/column_ops.h"
#include "data/rows/value.h"
#include "params/params.h"

enum op_kind { OP_DRAW, OP_FILTER, OP_KEEP, OP_DROP };

struct tm_table_op {
  enum op_kind kind;
  double probability; /* of a row, for DRAW */
  uint64_t seed;
  bool is_other; /* the rows that are not drawn */
  char **names;  /* of columns, for KEEP and DROP; one for FILTER */
  size_t names_len;
  int32_t comparison; /* enum tm_comparison */
  struct tm_json *value;
};

/* Reading -------------------------------------------------------------------------------------- */

static void read_names(struct tm_table_op *op, const struct tm_json *names)
{
  op->names = tm_xcalloc(tm_json_items(names), sizeof(char *));
  for (size_t i = 0; i < tm_json_items(names); i++)
    op->names[op->names_len++] = tm_xstrdup(names->list.at[i]->string.at);
}

static void read_filter(struct tm_table_op *op, const struct tm_json *v)
{
  static const char *const signs[] = { "==", "~=", "<", "<=", ">", ">=" };
  op->kind = OP_FILTER;
  for (size_t i = 0; i < TM_COUNT_OF(signs); i++)
    if (strcmp(tm_json_str(v, "is", ""), signs[i]) == 0)
      op->comparison = (int32_t)i + TM_IS_EQUAL;
  op->names = tm_xcalloc(1, sizeof(char *));
  op->names[op->names_len++] = tm_xstrdup(tm_json_str(v, "column", NULL));
  op->value = tm_json_copy(tm_json_get(v, "value"));
  tm_require(op->comparison != 0 && op->names[0] && op->value);
}

/* `seed` sets which rows are drawn; `part` 2 of a split has the others. */
static void read_draw(struct tm_table_op *op, const struct tm_json *v)
{
  op->kind = OP_DRAW;
  op->probability = tm_json_num(v, tm_json_get(v, "fraction") ? "fraction" : "probability", -1);
  op->seed = (uint64_t)tm_json_int(v, "seed", 0);
  op->is_other = tm_json_int(v, "part", 1) == 2;
  tm_require(op->probability >= 0 && op->probability <= 1);
}

bool tm_table_ops_leave_out(const struct tm_table_ops *o)
{
  for (size_t i = 0; i < o->len; i++)
    if (o->at[i].kind == OP_DRAW || o->at[i].kind == OP_FILTER)
      return true;
  return false;
}

/* Reads skip or take, which must precede any operation that looks at rows. */
static int read_window(struct tm_table_ops *o, const struct tm_json *v, const char *kind,
                       struct tm_err *err)
{
  int64_t n = tm_json_int(v, "count", -1);
  tm_require(n >= 0);
  if (tm_table_ops_leave_out(o))
    return tm_err_set(
        err, TM_EUSAGE,
        "%s() after filter(), take_sample() or random_split() would have to read all "
        "rows first; before them it takes rows of the whole table, and run() can leave out "
        "others",
        kind);
  if (strcmp(kind, "take") == 0) {
    o->take = o->take < 0 || n < o->take ? n : o->take;
    return 0;
  }
  o->skip = n > INT64_MAX - o->skip ? INT64_MAX : o->skip + n;
  if (o->take >= 0)
    o->take = o->take > n ? o->take - n : 0;
  return 0;
}

/* `v`: settled. */
static int read_op(struct tm_table_ops *o, const struct tm_json *v, struct tm_err *err)
{
  const char *kind = tm_json_str(v, "op", "");
  struct tm_table_op *op = &o->at[o->len];
  if (strcmp(kind, "take") == 0 || strcmp(kind, "skip") == 0)
    return read_window(o, v, kind, err);
  o->len++;
  if (strcmp(kind, "filter") == 0) {
    read_filter(op, v);
  } else if (strcmp(kind, "keep") == 0 || strcmp(kind, "drop") == 0) {
    op->kind = strcmp(kind, "keep") == 0 ? OP_KEEP : OP_DROP;
    read_names(op, tm_json_get(v, "columns"));
  } else {
    read_draw(op, v);
    o->has_numbers = true;
  }
  return 0;
}

static int settle_op(struct tm_table_ops *o, const struct tm_json *v, struct tm_err *err)
{
  const char *kind = tm_json_str(v, "op", "");
  char *name = tm_xprintf("op:%s", kind);
  size_t n;
  bool is_known = tm_params_fields(name, &n) != NULL;
  struct tm_json *settled = is_known ? tm_params_settle(name, v, true, err) : NULL;
  if (!is_known)
    tm_err_set(err, TM_EUSAGE, "'%s' is not an operation of a table", kind);
  int rc = settled ? read_op(o, settled, err) : TM_EUSAGE;
  tm_json_free(settled);
  free(name);
  return rc;
}

int tm_table_ops_read(struct tm_table_ops *o, const struct tm_json *list, struct tm_err *err)
{
  int rc = 0;
  tm_require(!list || list->type == TM_JSON_ARRAY);
  *o = (struct tm_table_ops) { .take = -1 };
  o->at = tm_xcalloc(tm_json_items(list), sizeof(*o->at));
  for (size_t i = 0; i < tm_json_items(list) && rc == 0; i++)
    rc = settle_op(o, list->list.at[i], err);
  return rc;
}

void tm_table_ops_release(struct tm_table_ops *o)
{
  for (size_t i = 0; i < o->len; i++) {
    for (size_t j = 0; j < o->at[i].names_len; j++)
      free(o->at[i].names[j]);
    free(o->at[i].names);
    tm_json_free(o->at[i].value);
  }
  free(o->at);
  *o = (struct tm_table_ops) { .take = -1 };
}

/* Values --------------------------------------------------------------------------------------- */

/* The value that a column of this type is compared with; false: the types do not fit. */
static bool value_of(const struct tm_json *v, enum tm_column_type type, struct tm_value *out)
{
  bool is_number = v->type == TM_JSON_INT || v->type == TM_JSON_NUMBER;
  *out = (struct tm_value) { .is_integer = v->type == TM_JSON_INT };
  if (is_number) {
    out->i64 = v->type == TM_JSON_INT ? v->integer : 0;
    out->f64 = v->type == TM_JSON_INT ? (double)v->integer : v->number;
  }
  switch (type) {
  case TM_COLUMN_LONG:
  case TM_COLUMN_DOUBLE: return is_number;
  case TM_COLUMN_BOOL:
    out->is_integer = 1;
    out->i64 = v->type == TM_JSON_BOOL && v->boolean;
    return v->type == TM_JSON_BOOL;
  case TM_COLUMN_STRING:
    out->string = v->type == TM_JSON_STRING ? v->string.at : NULL;
    out->string_len = v->type == TM_JSON_STRING ? v->string.len : 0;
    return v->type == TM_JSON_STRING;
  case TM_COLUMN_DATETIME:
    if (is_number)
      out->i64 = (int64_t)(out->f64 * 1e6);
    out->is_integer = 1;
    return is_number ||
           (v->type == TM_JSON_STRING && tm_value_datetime(v->string.at, v->string.len, &out->i64));
  }
  return false;
}

static bool has_name(const struct tm_table_op *op, const char *name)
{
  for (size_t i = 0; i < op->names_len; i++)
    if (strcmp(op->names[i], name) == 0)
      return true;
  return false;
}

static bool is_left(const struct tm_table_op *op, const char *name)
{
  return op->kind == OP_KEEP ? has_name(op, name) : op->kind != OP_DROP || !has_name(op, name);
}

/* Whether operations before `i` keep the column. */
static bool is_left_before(const struct tm_table_ops *o, size_t i, const char *name)
{
  for (size_t k = 0; k < i; k++)
    if (!is_left(&o->at[k], name))
      return false;
  return true;
}

void tm_table_ops_mark(const struct tm_table_ops *o, struct tm_schema *s)
{
  for (size_t c = 0; c < s->len; c++) {
    const char *name = s->columns[c].name;
    bool is_read = is_left_before(o, o->len, name);
    for (size_t i = 0; i < o->len && !is_read; i++)
      is_read = o->at[i].kind == OP_FILTER && has_name(&o->at[i], name);
    s->columns[c].is_unread = !is_read;
  }
}

static int check_column(const struct tm_table_ops *o, size_t i, const char *name,
                        const struct tm_schema *s, struct tm_err *err)
{
  const struct tm_table_op *op = &o->at[i];
  struct tm_value value;
  long column = tm_schema_find(s, name, strlen(name));
  if (column < 0)
    return tm_schema_refuse(s, name, err);
  if (op->kind != OP_DROP && !is_left_before(o, i, name))
    return tm_err_set(err, TM_EUSAGE,
                      "%s: column '%s' does not exist any more: an earlier keep_columns or "
                      "drop_columns left it out; put this before that",
                      op->kind == OP_FILTER ? "filter" : "keep_columns", name);
  enum tm_column_type type = s->columns[column].type;
  if (op->kind == OP_FILTER && !value_of(op->value, type, &value))
    return tm_err_set(err, TM_EUSAGE,
                      "filter('%s', ...): the column is of type %s, which the value does not go "
                      "with",
                      name, tm_column_type_name((int)type));
  return 0;
}

int tm_table_ops_check(const struct tm_table_ops *o, const struct tm_schema *s, struct tm_err *err)
{
  bool has_column = s->len == 0;
  for (size_t i = 0; i < o->len; i++)
    for (size_t j = 0; j < o->at[i].names_len; j++)
      if (check_column(o, i, o->at[i].names[j], s, err) < 0)
        return TM_EUSAGE;
  for (size_t c = 0; c < s->len && !has_column; c++)
    has_column = is_left_before(o, o->len, s->columns[c].name);
  return has_column ? 0
                    : tm_err_set(err, TM_EUSAGE,
                                 "keep_columns and drop_columns leave no column; keep one");
}

/* Applying ------------------------------------------------------------------------------------- */

void tm_frame_take(struct tm_arena *arena, struct tm_data_frame *f, const int32_t *rows, int64_t n)
{
  const struct tm_column_ops *ops = tm_column_ops();
  struct tm_column *columns = tm_arena_take(arena, f->n * sizeof(*columns) + 1);
  for (size_t i = 0; i < f->n; i++) {
    const struct tm_column *from = &f->columns[i];
    columns[i] = (struct tm_column) {
      .type = from->type, .is_wide = from->is_wide, .is_date = from->is_date, .len = n
    };
    columns[i].data =
        tm_arena_take(arena, tm_column_width(from->type, from->is_wide) * ((size_t)n + 1));
    if (from->type == TM_COLUMN_STRING)
      columns[i].bytes = tm_arena_take(arena, (size_t)ops->take_bytes(from, rows, n) + 1);
    if (from->validity) {
      columns[i].validity = tm_arena_take(arena, (size_t)n / 8 + 1);
      memset(columns[i].validity, 0xff, (size_t)n / 8 + 1);
    }
    ops->take(from, rows, n, &columns[i]);
  }
  f->columns = columns;
  f->len = n;
}

/* A number in [0, 1) for the row, always the same. */
static double draw(uint64_t seed, int64_t number)
{
  unsigned char bytes[8];
  tm_put_u64(bytes, (uint64_t)number);
  return (double)(tm_hash64_seed(bytes, sizeof(bytes), seed) >> 11) * 0x1p-53;
}

static int64_t draw_rows(const struct tm_table_op *op, const int64_t *numbers, int64_t n,
                         int32_t *rows)
{
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++)
    if ((draw(op->seed, numbers[i]) < op->probability) != op->is_other)
      rows[count++] = (int32_t)i;
  return count;
}

static int filter_rows(const struct tm_table_op *op, const struct tm_data_frame *f, int32_t *rows,
                       int64_t *count, struct tm_err *err)
{
  struct tm_value value;
  long column = tm_data_frame_find(f, op->names[0]);
  if (column < 0 || !value_of(op->value, (enum tm_column_type)f->columns[column].type, &value))
    return tm_err_set(err, TM_EUSAGE, "filter('%s', ...): the column does not exist any more",
                      op->names[0]);
  *count = tm_column_ops()->compare(&f->columns[column], op->comparison, &value, rows);
  return 0;
}

/* keep uses the order of its names. */
static int choose_columns(const struct tm_table_op *op, struct tm_arena *arena,
                          struct tm_data_frame *f, struct tm_err *err)
{
  struct tm_column *columns = tm_arena_take(arena, f->n * sizeof(*columns) + 1);
  const char **names = tm_arena_take(arena, f->n * sizeof(*names) + 1);
  size_t n = 0;
  for (size_t i = 0; op->kind == OP_DROP && i < f->n; i++)
    if (!has_name(op, f->names[i])) {
      columns[n] = f->columns[i];
      names[n++] = f->names[i];
    }
  for (size_t i = 0; op->kind == OP_KEEP && i < op->names_len && n < f->n; i++) {
    long at = tm_data_frame_find(f, op->names[i]);
    if (at < 0)
      return tm_err_set(err, TM_EUSAGE, "keep_columns: column '%s' does not exist any more",
                        op->names[i]);
    columns[n] = f->columns[at];
    names[n++] = f->names[at];
  }
  f->columns = columns;
  f->names = names;
  f->n = n;
  return 0;
}

int tm_table_ops_apply(const struct tm_table_ops *o, struct tm_arena *arena,
                       struct tm_data_frame *f, int64_t number, struct tm_err *err)
{
  int64_t *numbers =
      o->has_numbers ? tm_arena_take(arena, (size_t)f->len * sizeof(*numbers) + 1) : NULL;
  for (int64_t i = 0; numbers && i < f->len; i++)
    numbers[i] = number + i;
  for (size_t i = 0; i < o->len; i++) {
    const struct tm_table_op *op = &o->at[i];
    int64_t n = 0;
    int rc = 0;
    if (op->kind == OP_KEEP || op->kind == OP_DROP) {
      if (choose_columns(op, arena, f, err) < 0)
        return TM_EUSAGE;
      continue;
    }
    int32_t *rows = tm_arena_take(arena, (size_t)f->len * sizeof(*rows) + 1);
    if (op->kind == OP_DRAW)
      n = draw_rows(op, numbers, f->len, rows);
    else
      rc = filter_rows(op, f, rows, &n, err);
    if (rc < 0)
      return rc;
    if (n == f->len)
      continue;
    for (int64_t k = 0; numbers && k < n; k++)
      numbers[k] = numbers[rows[k]];
    tm_frame_take(arena, f, rows, n);
  }
  return 0;
}

int tm_table_ops_columns(const struct tm_table_ops *o, struct tm_arena *arena,
                         const struct tm_schema *s, struct tm_data_frame *out, struct tm_err *err)
{
  struct tm_frame_builder b;
  tm_schema_begin_frame(s, &b, arena);
  tm_frame_builder_end(&b, out);
  return tm_table_ops_apply(o, arena, out, 0, err);
}
