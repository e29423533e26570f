/* query.c - see query.h. */
#include "data/sql/query.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "data/rows/value.h"

/* The query ------------------------------------------------------------------------------------ */

static int read_keys(struct tm_sql_query *q, const struct tm_json *options, struct tm_err *err)
{
  const char *key = tm_json_str(options, "key_column", NULL);
  bool has_from = tm_json_get(options, "key_from"), has_to = tm_json_get(options, "key_to");
  if (!key && !has_from && !has_to)
    return 0;
  if (!key || !*key || !has_from || !has_to)
    return tm_err_set(
        err, TM_EUSAGE,
        "'key_column', 'key_from' and 'key_to' go together: the rows of the query are "
        "cut by a column of integers, from the first to the last key");
  q->key = tm_xstrdup(key);
  q->from = tm_json_int(options, "key_from", 0);
  q->end = tm_json_int(options, "key_to", 0);
  if (q->end < q->from)
    return tm_err_set(err, TM_EUSAGE, "'key_to' is less than 'key_from'; accepted: the last key");
  q->end++;
  return 0;
}

struct tm_sql_query *tm_sql_query_from_json(const struct tm_json *options, struct tm_err *err)
{
  struct tm_sql_query *q = TM_NEW(struct tm_sql_query);
  struct tm_dialect dialect;
  tm_dialect_init(&dialect);
  tm_dialect_read(&dialect, options);
  q->text = tm_xstrdup(tm_json_str(options, "query", ""));
  q->timeout_s = tm_json_num(options, "query_timeout", 0);
  q->misfit = dialect.misfit;
  if (read_keys(q, options, err) == 0)
    return q;
  tm_sql_query_free(q);
  return NULL;
}

void tm_sql_query_free(struct tm_sql_query *q)
{
  if (!q)
    return;
  free(q->text);
  free(q->key);
  free(q);
}

static void add_name(struct tm_buf *out, const char *name)
{
  tm_buf_add_char(out, '"');
  for (; *name; name++)
    tm_buf_printf(out, "%s%c", *name == '"' ? "\"" : "", *name);
  tm_buf_add_char(out, '"');
}

/* Measures the query for use as a subquery: without the final ';' and comments. */
static int measure(struct tm_sql_source *s, struct tm_err *err)
{
  const struct tm_sql_query *q = s->query;
  int rc = s->len > 0 ? 0 : s->driver->ask(s->db, q->text, NULL, 0, q->timeout_s, err);
  if (rc < 0 || s->len > 0)
    return rc;
  s->len = s->driver->length(s->db);
  while (s->len > 0 && (isspace((unsigned char)q->text[s->len - 1]) || q->text[s->len - 1] == ';'))
    s->len--;
  return 0;
}

/* Asks for `what` of the rows of a piece; NULL: all columns of the query. */
static int ask_piece(struct tm_sql_source *s, const char *what, int64_t begin, int64_t end,
                     struct tm_err *err)
{
  const struct tm_sql_query *q = s->query;
  int64_t keys[] = { q->from + begin, q->from + end };
  struct tm_buf text = TM_BUF_NONE;
  int rc = measure(s, err);
  if (rc < 0)
    return rc;
  if (!what && !q->key)
    return s->driver->ask(s->db, q->text, NULL, 0, q->timeout_s, err);
  tm_buf_printf(&text, "SELECT %s FROM (\n%.*s\n)", what ? what : "*", (int)s->len, q->text);
  if (q->key) {
    tm_buf_add_str(&text, " WHERE ");
    add_name(&text, q->key);
    tm_buf_add_str(&text, " >= ?1 AND ");
    add_name(&text, q->key);
    tm_buf_add_str(&text, " < ?2");
  }
  rc = s->driver->ask(s->db, text.data, keys, q->key ? 2 : 0, q->timeout_s, err);
  tm_buf_release(&text);
  return rc;
}

/* A database ----------------------------------------------------------------------------------- */

int tm_sql_source_open(struct tm_sql_source *s, const struct tm_sql_query *q, const char *place,
                       struct tm_err *err)
{
  *s = (struct tm_sql_source) { .query = q, .driver = tm_sql_driver_of(place) };
  s->db = s->driver->open(place, err);
  return s->db ? 0 : err->code;
}

void tm_sql_source_close(struct tm_sql_source *s)
{
  if (s->driver)
    s->driver->close(s->db);
  *s = (struct tm_sql_source) { 0 };
}

