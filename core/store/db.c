/* db.c - see db.h.
 *
 *  (1) Write-ahead log, and an fsync at each commit: readers never wait for a writer, and a
 *      committed change survives a power failure. On file systems without shared memory, which the
 *      log needs, SQLite keeps its older journal.
 *  (2) The schema and its number (user_version) are made in one transaction. An empty file was left
 *      by a process that was killed before that; it counts as missing.
 *  (3) A transaction takes the write lock at its beginning: two that read first and write later
 *      could both be refused.
 *  (4) The file and those beside it are accessible to their owner alone, whatever the umask and the
 *      folder, because they hold arguments of scripts. SQLite gives the files beside it its own
 *      mode.
 *  (5) SQLite waits up to WAIT_MS; where it does not wait (while the log is set up), we retry.
 *
 * Each version of the schema adds to the one before. A database of a later version is refused.
 */
#include "store/db.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"
#include "sys/standard_fds.h"

#define APPLICATION_ID 0x746d6c6c /* "tmll" */
#define WAIT_MS        30000
#define ROUND_MS       20

struct tm_db {
  sqlite3 *handle;
  char *path;
  /* held while the database is open: SQLite would leave /dev/null there for good */
  struct tm_standard_fds low;
};

struct tm_query {
  struct tm_db *db;
  sqlite3_stmt *stmt;
};

/* What each version adds to the one before. */
static const char *const schemas[] = {
  "CREATE TABLE version("
  " id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,"
  " definition TEXT NOT NULL, description TEXT, tags TEXT, registered_ns INTEGER NOT NULL,"
  " files INTEGER NOT NULL, bytes INTEGER NOT NULL, hash INTEGER NOT NULL, is_listed INTEGER NOT "
  "NULL,"
  " source TEXT UNIQUE, job TEXT, step TEXT, UNIQUE(name, version));"
  "CREATE TABLE file("
  " version_id INTEGER NOT NULL, at INTEGER NOT NULL, path BLOB NOT NULL, size INTEGER NOT NULL,"
  " mtime_ns INTEGER NOT NULL, PRIMARY KEY(version_id, at)) WITHOUT ROWID;"
  "CREATE TABLE datastore("
  " name TEXT PRIMARY KEY, path TEXT NOT NULL, registered_ns INTEGER NOT NULL);"
  "CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT);",
  "CREATE TABLE result("
  " id INTEGER PRIMARY KEY, key TEXT NOT NULL, pipeline TEXT NOT NULL, step TEXT NOT NULL,"
  " job TEXT NOT NULL, definition TEXT NOT NULL, summary TEXT NOT NULL, completed_ns INTEGER NOT "
  "NULL,"
  " in_files INTEGER NOT NULL, in_bytes INTEGER NOT NULL, in_hash INTEGER NOT NULL,"
  " side_files INTEGER NOT NULL, side_bytes INTEGER NOT NULL, side_hash INTEGER NOT NULL,"
  " out_files INTEGER NOT NULL, out_bytes INTEGER NOT NULL, out_hash INTEGER NOT NULL,"
  " UNIQUE(job, step));"
  "CREATE INDEX result_key ON result(key);"
  "CREATE INDEX result_step ON result(pipeline, step);"
  "CREATE TABLE job("
  " dir TEXT PRIMARY KEY, pipeline TEXT NOT NULL, file TEXT, status TEXT NOT NULL,"
  " begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, steps INTEGER NOT NULL, reused INTEGER NOT "
  "NULL,"
  " total INTEGER NOT NULL, succeeded INTEGER NOT NULL, failed INTEGER NOT NULL,"
  " items_total INTEGER NOT NULL, items_failed INTEGER NOT NULL);"
  "CREATE INDEX job_begin ON job(begin_ns);",
  "ALTER TABLE job ADD COLUMN items_succeeded INTEGER NOT NULL DEFAULT -1;",
};
#define VERSION ((int64_t)TM_COUNT_OF(schemas))

/* Messages. */

static int fail_damaged(struct tm_err *err, const char *path, const char *why)
{
  return tm_err_set(
      err, TM_EDAMAGE,
      "the database '%s' is damaged: %s; move it away to begin a new one: jobs stay as "
      "they are, datasets and datastores have to be registered again",
      path, why);
}

