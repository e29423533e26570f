/* table.c - see table.h. */
#include "data/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/frame/frame.h"
#include "data/rows/header.h"
#include "data/rows/value.h"
#include "data/sql/query.h"

int tm_table_type_of(const char *name)
{
  static const struct {
    const char *name;
    int type;
  } others[] = { { "int", TM_COLUMN_LONG },
                 { "integer", TM_COLUMN_LONG },
                 { "float", TM_COLUMN_DOUBLE },
                 { "boolean", TM_COLUMN_BOOL } };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    if (strcmp(others[i].name, name) == 0)
      return others[i].type;
  return tm_column_type_of(name);
}

static void free_formats(struct tm_column_setting *s)
{
  for (size_t i = 0; i < s->formats_len; i++)
    free((char *)(uintptr_t)s->formats[i]);
  free((void *)(uintptr_t)s->formats);
  free((char *)(uintptr_t)s->name);
}

void tm_table_free(struct tm_table *t)
{
  if (!t)
    return;
  for (size_t i = 0; i < t->settings_len; i++)
    free_formats(&t->settings[i]);
  free(t->settings);
  for (size_t i = 0; i < t->rows.columns_len; i++)
    free((char *)(uintptr_t)t->rows.columns[i]);
  free((void *)(uintptr_t)t->rows.columns);
  tm_sql_query_free(t->sql);
  tm_table_ops_release(&t->ops);
  free(t);
}

static int read_setting(struct tm_column_setting *s, const char *name, const struct tm_json *v,
                        struct tm_err *err)
{
  const struct tm_json *formats = tm_json_get(v, "formats");
  size_t n = formats && formats->type == TM_JSON_ARRAY ? formats->list.len : 0;
  const char **texts = tm_xcalloc(n, sizeof(*texts));
  s->type = (enum tm_column_type)tm_table_type_of(tm_json_str(v, "type", ""));
  s->name = tm_xstrdup(name);
  s->formats = texts;
  for (size_t i = 0; i < n; i++)
    if (formats->list.at[i]->type == TM_JSON_STRING)
      texts[s->formats_len++] = tm_xstrdup(formats->list.at[i]->string.at);
  for (size_t i = 0; i < s->formats_len; i++) {
    const char *bad = tm_value_bad_format(texts[i]);
    if (bad)
      return tm_err_set(err, TM_EUSAGE,
                        "'set_column_types': column '%s': '%.2s' in the format '%s' is not known; "
                        "accepted: %%Y %%y %%m %%b %%B %%d %%H %%I %%M %%S %%f %%p %%z %%%%",
                        name, bad, texts[i]);
  }
  if (s->type == 0 || s->formats_len < n)
    return tm_err_set(err, TM_EUSAGE, "the type of column '%s' cannot be read", name);
  return 0;
}

static int read_settings(struct tm_table *t, const struct tm_json *types, struct tm_err *err)
{
  if (!types || types->type != TM_JSON_OBJECT)
    return 0;
  t->settings = tm_xcalloc(types->list.len, sizeof(*t->settings));
  for (size_t i = 0; i < types->list.len; i++)
    if (read_setting(&t->settings[t->settings_len++], types->keys[i], types->list.at[i], err) < 0)
      return TM_EUSAGE;
  return 0;
}

static void read_columns(struct tm_table *t, const struct tm_json *names)
{
  size_t n = tm_json_items(names);
  const char **columns = tm_xcalloc(n, sizeof(*columns));
  t->rows.columns = columns;
  for (size_t i = 0; i < n; i++)
    if (names->list.at[i]->type == TM_JSON_STRING)
      columns[t->rows.columns_len++] = tm_xstrdup(names->list.at[i]->string.at);
}

static int read_dialect(struct tm_dialect *d, const struct tm_json *o, struct tm_err *err)
{
  d->multi_line = tm_json_bool(o, "support_multi_line", false);
  d->limits.columns = (size_t)tm_json_int(o, "max_columns", 0);
  d->limits.record = (size_t)tm_json_int(o, "max_record_size", 0);
  d->empty_as_string = tm_json_bool(o, "empty_as_string", false);
  if (tm_separator_parse(tm_json_str(o, "separator", ","), &d->separator, err) < 0 ||
      tm_header_mode_parse(tm_json_str(o, "header", "true"), &d->header, err) < 0 ||
      tm_encoding_parse(tm_json_str(o, "encoding", "utf8"), &d->encoding, err) < 0 ||
      tm_ragged_parse(tm_json_str(o, "on_ragged", "null"), &d->ragged, err) < 0 ||
      tm_misfit_parse(tm_json_str(o, "on_misfit", "null"), &d->misfit, err) < 0)
    return TM_EUSAGE;
  return 0;
}

struct tm_table *tm_table_from_json(enum tm_rows_format format, const struct tm_json *options,
                                    const struct tm_json *ops, struct tm_err *err)
{
  struct tm_table *t = TM_NEW(struct tm_table);
  t->rows.format = format;
  tm_dialect_init(&t->rows.dialect);
  t->rows.drop_invalid = strcmp(tm_json_str(options, "invalid_lines", "error"), "drop") == 0;
  read_columns(t, tm_json_get(options, "columns"));
  t->infers_types = tm_json_bool(options, "infer_column_types", true);
  t->has_path = tm_json_bool(options, "include_path", false);
  bool validates = tm_json_bool(options, "validate", true);
  int rc = read_dialect(&t->rows.dialect, options, err);
  if (rc == 0 && !validates && t->infers_types && format == TM_ROWS_DELIMITED)
    rc = tm_err_set(err, TM_EUSAGE,
                    "'validate' is false, and types are inferred from the first rows: give "
                    "infer_column_types = false, too");
  if (rc == 0)
    rc = read_settings(t, tm_json_get(options, "set_column_types"), err);
  if (rc == 0 && format == TM_ROWS_SQL && !(t->sql = tm_sql_query_from_json(options, err)))
    rc = TM_EUSAGE;
  int rc_ops = tm_table_ops_read(&t->ops, ops, rc == 0 ? err : NULL);
  if (rc == 0 && rc_ops == 0)
    return t;
  tm_table_free(t);
  return NULL;
}

bool tm_table_has_header(const struct tm_table *t)
{
  return t && t->rows.format == TM_ROWS_DELIMITED && tm_header_is_there(&t->rows.dialect, true);
}
