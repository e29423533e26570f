/* test_sqlite.c - SQLite behind the struct of functions: what is refused, what is read, what takes
 * too long. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "data/sql/sql.h"
#include "folder.h"

struct world {
  struct folder folder;
  const struct tm_sql_driver *driver;
  struct tm_sql *db;
  struct tm_err err;
};

static sqlite3 *writer(struct world *w)
{
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(folder_file(&w->folder, "a.db"), &db), SQLITE_OK);
  return db;
}

static int setup(void **state)
{
  struct world *w = *state = TM_NEW(struct world);
  folder_init(&w->folder);
  sqlite3 *db = writer(w);
  assert_int_equal(
      sqlite3_exec(db,
                   "CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, s TEXT, b BLOB);"
                   "INSERT INTO t VALUES (1, 2.5, 'one', x'00ff'), (2, NULL, '', NULL)",
                   NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(db);
  w->driver = tm_sql_driver_of("a.db");
  w->db = w->driver->open(folder_file(&w->folder, "a.db"), &w->err);
  assert_non_null(w->db);
  return 0;
}

static int teardown(void **state)
{
  struct world *w = *state;
  w->driver->close(w->db);
  folder_release(&w->folder);
  free(w);
  return 0;
}

static void rows_have_their_values(void **state)
{
  struct world *w = *state;
  struct tm_sql_value v;
  int64_t two = 2;
  assert_int_equal(
      w->driver->ask(w->db, "SELECT *, id + 1 AS n FROM t -- all", NULL, 0, 5, &w->err), 0);
  assert_int_equal(w->driver->columns(w->db), 5);
  assert_string_equal(w->driver->column(w->db, 4), "n");
  assert_string_equal(w->driver->declared(w->db, 1), "REAL");
  assert_null(w->driver->declared(w->db, 4));
  assert_int_equal(w->driver->next(w->db, &w->err), 1);
  w->driver->value(w->db, 0, &v);
  assert_int_equal(v.type, TM_SQL_INT);
  w->driver->value(w->db, 1, &v);
  assert_true(v.type == TM_SQL_DOUBLE && v.number == 2.5);
  w->driver->value(w->db, 2, &v);
  assert_true(v.type == TM_SQL_TEXT && v.len == 3);
  w->driver->value(w->db, 3, &v);
  assert_true(v.type == TM_SQL_BYTES && v.len == 2 && memcmp(v.at, "\0\377", 2) == 0);
  assert_int_equal(w->driver->next(w->db, &w->err), 1);
  w->driver->value(w->db, 3, &v);
  assert_int_equal(v.type, TM_SQL_NULL);
  assert_int_equal(w->driver->next(w->db, &w->err), 0);
  assert_int_equal(w->driver->ask(w->db, "SELECT s FROM t WHERE id = ?1;", &two, 1, 5, &w->err), 0);
  assert_int_equal(w->driver->length(w->db), 30);
  assert_int_equal(w->driver->next(w->db, &w->err), 1);
  w->driver->value(w->db, 0, &v);
  assert_true(v.type == TM_SQL_TEXT && v.len == 0);
}

static void nothing_is_ever_written(void **state)
{
  static const char *const texts[] = { "DELETE FROM t",
                                       "INSERT INTO t DEFAULT VALUES RETURNING id",
                                       "CREATE TABLE u(a)",
                                       "SELECT 1; DELETE FROM t",
                                       "ATTACH 'b.db' AS b",
                                       "",
                                       "-- nothing",
                                       "SELECT FROM",
                                       "VACUUM" };
  struct world *w = *state;
  struct tm_sql_value v;
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++)
    assert_int_equal(w->driver->ask(w->db, texts[i], NULL, 0, 5, &w->err), TM_EUSAGE);
  assert_int_equal(w->driver->ask(w->db, "SELECT count(*) FROM t", NULL, 0, 5, &w->err), 0);
  assert_int_equal(w->driver->next(w->db, &w->err), 1);
  w->driver->value(w->db, 0, &v);
  assert_int_equal(v.integer, 2);
  assert_int_equal(folder_size(&w->folder, "b.db"), -1);
}

static void a_call_that_takes_too_long_is_abandoned(void **state)
{
  struct world *w = *state;
  const char *endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                        "SELECT count(*) FROM n";
  assert_int_equal(w->driver->ask(w->db, endless, NULL, 0, 0.05, &w->err), 0);
  assert_int_equal(w->driver->next(w->db, &w->err), TM_EINPUT);
  assert_non_null(strstr(w->err.text, "has not answered within query_timeout (0.05 s)"));
  sqlite3 *db = writer(w);
  assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
  struct tm_sql *other = w->driver->open(folder_file(&w->folder, "a.db"), &w->err);
  assert_int_equal(w->driver->ask(other, "SELECT * FROM t", NULL, 0, 0.05, &w->err), TM_EINUSE);
  w->driver->close(other);
  sqlite3_close(db);
}

static void a_file_that_is_not_a_database_is_reported(void **state)
{
  struct world *w = *state;
  folder_put(&w->folder, "text", 0,
             "this is a text, and a long one at that; more than a header of it", 64);
  struct tm_sql *db = w->driver->open(folder_file(&w->folder, "text"), &w->err);
  assert_non_null(db);
  assert_int_equal(w->driver->ask(db, "SELECT 1", NULL, 0, 5, &w->err), TM_EINPUT);
  assert_non_null(strstr(w->err.text, "is not an SQLite database"));
  w->driver->close(db);
  assert_null(w->driver->open(folder_file(&w->folder, "none"), &w->err));
  assert_int_equal(w->err.code, TM_EINPUT);
  assert_int_equal(folder_size(&w->folder, "none"), -1);
  w->driver->close(NULL);
}

/* SQLite opens a low descriptor once and leaves /dev/null there. */
static void closed_standard_descriptors_stay_closed(void **state)
{
  struct world *w = *state;
  int kept[3], left = 0;
  for (int i = 0; i < 3; i++) {
    kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    close(i);
  }
  struct tm_sql *db = w->driver->open(folder_file(&w->folder, "a.db"), &w->err);
  int rc = db ? w->driver->ask(db, "SELECT id FROM t ORDER BY x", NULL, 0, 5, &w->err) : -1;
  rc = rc == 0 ? w->driver->next(db, &w->err) : rc;
  w->driver->close(db);
  for (int i = 0; i < 3; i++) {
    left += fcntl(i, F_GETFD) >= 0;
    dup2(kept[i], i);
    close(kept[i]);
  }
  assert_int_equal(rc, 1);
  assert_int_equal(left, 0);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
UNIT_TESTS({
    TEST(rows_have_their_values),
    TEST(nothing_is_ever_written),
    TEST(a_call_that_takes_too_long_is_abandoned),
    TEST(a_file_that_is_not_a_database_is_reported),
    TEST(closed_standard_descriptors_stay_closed),
});