/* The errno for an SQLite code. */
static int errno_of(struct sqlite3 *handle, int code)
{
  int found = sqlite3_system_errno(handle);
  switch (code & 0xff) {
  case SQLITE_READONLY: return -EROFS;
  case SQLITE_PERM:
  case SQLITE_AUTH: return -EACCES;
  case SQLITE_FULL: return -ENOSPC;
  case SQLITE_NOMEM: return -ENOMEM;
  case SQLITE_CANTOPEN: return found ? -found : -EACCES;
  default: return found ? -found : -EIO;
  }
}

static int fail(struct tm_db *db, int code, struct tm_err *err)
{
  switch (code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return tm_err_set(err, TM_EINUSE,
                      "the database '%s' is in use by another process, for longer than %d s; try "
                      "again when that has ended",
                      db->path, WAIT_MS / 1000);
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB: return fail_damaged(err, db->path, sqlite3_errmsg(db->handle));
  case SQLITE_READONLY:
    return tm_err_set(
        err, -EROFS,
        "the database '%s' cannot be written: the file, its folder or the file system "
        "is read-only; name another workspace in TIDEMILL_WORKSPACE",
        db->path);
  default:
    return tm_err_system(err, errno_of(db->handle, code), "cannot use the database '%s': %s",
                         db->path, sqlite3_errmsg(db->handle));
  }
}

/* Opening. */

static int run_text(struct tm_db *db, const char *sql, struct tm_err *err)
{
  int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? 0 : fail(db, code, err);
}

static int read_int(struct tm_db *db, const char *sql, int64_t *out, struct tm_err *err)
{
  struct tm_query *q = tm_db_ask(db, err, sql, "");
  int rc = q ? tm_query_next(q, err) : err->code;
  *out = rc > 0 ? tm_query_int(q, 0) : 0;
  tm_query_close(q);
  return rc < 0 ? rc : 0;
}

/* The schema version, or 0 for an empty file. All reads are in one transaction, because another
 * process may be making the schema. */
static int check_schema(struct tm_db *db, struct tm_err *err)
{
  int64_t id, version, tables;
  bool is_alone = sqlite3_get_autocommit(db->handle) != 0;
  int rc = is_alone ? run_text(db, "BEGIN", err) : 0;
  if (rc < 0 || (rc = read_int(db, "SELECT count(*) FROM sqlite_master", &tables, err)) < 0 ||
      (rc = read_int(db, "PRAGMA application_id", &id, err)) < 0 ||
      (rc = read_int(db, "PRAGMA user_version", &version, err)) < 0 ||
      (is_alone && (rc = run_text(db, "COMMIT", err)) < 0))
    return rc;
  if (id == 0 && version == 0 && tables == 0)
    return 0;
  if (id != APPLICATION_ID || version < 1)
    return fail_damaged(err, db->path, "it is a database of another program");
  if (version > VERSION)
    return tm_err_set(
        err, TM_EVERSION,
        "the database '%s' is of version %d, made by a later tidemill; this one knows "
        "version %d: use that tidemill, or name another workspace in "
        "TIDEMILL_WORKSPACE",
        db->path, (int)version, (int)VERSION);
  return (int)version;
}

/* Adds what is missing. Of two processes at once, the second finds what the first has made. Keeps
 * (2). */
static int make_schema(struct tm_db *db, struct tm_err *err)
{
  char *numbers = tm_xprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                             APPLICATION_ID, (int)VERSION);
  int rc = tm_db_begin(db, err), has;
  if (rc == 0 && (rc = has = check_schema(db, err)) >= 0) {
    for (rc = 0; has < (int)VERSION && rc == 0; has++)
      rc = run_text(db, schemas[has], err);
    if (rc == 0)
      rc = run_text(db, numbers, err);
  }
  free(numbers);
  return rc < 0 ? rc : 1;
}

/* Keeps (1) and (5): SQLite does not wait while another process sets up the log. */
static int set_up(struct tm_db *db, struct tm_err *err)
{
  for (int waited = 0;; waited += ROUND_MS) {
    int code = sqlite3_exec(db->handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK)
      return 0;
    if ((code & 0xff) != SQLITE_BUSY || waited >= WAIT_MS)
      return fail(db, code, err);
    sqlite3_sleep(ROUND_MS);
  }
}

static int open_handle(struct tm_db *db, const char *name, int flags, struct tm_err *err)
{
  int code =
      sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX, NULL);
  if (code != SQLITE_OK)
    return fail(db, code, err);
  sqlite3_extended_result_codes(db->handle, 1);
  sqlite3_busy_timeout(db->handle, WAIT_MS);
  return 0;
}

