/* sqlite.c - SQLite behind sql.h.
 *
 *  (1) The file is opened read-only, and a statement that would write is refused before it runs.
 *  (2) Two mechanisms keep the time limit: SQLite waits at most that long for a lock, and regularly
 *      asks us whether to continue. After the first row there is no limit: readers have limits of
 *      their own.
 */
#include <errno.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "base/time.h"
#include "data/sql/sql.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/standard_fds.h"

#define INSTRUCTIONS 10000 /* of SQLite, between two looks at the clock */

struct tm_sql {
  sqlite3 *handle;
  /* held while the database is open: SQLite would leave /dev/null there for good */
  struct tm_standard_fds low;
  sqlite3_stmt *stmt;
  char *path;
  double timeout_s;
  int64_t deadline_ns; /* monotonic; 0: none */
  size_t length;       /* of the statement */
  bool is_looked_at;   /* it was verified to be a database */
};

static int is_over(void *data)
{
  const struct tm_sql *db = data;
  return db->deadline_ns != 0 && tm_clock_mono_ns() > db->deadline_ns;
}

static int fail(const struct tm_sql *db, int code, struct tm_err *err)
{
  const char *why = db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code);
  switch (code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return tm_err_set(err, TM_EINUSE,
                      "database '%s' is locked by another program, for longer than query_timeout "
                      "(%g s)",
                      db->path, db->timeout_s);
  case SQLITE_INTERRUPT:
    return tm_err_set(err, TM_EINPUT, "database '%s' has not answered within query_timeout (%g s)",
                      db->path, db->timeout_s);
  case SQLITE_NOTADB: return tm_err_set(err, TM_EINPUT, "'%s' is not an SQLite database", db->path);
  case SQLITE_CORRUPT:
    return tm_err_set(err, TM_EDAMAGE, "database '%s' is damaged: %s", db->path, why);
  case SQLITE_NOMEM: return tm_err_system(err, -ENOMEM, "database '%s'", db->path);
  case SQLITE_IOERR:
  case SQLITE_CANTOPEN:
    return tm_err_set(err, TM_EINPUT,
                      "cannot read database '%s': %s; one with a write-ahead log is read only "
                      "where its folder may be written",
                      db->path, why);
  default: return tm_err_set(err, TM_EUSAGE, "database '%s': %s", db->path, why);
  }
}

static void sqlite_close(struct tm_sql *db)
{
  if (!db)
    return;
  sqlite3_finalize(db->stmt);
  sqlite3_close(db->handle);
  tm_standard_fds_release(&db->low);
  free(db->path);
  free(db);
}

/* SQLite would block on a pipe. Paths without a stat are left to SQLite, which reports them. */
static int refuse_pipe(const char *place, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  if (fs->stat(fs->self, place, true, &st) < 0 || S_ISREG(st.mode) || S_ISDIR(st.mode))
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' is not a file, but a pipe or a device; accepted: a database", place);
}

