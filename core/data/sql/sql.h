/* sql.h - a database as a struct of functions, so that others than SQLite are possible. It is never
 * written.
 *
 * Steps: open; ask() a query; next() until 0 (the columns are known after ask(), the values after
 * each 1); ask() another one; close. Used by one thread. Returned memory is valid until the next
 * call that changes it.
 */
#ifndef TM_DATA_SQL_SQL_H
#define TM_DATA_SQL_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum tm_sql_type { TM_SQL_NULL, TM_SQL_INT, TM_SQL_DOUBLE, TM_SQL_TEXT, TM_SQL_BYTES };

struct tm_sql_value {
  enum tm_sql_type type;
  int64_t integer;
  double number;
  const char *at; /* of text and bytes; not NUL-ended */
  size_t len;
};

struct tm_sql;

struct tm_sql_driver {
  const char *name;
  /* `place` as in the definition, made absolute: for SQLite a file. TM_EINPUT: it is not a
   * database, or does not exist. */
  struct tm_sql *(*open)(const char *place, struct tm_err *err);
  void (*close)(struct tm_sql *db); /* NULL: a no-op */
  /* `numbers` are the values of ?1, ?2, ... The first row, and a lock of another program, may take
   * timeout_s. TM_EUSAGE with the database's message: not a query, more than one, or one that
   * writes. TM_EINUSE: locked for too long; TM_EINPUT: no answer in time. */
  int (*ask)(struct tm_sql *db, const char *text, const int64_t *numbers, size_t n,
             double timeout_s, struct tm_err *err);
  size_t (*length)(const struct tm_sql *db); /* of the query's text, up to its end or a ';' */
  int (*next)(struct tm_sql *db, struct tm_err *err); /* 1, or 0 at the end */
  size_t (*columns)(const struct tm_sql *db);
  const char *(*column)(const struct tm_sql *db, size_t i);
  /* The declared type of the table's column ("VARCHAR(20)"), or NULL for an expression. */
  const char *(*declared)(const struct tm_sql *db, size_t i);
  void (*value)(const struct tm_sql *db, size_t i, struct tm_sql_value *out);
};

const struct tm_sql_driver *tm_sql_sqlite(void);
/* The driver for a place. SQLite is the only one. */
const struct tm_sql_driver *tm_sql_driver_of(const char *place);

#endif