/* The names of the columns of the current query. */
static void add_names(const struct tm_sql_source *s, struct tm_schema *out)
{
  for (size_t i = 0; i < s->driver->columns(s->db); i++) {
    const char *name = s->driver->column(s->db, i);
    tm_schema_add(out, name, strlen(name));
  }
}

int tm_sql_source_check(struct tm_sql_source *s, struct tm_err *err)
{
  const struct tm_sql_query *q = s->query;
  struct tm_schema names = { 0 };
  int rc = s->driver->ask(s->db, q->text, NULL, 0, q->timeout_s, err);
  if (rc == 0 && q->key) {
    add_names(s, &names);
    if (tm_schema_find(&names, q->key, strlen(q->key)) < 0) {
      tm_schema_refuse(&names, q->key, err);
      rc = tm_err_wrap(err, "'key_column'");
    } else {
      rc = ask_piece(s, NULL, 0, 0, err);
    }
  }
  tm_schema_release(&names);
  return rc;
}

int64_t tm_sql_source_count(struct tm_sql_source *s, int64_t begin, int64_t end, bool all,
                            struct tm_err *err)
{
  struct tm_sql_value v;
  int rc = ask_piece(s, all ? "count(*)" : NULL, begin, end, err);
  if (rc == 0)
    rc = s->driver->next(s->db, err);
  if (rc <= 0 || !all)
    return rc;
  s->driver->value(s->db, 0, &v);
  return v.integer;
}

/* Types ---------------------------------------------------------------------------------------- */

static bool has_word(const char *declared, const char *word)
{
  size_t n = strlen(word);
  for (; *declared; declared++)
    if (strncasecmp(declared, word, n) == 0)
      return true;
  return false;
}

/* By SQLite's rules for names of types, and some that it does not know. 0: the name tells
 * nothing. */
static enum tm_column_type type_of_declared(const char *declared)
{
  static const struct {
    const char *word;
    enum tm_column_type type;
  } words[] = { { "BOOL", TM_COLUMN_BOOL },      { "DATE", TM_COLUMN_DATETIME },
                { "TIME", TM_COLUMN_DATETIME },  { "INT", TM_COLUMN_LONG },
                { "CHAR", TM_COLUMN_STRING },    { "CLOB", TM_COLUMN_STRING },
                { "TEXT", TM_COLUMN_STRING },    { "REAL", TM_COLUMN_DOUBLE },
                { "FLOA", TM_COLUMN_DOUBLE },    { "DOUB", TM_COLUMN_DOUBLE },
                { "NUMERIC", TM_COLUMN_DOUBLE }, { "DECIMAL", TM_COLUMN_DOUBLE } };
  for (size_t i = 0; declared && i < TM_COUNT_OF(words); i++)
    if (has_word(declared, words[i].word))
      return words[i].type;
  return 0;
}

/* The kinds of values in the first rows of a column. */
struct seen {
  bool ints, doubles, texts, others;
  bool are_bools, are_times; /* all ints could be bools, all texts could be times; */
  bool are_dates;            /* and all texts have no time of day */
};

static void look(struct seen *seen, const struct tm_sql_value *v)
{
  switch (v->type) {
  case TM_SQL_NULL: break;
  case TM_SQL_INT:
    seen->are_bools = (seen->are_bools || !seen->ints) && (v->integer == 0 || v->integer == 1);
    seen->ints = true;
    break;
  case TM_SQL_DOUBLE: seen->doubles = true; break;
  case TM_SQL_TEXT:
    seen->are_times = (seen->are_times || !seen->texts) &&
                      (tm_infer_text(v->at, v->len) & (1u << TM_COLUMN_DATETIME)) != 0;
    seen->are_dates = (seen->are_dates || !seen->texts) && tm_value_is_date(v->at, v->len);
    seen->texts = true;
    break;
  case TM_SQL_BYTES: seen->others = true; break;
  }
}

static enum tm_column_type type_of(const struct seen *seen, const char *declared)
{
  enum tm_column_type said = type_of_declared(declared);
  bool has_numbers = seen->ints || seen->doubles;
  if (!has_numbers && !seen->texts && !seen->others)
    return said ? said : TM_COLUMN_STRING;
  if (seen->others || (has_numbers && seen->texts))
    return TM_COLUMN_STRING;
  if (seen->texts)
    return said == TM_COLUMN_DATETIME && seen->are_times ? TM_COLUMN_DATETIME : TM_COLUMN_STRING;
  if (seen->doubles || said == TM_COLUMN_DOUBLE)
    return TM_COLUMN_DOUBLE;
  return said == TM_COLUMN_BOOL && seen->are_bools ? TM_COLUMN_BOOL : TM_COLUMN_LONG;
}