static struct tm_sql *sqlite_open(const char *place, struct tm_err *err)
{
  if (refuse_pipe(place, err) < 0)
    return NULL;
  struct tm_sql *db = TM_NEW(struct tm_sql);
  db->path = tm_xstrdup(place);
  tm_standard_fds_hold(&db->low);
  int code = sqlite3_open_v2(place, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
  if (code == SQLITE_OK) {
    sqlite3_progress_handler(db->handle, INSTRUCTIONS, is_over, db);
    return db;
  }
  fail(db, code, err);
  sqlite_close(db);
  return NULL;
}

/* Whether the text has only blanks and comments. */
static bool is_nothing(struct tm_sql *db, const char *text)
{
  sqlite3_stmt *more = NULL;
  bool is_ok = sqlite3_prepare_v2(db->handle, text, -1, &more, NULL) == SQLITE_OK;
  bool has_more = more != NULL;
  sqlite3_finalize(more);
  return is_ok && !has_more;
}

static int check(struct tm_sql *db, const char *rest, struct tm_err *err)
{
  if (!db->stmt)
    return tm_err_set(err, TM_EUSAGE, "the query is empty; accepted: a SELECT");
  if (!is_nothing(db, rest))
    return tm_err_set(err, TM_EUSAGE, "the query is more than one statement; accepted: a SELECT");
  if (!sqlite3_stmt_readonly(db->stmt)) /* keeps (1) */
    return tm_err_set(err, TM_EUSAGE,
                      "the query writes, and a dataset is only read; accepted: a SELECT");
  if (sqlite3_column_count(db->stmt) == 0)
    return tm_err_set(err, TM_EUSAGE, "the query has no columns; accepted: a SELECT");
  return 0;
}

/* A query without a table would never have SQLite look at the file. */
static int look_at(struct tm_sql *db)
{
  int code = db->is_looked_at ? SQLITE_OK
                              : sqlite3_exec(db->handle, "PRAGMA schema_version", NULL, NULL, NULL);
  db->is_looked_at = code == SQLITE_OK;
  return code;
}

static int sqlite_ask(struct tm_sql *db, const char *text, const int64_t *numbers, size_t n,
                      double timeout_s, struct tm_err *err)
{
  const char *rest = NULL;
  sqlite3_finalize(db->stmt);
  db->stmt = NULL;
  db->timeout_s = timeout_s;
  db->deadline_ns = tm_clock_mono_ns() + (int64_t)(timeout_s * (double)TM_S); /* keeps (2) */
  sqlite3_busy_timeout(db->handle, (int)(timeout_s * 1e3));
  int code = look_at(db);
  if (code == SQLITE_OK)
    code = sqlite3_prepare_v2(db->handle, text, -1, &db->stmt, &rest);
  if (code != SQLITE_OK)
    return fail(db, code, err);
  db->length = (size_t)(rest - text);
  int rc = check(db, rest, err);
  for (size_t i = 0; i < n && rc == 0; i++)
    if ((code = sqlite3_bind_int64(db->stmt, (int)i + 1, numbers[i])) != SQLITE_OK)
      rc = fail(db, code, err);
  return rc;
}

static size_t sqlite_length(const struct tm_sql *db)
{
  return db->length;
}

static int sqlite_next(struct tm_sql *db, struct tm_err *err)
{
  int code = sqlite3_step(db->stmt);
  db->deadline_ns = 0;
  if (code == SQLITE_ROW)
    return 1;
  return code == SQLITE_DONE ? 0 : fail(db, code, err);
}

static size_t sqlite_columns(const struct tm_sql *db)
{
  return (size_t)sqlite3_column_count(db->stmt);
}

static const char *sqlite_column(const struct tm_sql *db, size_t i)
{
  const char *name = sqlite3_column_name(db->stmt, (int)i);
  return name ? name : "";
}

static const char *sqlite_declared(const struct tm_sql *db, size_t i)
{
  return sqlite3_column_decltype(db->stmt, (int)i);
}

static void sqlite_value(const struct tm_sql *db, size_t i, struct tm_sql_value *out)
{
  int at = (int)i, type = sqlite3_column_type(db->stmt, at);
  *out = (struct tm_sql_value) { .type = TM_SQL_NULL };
  if (type == SQLITE_INTEGER) {
    out->type = TM_SQL_INT;
    out->integer = sqlite3_column_int64(db->stmt, at);
  } else if (type == SQLITE_FLOAT) {
    out->type = TM_SQL_DOUBLE;
    out->number = sqlite3_column_double(db->stmt, at);
  } else if (type != SQLITE_NULL) {
    out->type = type == SQLITE_TEXT ? TM_SQL_TEXT : TM_SQL_BYTES;
    out->at = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(db->stmt, at)
                                  : sqlite3_column_blob(db->stmt, at);
    out->len = (size_t)sqlite3_column_bytes(db->stmt, at);
    out->at = out->at ? out->at : "";
  }
}

const struct tm_sql_driver *tm_sql_sqlite(void)
{
  static const struct tm_sql_driver driver = {
    .name = "SQLite",
    .open = sqlite_open,
    .close = sqlite_close,
    .ask = sqlite_ask,
    .length = sqlite_length,
    .next = sqlite_next,
    .columns = sqlite_columns,
    .column = sqlite_column,
    .declared = sqlite_declared,
    .value = sqlite_value,
  };
  return &driver;
}

const struct tm_sql_driver *tm_sql_driver_of(const char *place)
{
  return tm_sql_sqlite();
}
