/* query.h - what a table asks of a database, and its rows as frames.
 *
 * Without a key the rows of the query are one piece. With one they are cut: rows whose key, a column of integers, is in
 * [key_from + begin, key_from + end).
 *
 * Types. A column is what its first 200 rows hold: integers are long, integers and reals double, text and bytes string; where the
 * database declares it so, integers are bool, and text that can be one is datetime. A column without a value is what its declaration
 * says. A value that does not fit later on (an integer column of SQLite may hold text) is null and counted, or an error: on_misfit.
 */
#ifndef TM_DATA_SQL_QUERY_H
#define TM_DATA_SQL_QUERY_H

#include "base/json.h"
#include "data/arena.h"
#include "data/frame.h"
#include "data/rows/dialect.h"
#include "data/rows/fault.h"
#include "data/rows/infer.h"
#include "data/rows/schema.h"
#include "data/sql/sql.h"
#include "sys/stop.h"

struct tm_sql_query {
  char *text;
  char *key;         /* the column that it is cut by, or NULL */
  int64_t from, end; /* of the keys: [from, end) */
  double timeout_s;
  enum tm_misfit misfit;
};

/* From the options of the constructor. NULL: words without a place. To free. */
struct tm_sql_query *tm_sql_query_from_json(const struct tm_json *options, struct tm_err *err);
void tm_sql_query_free(struct tm_sql_query *q); /* NULL: a no-op */

/* A database that is asked by one query, again and again. */
struct tm_sql_source {
  const struct tm_sql_query *query; /* the caller's */
  const struct tm_sql_driver *driver;
  struct tm_sql *db;
  size_t len; /* of the query without what is behind it; 0: not known yet */
  /* Of one piece, set by the caller after open: the most memory that its frame may take, 0: any; and what ends the reading of
   * its rows with -ECANCELED, or NULL. */
  size_t max_bytes;
  const struct tm_stop *stop;
};
/* Fails as the driver does. Close it in every case. */
int tm_sql_source_open(struct tm_sql_source *s, const struct tm_sql_query *q, const char *place,
                       struct tm_err *err);
void tm_sql_source_close(struct tm_sql_source *s);

/* The query is one, and has the key among its columns; no row is read. */
int tm_sql_source_check(struct tm_sql_source *s, struct tm_err *err);
/* Adds the columns, with the types of the first rows and, over them, `settings`. */
int tm_sql_source_find_schema(struct tm_sql_source *s, const struct tm_column_setting *settings,
                              size_t settings_len, struct tm_schema *out, struct tm_err *err);
/* The rows of a piece, `begin` and `end` from the first key on (without a key both are 0). `all` false: whether there is one. */
int64_t tm_sql_source_count(struct tm_sql_source *s, int64_t begin, int64_t end, bool all,
                            struct tm_err *err);
/* The piece as a frame in the arena. `counts` gets the values that do not fit. TM_ECHANGED: it has other columns than the schema. */
int tm_sql_source_load(struct tm_sql_source *s, int64_t begin, int64_t end,
                       const struct tm_schema *schema, struct tm_arena *arena,
                       struct tm_row_counts *counts, struct tm_data_frame *out, struct tm_err *err);

#endif
