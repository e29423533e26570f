/* test_table_load.c - a loader waits for files of the job, which another machine may see late, as
 * long as it may, and compares times unless sizes alone count. */
#include "unit.h"

#include <errno.h>

#include "base/time.h"
#include "data/rows/schema.h"
#include "data/table/schemas.h"
#include "data/table/table_load.h"
#include "table.h"
#include "tree_fixture.h"

#define LONG (60 * TM_S)

struct fixture {
  struct tm_fs fs; /* in which `late` is missing for the next `missing` opens */
  const char *late, *instead;
  int missing;
  char *dir, *schema_file, *tables, *path;
  struct tm_table_loader *loader;
  struct tm_buf item;
};

static int open_late(void *self, const char *path, int flags, int mode)
{
  struct fixture *x = self;
  const struct tm_fs *real = tm_fs_real();
  if (x->late && strcmp(path, x->late) == 0 && --x->missing >= 0)
    return x->instead ? real->open(real->self, x->instead, flags, mode) : -ENOENT;
  return real->open(real->self, path, flags, mode);
}

static int setup(void **state)
{
  struct fixture *x = TM_NEW(struct fixture);
  struct tm_schemas s;
  void *dir;
  if (tree_setup(&dir) < 0)
    return -1;
  x->dir = dir;
  x->fs = *tm_fs_real();
  x->fs.self = x;
  x->fs.open = open_late;
  x->schema_file = tm_path_join(x->dir, "schema.json");
  x->path = tm_path_join(x->dir, "a.csv");
  x->tables = tm_xprintf("[{\"kind\":\"delimited\",\"paths\":[\"%s\"]}]", x->path);
  tree_file(x->dir, "a.csv", "n\n1\n2\n", 6);
  tm_schemas_init(&s, 1);
  table_schema(&s.at[0], "n:long");
  assert_int_equal(tm_schemas_write(&s, tm_fs_real(), x->schema_file, NULL), 0);
  tm_schemas_release(&s);
  x->loader = tm_table_loader_new(&x->fs, x->tables, x->schema_file, NULL);
  *state = x;
  return 0;
}

static int teardown(void **state)
{
  struct fixture *x = *state;
  void *dir = x->dir;
  tm_table_loader_free(x->loader);
  tm_buf_release(&x->item);
  free(x->schema_file);
  free(x->tables);
  free(x->path);
  free(x);
  return tree_teardown(&dir);
}

/* `late_ns`: how much later the file was changed than it is now. */
static int load(struct fixture *x, int64_t late_ns, struct tm_err *err)
{
  struct tm_stat st;
  struct tm_data_frame frame = { 0 };
  assert_int_equal(tm_fs_real()->stat(NULL, x->path, true, &st), 0);
  struct tm_item item = { .path = x->path,
                          .path_len = strlen(x->path),
                          .size = st.size,
                          .mtime_ns = st.mtime_ns + late_ns,
                          .is_rows = true,
                          .begin = 2,
                          .end = 6,
                          .first_row = 0,
                          .rows = 2 };
  tm_buf_clear(&x->item);
  tm_item_add(&x->item, &item);
  int rc = tm_table_load(x->loader, 0, x->item.data, x->item.len,
                         (struct tm_rows_part) { .count = 0 }, &frame, err);
  if (rc == 0)
    assert_int_equal(frame.len, 2);
  return rc;
}

static void rows_are_loaded(void **state)
{
  struct fixture *x = *state;
  struct tm_err err = TM_ERR_NONE;
  if (load(x, 0, &err) < 0)
    fail_msg("%s", err.text);
}

static void a_missing_schema_is_awaited(void **state)
{
  struct fixture *x = *state;
  x->late = x->schema_file;
  x->missing = 3;
  tm_table_loader_wait(x->loader, LONG);
  assert_int_equal(load(x, 0, NULL), 0);
  assert_false(tm_table_loader_has_bad_state(x->loader));
}

/* The file is an old one for the next opens. */
static void the_loader_waits_while_the_schema_is_an_old_one(void **state)
{
  struct fixture *x = *state;
  struct tm_schemas s;
  char *old = tm_path_join(x->dir, "old.json");
  tm_schemas_init(&s, 1);
  assert_int_equal(tm_schemas_write(&s, tm_fs_real(), old, NULL), 0);
  tm_schemas_release(&s);
  x->late = x->schema_file;
  x->missing = 3;
  x->instead = old;
  tm_table_loader_wait(x->loader, LONG);
  assert_int_equal(load(x, 0, NULL), 0);
  assert_true(x->missing < 0);
  free(old);
}

/* Not the fault of an item: no row may be lost for it. */
static void a_schema_that_stays_away_is_damage(void **state)
{
  struct fixture *x = *state;
  struct tm_schemas s;
  tm_schemas_init(&s, 1);
  assert_int_equal(tm_schemas_write(&s, tm_fs_real(), x->schema_file, NULL), 0);
  tm_schemas_release(&s);
  tm_table_loader_wait(x->loader, TM_MS);
  assert_int_equal(load(x, 0, NULL), TM_EDAMAGE);
  assert_true(tm_table_loader_has_bad_state(x->loader));
}

static void a_schema_that_is_missing_here_is_damage(void **state)
{
  struct fixture *x = *state;
  x->late = x->schema_file;
  x->missing = 1;
  assert_int_equal(load(x, 0, NULL), -ENOENT);
  assert_true(tm_table_loader_has_bad_state(x->loader));
}

static void another_time_is_a_change_unless_only_sizes_count(void **state)
{
  struct fixture *x = *state;
  assert_int_equal(load(x, 1, NULL), TM_ECHANGED);
  tm_table_loader_compare_sizes(x->loader);
  assert_int_equal(load(x, 1, NULL), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
UNIT_TESTS({
    CASE(rows_are_loaded),
    CASE(a_missing_schema_is_awaited),
    CASE(the_loader_waits_while_the_schema_is_an_old_one),
    CASE(a_schema_that_stays_away_is_damage),
    CASE(a_schema_that_is_missing_here_is_damage),
    CASE(another_time_is_a_change_unless_only_sizes_count),
});