/* If nothing can be written and the log has no pending change: a name that opens the file as
 * immutable. */
static char *still_name(const char *path)
{
  struct tm_buf name = TM_BUF_NONE;
  char *log = tm_xprintf("%s-wal", path);
  struct stat st;
  bool has_log = stat(log, &st) == 0 && st.st_size > 0;
  free(log);
  if (has_log)
    return NULL;
  tm_buf_add_str(&name, "file:");
  for (const char *c = path; *c; c++)
    if (*c == '%' || *c == '?' || *c == '#')
      tm_buf_printf(&name, "%%%02X", (unsigned)*c);
    else
      tm_buf_add_char(&name, *c);
  tm_buf_add_str(&name, "?immutable=1");
  return tm_buf_take(&name);
}

static int open_to_read(struct tm_db *db, struct tm_err *err)
{
  struct stat st;
  char *name;
  int rc;
  if (stat(db->path, &st) < 0 && errno == ENOENT)
    return 0;
  rc = open_handle(db, db->path, SQLITE_OPEN_READWRITE, err);
  if (rc == 0)
    rc = check_schema(db, err);
  if ((rc != -EROFS && rc != -EACCES && rc != -ENOENT) || !(name = still_name(db->path)))
    return rc;
  sqlite3_close(db->handle);
  db->handle = NULL;
  rc = open_handle(db, name, SQLITE_OPEN_READONLY, err);
  free(name);
  return rc == 0 ? check_schema(db, err) : rc;
}

/* Keeps (4). SQLite reports failures better, so they are ignored here. */
static void close_to_others(const char *path)
{
  static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
  (void)tm_file_new_private(path);
  for (size_t i = 0; i < TM_COUNT_OF(ends); i++) {
    char *one = tm_xprintf("%s%s", path, ends[i]);
    (void)tm_file_make_private(one);
    free(one);
  }
}

