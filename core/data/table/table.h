/* table.h - the definition of a TabularDataset: the format of its rows, and which columns are read.
 * It looks at no file.
 */
#ifndef TM_DATA_TABLE_TABLE_H
#define TM_DATA_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "data/rows/infer.h"
#include "data/rows/reader.h"
#include "data/table/table_ops.h"

struct tm_sql_query;

struct tm_table {
  struct tm_rows_options rows;
  /* the query, if its files are databases; NULL: they are files of rows */
  struct tm_sql_query *sql;
  bool infers_types; /* else every column is a string unless set */
  bool has_path;     /* adds a column "Path" with the path of each row's file */
  struct tm_column_setting *settings;
  size_t settings_len;
  struct tm_table_ops ops;
};

/* From all options of a constructor, as tm_params_settle() returns them. ops: table_ops.h, or NULL.
 * NULL with a message without file:line. Free it. */
struct tm_table *tm_table_from_json(enum tm_rows_format format, const struct tm_json *options,
                                    const struct tm_json *ops, struct tm_err *err);
/* Whether the first line of a file is its header; NULL: no. */
bool tm_table_has_header(const struct tm_table *t);
/* For a table that has one, and no rows. */
#define TM_TABLE_HEADER_ADVICE                                                                     \
  "; the first line of a file is its header: if it is a row, set header = \"none\""
void tm_table_free(struct tm_table *t); /* NULL: a no-op */

#endif
