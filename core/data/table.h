/* table.h - what the definition of a TabularDataset says of its rows: how they are written, which columns are read. Nothing is
 * looked at.
 */
#ifndef TM_DATA_TABLE_H
#define TM_DATA_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "data/rows/infer.h"
#include "data/rows/reader.h"
#include "data/table_ops.h"

struct tm_sql_query;

struct tm_table {
  struct tm_rows_options rows;
  struct tm_sql_query *sql; /* its files are databases, which are asked this; NULL: they are rows */
  bool infers_types;        /* else every column is a string, but for those that are set */
  bool has_path;            /* a column "Path" with the path of each row's file */
  struct tm_column_setting *settings;
  size_t settings_len;
  struct tm_table_ops ops;
};

/* From the options of a constructor, each in the form of its default (plan/params.h): header a word, set_column_types
 * {name: {type, formats}}. ops: table_ops.h, or NULL. Those that are not there have their defaults. NULL, with words without a place. To free. */
struct tm_table *tm_table_from_json(enum tm_rows_format format, const struct tm_json *options,
                                    const struct tm_json *ops, struct tm_err *err);
void tm_table_free(struct tm_table *t); /* NULL: a no-op */

/* The type that a definition calls so: "long", "int" and "integer", "double" and "float", "bool" and "boolean", "string",
 * "datetime"; 0: none is. */
int tm_table_type_of(const char *name);

#endif