static int open_to_write(struct tm_db *db, struct tm_err *err)
{
  close_to_others(db->path);
  int rc = open_handle(db, db->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
  if (rc == 0)
    rc = check_schema(db, err); /* first, so that a foreign file is not changed */
  if (rc < 0)
    return rc;
  if (sqlite3_db_readonly(db->handle, "main") == 1)
    return fail(db, SQLITE_READONLY, err);
  if (set_up(db, err) < 0)
    return err->code;
  return rc == (int)VERSION ? 1 : make_schema(db, err);
}

int tm_db_open(struct tm_db **out, const char *workspace, enum tm_db_mode mode, struct tm_err *err)
{
  tm_require(workspace[0]);
  struct tm_db *db = TM_NEW(struct tm_db);
  int rc;
  err = TM_ERR_OWN(err);
  db->path = tm_path_join(workspace, TM_DB_NAME);
  tm_standard_fds_hold(&db->low);
  rc = mode == TM_DB_READ ? open_to_read(db, err) : open_to_write(db, err);
  if (rc > 0 && rc < (int)VERSION) { /* of an earlier version: tables may be missing */
    sqlite3_close(db->handle);
    db->handle = NULL;
    rc = open_to_write(db, err);
  }
  *out = rc > 0 ? db : NULL;
  if (rc <= 0)
    tm_db_close(db);
  return rc > 0 ? 1 : rc;
}

uint64_t tm_db_stamp(const char *workspace)
{
  static const char *const files[] = { TM_DB_NAME, TM_DB_NAME "-wal", TM_DB_NAME "-journal" };
  int64_t facts[TM_COUNT_OF(files)][3] = { { 0 } };
  for (size_t i = 0; i < TM_COUNT_OF(files); i++) {
    char *path = tm_path_join(workspace, files[i]);
    struct tm_stat st;
    if (tm_fs_real()->stat(NULL, path, true, &st) == 0) {
      facts[i][0] = (int64_t)st.ino;
      facts[i][1] = st.size;
      facts[i][2] = st.mtime_ns;
    }
    free(path);
  }
  return tm_hash64(facts, sizeof(facts));
}

void tm_db_close(struct tm_db *db)
{
  if (!db)
    return;
  /* An open query would keep the database open, with its locks. */
  tm_check(sqlite3_close(db->handle) == SQLITE_OK);
  tm_standard_fds_release(&db->low);
  free(db->path);
  free(db);
}

int tm_db_begin(struct tm_db *db, struct tm_err *err)
{
  tm_require(sqlite3_get_autocommit(db->handle)); /* one transaction at a time */
  return run_text(db, "BEGIN IMMEDIATE", err);    /* keeps (3) */
}

int tm_db_commit(struct tm_db *db, struct tm_err *err)
{
  tm_require(!sqlite3_get_autocommit(db->handle));
  return run_text(db, "COMMIT", err);
}

/* Queries. */

static int bind_all(struct tm_query *q, struct tm_err *err, const char *types, va_list ap)
{
  tm_require((int)strlen(types) == sqlite3_bind_parameter_count(q->stmt));
  int code = SQLITE_OK;
  for (int i = 0; types[i] && code == SQLITE_OK; i++) {
    if (types[i] == 'i') {
      code = sqlite3_bind_int64(q->stmt, i + 1, va_arg(ap, int64_t));
    } else if (types[i] == 's') {
      code = sqlite3_bind_text(q->stmt, i + 1, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
    } else {
      const void *bytes = va_arg(ap, const void *);
      size_t len = va_arg(ap, size_t);
      tm_require(types[i] == 'b' && len <= INT32_MAX);
      code = sqlite3_bind_blob(q->stmt, i + 1, bytes, (int)len, SQLITE_TRANSIENT);
    }
  }
  return code == SQLITE_OK ? 0 : fail(q->db, code, err);
}

static struct tm_query *ask(struct tm_db *db, struct tm_err *err, const char *sql,
                            const char *types, va_list ap)
{
  struct tm_query *q = TM_NEW(struct tm_query);
  int code = sqlite3_prepare_v2(db->handle, sql, -1, &q->stmt, NULL);
  q->db = db;
  if (code != SQLITE_OK)
    fail(db, code, err);
  else if (bind_all(q, err, types, ap) == 0)
    return q;
  tm_query_close(q);
  return NULL;
}

struct tm_query *tm_db_ask(struct tm_db *db, struct tm_err *err, const char *sql, const char *types,
                           ...)
{
  struct tm_query *q;
  va_list ap;
  va_start(ap, types);
  q = ask(db, err, sql, types, ap);
  va_end(ap);
  return q;
}

int tm_query_again(struct tm_query *q, struct tm_err *err, const char *types, ...)
{
  va_list ap;
  int rc;
  sqlite3_reset(q->stmt);
  va_start(ap, types);
  rc = bind_all(q, err, types, ap);
  va_end(ap);
  return rc;
}

int tm_query_next(struct tm_query *q, struct tm_err *err)
{
  int code = sqlite3_step(q->stmt);
  if (code == SQLITE_ROW || code == SQLITE_DONE)
    return code == SQLITE_ROW;
  return fail(q->db, code, err);
}

int64_t tm_query_int(const struct tm_query *q, int column)
{
  tm_require(column >= 0 && column < sqlite3_column_count(q->stmt));
  return sqlite3_column_int64(q->stmt, column);
}

const char *tm_query_str(const struct tm_query *q, int column)
{
  tm_require(column >= 0 && column < sqlite3_column_count(q->stmt));
  return (const char *)sqlite3_column_text(q->stmt, column);
}

const void *tm_query_bytes(const struct tm_query *q, int column, size_t *len)
{
  tm_require(column >= 0 && column < sqlite3_column_count(q->stmt));
  const void *bytes = sqlite3_column_blob(q->stmt, column);
  *len = (size_t)sqlite3_column_bytes(q->stmt, column);
  return bytes;
}

void tm_query_close(struct tm_query *q)
{
  if (!q)
    return;
  sqlite3_finalize(q->stmt);
  free(q);
}

int tm_db_do(struct tm_db *db, struct tm_err *err, const char *sql, const char *types, ...)
{
  tm_require(sql[0]);
  struct tm_query *q;
  va_list ap;
  int rc;
  va_start(ap, types);
  q = ask(db, err, sql, types, ap);
  va_end(ap);
  if (!q)
    return err ? err->code : -EIO;
  while ((rc = tm_query_next(q, err)) > 0)
    ;
  tm_query_close(q);
  return rc;
}

void tm_db_library(struct tm_buf *out)
{
  tm_buf_printf(out, "sqlite %s", sqlite3_libversion());
}