int tm_sql_source_find_schema(struct tm_sql_source *s, const struct tm_column_setting *settings,
                              size_t settings_len, struct tm_schema *out, struct tm_err *err)
{
  struct seen *seen;
  struct tm_sql_value v;
  int rc = tm_sql_source_check(s, err), got = 0;
  if (rc == 0)
    rc = s->driver->ask(s->db, s->query->text, NULL, 0, s->query->timeout_s, err);
  if (rc < 0)
    return rc;
  add_names(s, out);
  seen = tm_xcalloc(out->len, sizeof(*seen));
  for (int row = 0; row < TM_INFER_ROWS && (got = s->driver->next(s->db, err)) > 0; row++)
    for (size_t i = 0; i < out->len; i++) {
      s->driver->value(s->db, i, &v);
      look(&seen[i], &v);
    }
  for (size_t i = 0; i < out->len; i++) {
    out->columns[i].type = type_of(&seen[i], s->driver->declared(s->db, i));
    out->columns[i].is_date = seen[i].are_dates;
  }
  free(seen);
  return got < 0 ? got : tm_infer_set(out, settings, settings_len, err);
}

/* Values --------------------------------------------------------------------------------------- */

static bool to_long(const struct tm_sql_value *v, int64_t *out)
{
  if (v->type == TM_SQL_INT)
    *out = v->integer;
  else if (v->type == TM_SQL_DOUBLE && v->number == floor(v->number) &&
           fabs(v->number) < 9007199254740992.0)
    *out = (int64_t)v->number;
  else
    return v->type == TM_SQL_TEXT && tm_value_long(v->at, v->len, out);
  return true;
}

static bool to_double(const struct tm_sql_value *v, double *out)
{
  if (v->type == TM_SQL_INT)
    *out = (double)v->integer;
  else if (v->type == TM_SQL_DOUBLE)
    *out = v->number;
  else
    return v->type == TM_SQL_TEXT && tm_value_double(v->at, v->len, out);
  return true;
}

static bool to_bool(const struct tm_sql_value *v, uint8_t *out)
{
  if (v->type == TM_SQL_INT && (v->integer == 0 || v->integer == 1))
    *out = (uint8_t)v->integer;
  else
    return v->type == TM_SQL_TEXT && tm_value_bool(v->at, v->len, out);
  return true;
}

/* Numbers are seconds since the epoch. */
static bool to_time(const struct tm_sql_value *v, const struct tm_schema_column *c, int64_t *out)
{
  double s = v->type == TM_SQL_INT ? (double)v->integer : v->number;
  if (v->type == TM_SQL_INT || v->type == TM_SQL_DOUBLE) {
    *out = (int64_t)(s * 1e6);
    return fabs(s) < 253402300800.0; /* the year 10000 */
  }
  if (v->type != TM_SQL_TEXT || c->formats_len == 0)
    return v->type == TM_SQL_TEXT && tm_value_datetime(v->at, v->len, out);
  for (size_t i = 0; i < c->formats_len; i++)
    if (tm_value_datetime_by(c->formats[i], v->at, v->len, out))
      return true;
  return false;
}

/* The value as text, numbers as the database would write them. */
static void as_text(struct tm_buf *out, const struct tm_sql_value *v)
{
  switch (v->type) {
  case TM_SQL_INT: tm_buf_add_int(out, v->integer); break;
  case TM_SQL_DOUBLE: tm_json_write_number(out, v->number); break;
  default: tm_buf_add(out, v->at, v->len); break;
  }
}

/* False: it does not fit. Not for null. */
static bool add_value(struct tm_column_builder *b, const struct tm_schema_column *c,
                      const struct tm_sql_value *v)
{
  struct tm_buf text = TM_BUF_NONE;
  if (b->len == b->cap)
    tm_builder_reserve(b, 1);
  switch (c->type) {
  case TM_COLUMN_BOOL:
    if (!to_bool(v, &b->b8[b->len]))
      return false;
    b->len++;
    return true;
  case TM_COLUMN_LONG:
    if (!to_long(v, &b->i64[b->len]))
      return false;
    b->len++;
    return true;
  case TM_COLUMN_DOUBLE:
    if (!to_double(v, &b->f64[b->len]))
      return false;
    b->len++;
    return true;
  case TM_COLUMN_DATETIME:
    if (!to_time(v, c, &b->i64[b->len]))
      return false;
    b->len++;
    return true;
  case TM_COLUMN_STRING:
    if (v->type == TM_SQL_TEXT || v->type == TM_SQL_BYTES) {
      tm_builder_add_string(b, v->at, v->len);
      return true;
    }
    as_text(&text, v);
    tm_builder_add_string(b, tm_buf_str(&text), text.len);
    tm_buf_release(&text);
  }
  return true;
}

