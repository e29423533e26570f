/* table.c - see table.h. */
#include "data/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/frame/frame.h"
#include "data/rows/header.h"
#include "data/rows/value.h"
#include "data/sql/query.h"

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

static int check_format(const char *column, const char *format, struct tm_err *err)
{
  const char *bad = tm_value_bad_format(format);
  return !bad ? 0
              : tm_err_set(err, TM_EUSAGE,
                           "'set_column_types': column '%s': '%.2s' in the format '%s' is not "
                           "known; accepted: %%Y %%y %%m %%b %%B %%d %%H %%I %%M %%S %%f %%p %%z "
                           "%%%%",
                           column, bad, format);
}

static int read_setting(struct tm_column_setting *s, const char *name, const struct tm_json *v,
                        struct tm_err *err)
{
  const struct tm_json *formats = tm_json_get(v, "formats");
  const char **texts = tm_xcalloc(tm_json_items(formats), sizeof(*texts));
  int rc = 0;
  s->type = (enum tm_column_type)tm_column_type_of(tm_json_str(v, "type", ""));
  tm_require(s->type != 0);
  s->name = tm_xstrdup(name);
  s->formats = texts;
  for (size_t i = 0; i < tm_json_items(formats) && rc == 0; i++) {
    texts[s->formats_len++] = tm_xstrdup(formats->list.at[i]->string.at);
    rc = check_format(name, texts[i], err);
  }
  return rc;
}

static int read_settings(struct tm_table *t, const struct tm_json *types, struct tm_err *err)
{
  int rc = 0;
  size_t n = types ? types->list.len : 0;
  t->settings = tm_xcalloc(n, sizeof(*t->settings));
  for (size_t i = 0; i < n && rc == 0; i++)
    rc = read_setting(&t->settings[t->settings_len++], types->keys[i], types->list.at[i], err);
  return rc;
}

static void read_columns(struct tm_table *t, const struct tm_json *names)
{
  const char **columns = tm_xcalloc(tm_json_items(names), sizeof(*columns));
  t->rows.columns = columns;
  for (size_t i = 0; i < tm_json_items(names); i++)
    columns[t->rows.columns_len++] = tm_xstrdup(names->list.at[i]->string.at);
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
  tm_dialect_read(&t->rows.dialect, options);
  int rc = 0;
  if (!tm_json_bool(options, "validate", true) && t->infers_types && format == TM_ROWS_DELIMITED)
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
