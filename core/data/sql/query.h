/* query.h - a table's query to a database, and its rows as frames.
 *
 * Without a key, the rows of the query are one piece. With a key, a column of integers, they are
 * split: a piece has the rows whose key is in [key_from + begin, key_from + end).
 *
 * Types: the first 200 rows determine the type of a column: integers are long, integers and reals
 * double, text and bytes string. If the database declares so, integers are bool, and text that fits
 * is datetime. A column without values has its declared type. A later value that does not fit (an
 * integer column of SQLite may hold text) is null and counted, or an error: on_misfit.
 */
#ifndef TM_DATA_SQL_QUERY_H
#define TM_DATA_SQL_QUERY_H

#include "base/json.h"
#include "data/frame/arena.h"
#include "data/frame/frame.h"
#include "data/rows/dialect.h"
#include "data/rows/fault.h"
#include "data/rows/infer.h"
#include "data/rows/schema.h"
#include "data/sql/sql.h"
#include "sys/stop.h"

struct tm_sql_query {
  char *text;
  char *key;         /* the column to split by, or NULL */
  int64_t from, end; /* of the keys: [from, end) */
  double timeout_s;
  enum tm_misfit misfit;
};

/* From all options of the constructor, as tm_params_settle() returns them. NULL with a message
 * without file:line. Free it. */
struct tm_sql_query *tm_sql_query_from_json(const struct tm_json *options, struct tm_err *err);
void tm_sql_query_free(struct tm_sql_query *q); /* NULL: a no-op */

/* A database for repeated use of one query. */
struct tm_sql_source {
  const struct tm_sql_query *query; /* belongs to the caller */
  const struct tm_sql_driver *driver;
  struct tm_sql *db;
  size_t len; /* of the query without its end; 0: unknown yet */
  /* For one piece, set by the caller after open: the limit of memory for its frame, 0: none; and a
   * flag that ends the reading of its rows with -ECANCELED, or NULL. */
  size_t max_bytes;
  const struct tm_stop *stop;
};
/* Fails like the driver. Close it in every case. */
int tm_sql_source_open(struct tm_sql_source *s, const struct tm_sql_query *q, const char *place,
                       struct tm_err *err);
void tm_sql_source_close(struct tm_sql_source *s);

/* Checks that the query is valid and has the key among its columns; reads no row. */
int tm_sql_source_check(struct tm_sql_source *s, struct tm_err *err);
/* Adds the columns, with the types of the first rows, overridden by `settings`. */
int tm_sql_source_find_schema(struct tm_sql_source *s, const struct tm_column_setting *settings,
                              size_t settings_len, struct tm_schema *out, struct tm_err *err);
/* The number of rows of a piece; `begin` and `end` count from the first key (without a key both are
 * 0). `all` false: only whether there is one. */
int64_t tm_sql_source_count(struct tm_sql_source *s, int64_t begin, int64_t end, bool all,
                            struct tm_err *err);
/* Loads the piece as a frame in the arena. `counts` gets the values that do not fit. TM_ECHANGED:
 * the query has other columns than the schema. */
int tm_sql_source_load(struct tm_sql_source *s, int64_t begin, int64_t end,
                       const struct tm_schema *schema, struct tm_arena *arena,
                       struct tm_row_counts *counts, struct tm_data_frame *out, struct tm_err *err);

#endif