/* Frames --------------------------------------------------------------------------------------- */

static int note_misfit(const struct tm_sql_source *s, const struct tm_schema *schema, size_t i,
                       const struct tm_sql_value *v, struct tm_row_counts *counts,
                       struct tm_err *err)
{
  struct tm_fault fault = { .kind = TM_FAULT_VALUE, .at = counts->rows, .column = (long)i };
  struct tm_buf text = TM_BUF_NONE, words = TM_BUF_NONE;
  as_text(&text, v);
  tm_fault_set_text(&fault, tm_buf_str(&text), text.len);
  tm_fault_note(counts, &fault);
  tm_buf_release(&text);
  if (s->query->misfit != TM_MISFIT_ERROR)
    return 0;
  tm_fault_words(&words, &fault, schema);
  tm_err_set(err, TM_EDAMAGE, "row %lld of the mini-batch: %s", (long long)counts->rows + 1,
             tm_buf_str(&words));
  tm_buf_release(&words);
  return TM_EDAMAGE;
}

static int add_row(struct tm_sql_source *s, const struct tm_schema *schema,
                   struct tm_frame_builder *b, struct tm_row_counts *counts, struct tm_err *err)
{
  struct tm_sql_value v;
  int rc = 0;
  for (size_t i = 0; i < schema->len && rc == 0; i++) {
    struct tm_column_builder *column = &b->columns[i];
    if (column->is_left_out)
      continue;
    s->driver->value(s->db, i, &v);
    bool is_misfit = v.type != TM_SQL_NULL && !add_value(column, &schema->columns[i], &v);
    if (is_misfit)
      rc = note_misfit(s, schema, i, &v, counts, err);
    if (v.type == TM_SQL_NULL || is_misfit)
      tm_builder_add_null(column);
  }
  counts->rows++;
  return rc;
}

static int check_columns(const struct tm_sql_source *s, const struct tm_schema *schema,
                         struct tm_err *err)
{
  struct tm_schema names = { 0 };
  bool is_same;
  add_names(s, &names);
  is_same = names.len == schema->len;
  for (size_t i = 0; is_same && i < names.len; i++)
    is_same = strcmp(names.columns[i].name, schema->columns[i].name) == 0;
  tm_schema_release(&names);
  return is_same ? 0
                 : tm_err_set(err, TM_ECHANGED,
                              "the query has other columns than when the job began; a new job "
                              "takes them as they are");
}

static int check_bounds(const struct tm_sql_source *s, const struct tm_arena *arena,
                        struct tm_err *err)
{
  if (s->stop && tm_stop_is_set(s->stop))
    return tm_err_set(err, -ECANCELED, "the reading of rows was stopped");
  if (s->max_bytes == 0 || tm_arena_size(arena) <= s->max_bytes)
    return 0;
  return tm_err_set(
      err, TM_EUSAGE,
      "the query has more rows than fit into %zu MB, and 'partition_keys' needs them in "
      "memory: give it a 'key_column', so that they are read in pieces",
      s->max_bytes >> 20);
}

int tm_sql_source_load(struct tm_sql_source *s, int64_t begin, int64_t end,
                       const struct tm_schema *schema, struct tm_arena *arena,
                       struct tm_row_counts *counts, struct tm_data_frame *out, struct tm_err *err)
{
  struct tm_frame_builder b;
  int rc = ask_piece(s, NULL, begin, end, err);
  *counts = (struct tm_row_counts) { .rows = 0 };
  if (rc == 0)
    rc = check_columns(s, schema, err);
  if (rc < 0)
    return rc;
  tm_schema_begin_frame(schema, &b, arena);
  while ((rc = s->driver->next(s->db, err)) > 0)
    if ((rc = check_bounds(s, arena, err)) < 0 || (rc = add_row(s, schema, &b, counts, err)) < 0)
      break;
  if (rc == 0)
    tm_frame_builder_end(&b, out);
  return rc;
}
