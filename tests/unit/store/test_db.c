/* test_db.c - the database of a workspace: created completely or not at all, refused if it belongs
 * to another program, safe for two users at a time. */
#include "unit.h"

#include "store_fixture.h"

#include "store/db.h"

#define WRITERS 4
#define CHANGES 50

static struct tm_db *open_db(const char *dir, enum tm_db_mode mode)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_db *db = NULL;
  int rc = tm_db_open(&db, dir, mode, &err);
  if (rc < 0)
    fail_msg("%s", err.text);
  assert_int_equal(rc, db != NULL);
  return db;
}

static int64_t count(const char *dir)
{
  struct tm_db *db = open_db(dir, TM_DB_READ);
  struct tm_query *q = tm_db_ask(db, NULL, "SELECT count(*) FROM setting", "");
  int64_t n;
  assert_int_equal(tm_query_next(q, NULL), 1);
  n = tm_query_int(q, 0);
  tm_query_close(q);
  tm_db_close(db);
  return n;
}

static int put(struct tm_db *db, const char *name)
{
  struct tm_err err = TM_ERR_NONE;
  return tm_db_do(db, &err, "INSERT INTO setting VALUES (?, ?)", "ss", name, NULL);
}

static void only_a_writer_makes_the_database(void **state)
{
  struct tm_db *db = NULL;
  char *path = tm_path_join(*state, TM_DB_NAME);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_READ, NULL), 0);
  assert_null(db);
  assert_false(tm_fs_exists(tm_fs_real(), path));
  tm_db_close(open_db(*state, TM_DB_WRITE));
  assert_int_equal(count(*state), 0);
  free(path);
}

static void a_change_is_visible_once_it_is_committed(void **state)
{
  struct tm_db *db = open_db(*state, TM_DB_WRITE);
  assert_int_equal(tm_db_begin(db, NULL), 0);
  assert_int_equal(put(db, "a"), 0);
  tm_db_close(db); /* without a commit */
  assert_int_equal(count(*state), 0);
  db = open_db(*state, TM_DB_WRITE);
  assert_int_equal(tm_db_begin(db, NULL), 0);
  assert_int_equal(put(db, "a"), 0);
  assert_int_equal(tm_db_commit(db, NULL), 0);
  tm_db_close(db);
  assert_int_equal(count(*state), 1);
}

static void values_come_back(void **state)
{
  struct tm_db *db = open_db(*state, TM_DB_WRITE);
  struct tm_query *q = tm_db_ask(db, NULL, "SELECT ?, ?, ?, ?", "isbs", INT64_MIN, "a\xc3\xa4",
                                 (const void *)"x\0y", (size_t)3, NULL);
  size_t len;
  assert_int_equal(tm_query_next(q, NULL), 1);
  assert_true(tm_query_int(q, 0) == INT64_MIN);
  assert_string_equal(tm_query_str(q, 1), "a\xc3\xa4");
  assert_memory_equal(tm_query_bytes(q, 2, &len), "x\0y", 3);
  assert_int_equal(len, 3);
  assert_null(tm_query_str(q, 3));
  assert_int_equal(tm_query_next(q, NULL), 0);
  tm_query_close(q);
  tm_db_close(db);
}

static void a_file_that_is_not_a_database_is_damage(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_db *db = NULL;
  char text[5000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  store_put(*state, TM_DB_NAME, text, 1);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_READ, &err), TM_EDAMAGE);
  assert_words(&err, TM_EDAMAGE, "move it away");
  assert_int_equal(tm_db_open(&db, *state, TM_DB_WRITE, &err), TM_EDAMAGE);
  assert_null(db);
}

/* The header of SQLite's file: user_version at 60, application_id at 68, big-endian. */
static void patch(const char *dir, off_t at, const char *bytes, size_t n)
{
  char *path = tm_path_join(dir, TM_DB_NAME);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, bytes, n, at), n);
  close(fd);
  free(path);
}

static void a_later_version_and_another_program_are_refused(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_db *db = NULL;
  tm_db_close(open_db(*state, TM_DB_WRITE));
  patch(*state, 60, "\0\0\0\x63", 4);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_READ, &err), TM_EVERSION);
  assert_words(&err, TM_EVERSION, "version 99");
  assert_int_equal(tm_db_open(&db, *state, TM_DB_WRITE, &err), TM_EVERSION);
  patch(*state, 60, "\0\0\0\1", 4);
  patch(*state, 68, "\1\2\3\4", 4);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_WRITE, &err), TM_EDAMAGE);
  assert_words(&err, TM_EDAMAGE, "another program");
}

static void bad_pages_are_reported(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_db *db = open_db(*state, TM_DB_WRITE);
  char bad[4096];
  assert_int_equal(put(db, "a"), 0);
  tm_db_close(db);
  memset(bad, 0xff, sizeof(bad));
  for (off_t at = 4096; at < 16 * 4096; at += 4096)
    patch(*state, at, bad, sizeof(bad));
  db = open_db(*state, TM_DB_READ);
  assert_int_equal(tm_db_do(db, &err, "SELECT * FROM setting", ""), TM_EDAMAGE);
  tm_db_close(db);
}

static void an_empty_file_is_as_good_as_none(void **state)
{
  struct tm_db *db = NULL;
  store_put(*state, TM_DB_NAME, "", 1);
  assert_int_equal(tm_db_open(&db, *state, TM_DB_READ, NULL), 0);
  assert_null(db);
  tm_db_close(open_db(*state, TM_DB_WRITE));
  assert_int_equal(count(*state), 0);
}

static void it_can_be_read_where_nothing_can_be_written(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_db *db = open_db(*state, TM_DB_WRITE);
  if (!store_may_be_refused()) {
    tm_db_close(db);
    skip();
  }
  assert_int_equal(put(db, "a"), 0);
  tm_db_close(db);
  assert_int_equal(chmod(*state, 0500), 0);
  assert_int_equal(count(*state), 1);
  assert_true(tm_db_open(&db, *state, TM_DB_WRITE, &err) < 0);
  assert_int_equal(chmod(*state, 0700), 0);
}

/* In its own process: opens the database, which may create it, and adds rows. */
static void write_many(const char *dir, int who)
{
  for (int i = 0; i < CHANGES; i++) {
    struct tm_db *db = NULL;
    struct tm_err err = TM_ERR_NONE;
    char name[32];
    snprintf(name, sizeof(name), "%d-%d", who, i);
    if (tm_db_open(&db, dir, TM_DB_WRITE, &err) < 1 || tm_db_begin(db, &err) < 0 ||
        put(db, name) < 0 || tm_db_commit(db, &err) < 0)
      _exit(1);
    tm_db_close(db);
  }
  _exit(0);
}

/* Creation itself: nobody mistakes a half-made database for another program's. */
static void many_at_once_make_one(void **state)
{
  for (int round = 0; round < 20; round++) {
    char *dir = tm_xprintf("%s/%d", (const char *)*state, round);
    pid_t pids[WRITERS];
    assert_int_equal(tm_fs_make_dirs(tm_fs_real(), dir, 0700, NULL), 0);
    for (int i = 0; i < WRITERS; i++)
      if ((pids[i] = fork()) == 0) {
        struct tm_db *db = NULL;
        _exit(tm_db_open(&db, dir, TM_DB_WRITE, NULL) != 1);
      }
    for (int i = 0; i < WRITERS; i++) {
      int status = 0;
      assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
      assert_int_equal(status, 0);
    }
    free(dir);
  }
}

static void many_at_once_lose_nothing(void **state)
{
  pid_t pids[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    pids[i] = fork();
    assert_true(pids[i] >= 0);
    if (pids[i] == 0)
      write_many(*state, i);
  }
  for (int i = 0; i < WRITERS; i++) {
    int status = 0;
    assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
    assert_int_equal(status, 0);
  }
  assert_int_equal(count(*state), WRITERS * CHANGES);
}

/* The mode of the database, or of a file beside it; 0: it does not exist. */
static mode_t mode_of(const char *dir, const char *end)
{
  char *path = tm_xprintf("%s/" TM_DB_NAME "%s", dir, end);
  struct stat st = { .st_mode = 0 };
  (void)stat(path, &st);
  free(path);
  return st.st_mode & 07777;
}

static void it_is_for_its_owner_alone_also_one_that_was_not(void **state)
{
  static const char *const ends[] = { "", "-wal", "-shm" };
  mode_t before = umask(0);
  for (int again = 0; again < 2; again++) {
    struct tm_db *db = open_db(*state, TM_DB_WRITE);
    assert_int_equal(tm_db_begin(db, NULL), 0);
    assert_int_equal(put(db, again ? "b" : "a"), 0);
    assert_int_equal(tm_db_commit(db, NULL), 0);
    for (size_t i = 0; i < TM_COUNT_OF(ends); i++) {
      char *path = tm_xprintf("%s/" TM_DB_NAME "%s", (char *)*state, ends[i]);
      assert_int_equal(mode_of(*state, ends[i]), 0600);
      assert_int_equal(chmod(path, 0664), 0); /* as if another program had made it */
      free(path);
    }
    tm_db_close(db);
    assert_int_equal(mode_of(*state, ""), 0664);
  }
  tm_db_close(open_db(*state, TM_DB_WRITE));
  assert_int_equal(mode_of(*state, ""), 0600);
  umask(before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(only_a_writer_makes_the_database),
    TEST(a_change_is_visible_once_it_is_committed),
    TEST(values_come_back),
    TEST(a_file_that_is_not_a_database_is_damage),
    TEST(a_later_version_and_another_program_are_refused),
    TEST(bad_pages_are_reported),
    TEST(an_empty_file_is_as_good_as_none),
    TEST(it_can_be_read_where_nothing_can_be_written),
    TEST(it_is_for_its_owner_alone_also_one_that_was_not),
    TEST(many_at_once_make_one),
    TEST(many_at_once_lose_nothing),
});
