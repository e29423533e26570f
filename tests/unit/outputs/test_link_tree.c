/* test_link_tree.c - gives a tree a second name. */
#include "unit.h"

#include "store_fixture.h"

#include <errno.h>

#include "outputs/link_tree.h"

static struct stat look(const char *dir, const char *name)
{
  char *path = tm_path_join(dir, name);
  struct stat st = { .st_ino = 0 };
  (void)lstat(path, &st);
  free(path);
  return st;
}

static bool leaves_logs_out(const char *relative)
{
  return strcmp(relative, "logs") == 0;
}

static int link_it(const char *dir, const char *from, const char *to, const atomic_bool *stop,
                   struct tm_err *err)
{
  char *a = tm_path_join(dir, from), *b = tm_path_join(dir, to);
  struct tm_link_tree tree = {
    .fs = tm_fs_real(), .from = a, .to = b, .is_left_out = leaves_logs_out, .stop = stop
  };
  int rc = tm_link_tree(&tree, err);
  free(a);
  free(b);
  return rc;
}

static void files_are_the_same_and_folders_are_not(void **state)
{
  char *link = tm_path_join(*state, "from/link");
  store_put(*state, "from/a/x", "text", 77);
  store_put(*state, "from/logs/y", "line", 77);
  assert_int_equal(symlink("a/x", link), 0);
  free(link);
  assert_int_equal(link_it(*state, "from", "to", NULL, NULL), 0);
  assert_true(look(*state, "to/a/x").st_ino == look(*state, "from/a/x").st_ino);
  assert_int_equal(look(*state, "to/a/x").st_mtim.tv_sec, 77);
  assert_true(S_ISLNK(look(*state, "to/link").st_mode));
  assert_true(look(*state, "to/a").st_ino != look(*state, "from/a").st_ino);
  assert_int_equal(look(*state, "to/logs").st_ino, 0);
}

/* Links work only within a file system; /dev/shm is a different one, if it exists. */
static void another_file_system_has_copies_with_their_times(void **state)
{
  char elsewhere[] = "/dev/shm/tidemill-link-XXXXXX";
  struct stat here = look(*state, ".");
  if (!mkdtemp(elsewhere) || look(elsewhere, ".").st_dev == here.st_dev)
    skip();
  store_put(*state, "from/x", "text", 77);
  char *from = tm_path_join(*state, "from"), *to = tm_path_join(elsewhere, "to");
  struct tm_link_tree tree = { .fs = tm_fs_real(), .from = from, .to = to };
  assert_int_equal(tm_link_tree(&tree, NULL), 0);
  assert_int_equal(look(to, "x").st_mtim.tv_sec, 77);
  assert_int_equal(look(to, "x").st_size, 4);
  assert_int_equal(tm_tree_remove(elsewhere, NULL), 0);
  free(from);
  free(to);
}

static void it_can_be_stopped(void **state)
{
  atomic_bool stop = true;
  struct tm_err err = TM_ERR_NONE;
  store_put(*state, "from/x", "text", 77);
  assert_int_equal(link_it(*state, "from", "to", &stop, &err), -ECANCELED);
}

static void a_missing_one_is_reported(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(link_it(*state, "from", "to", NULL, &err), -ENOENT);
  assert_non_null(strstr(err.text, "/from'"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(files_are_the_same_and_folders_are_not),
    TEST(another_file_system_has_copies_with_their_times),
    TEST(it_can_be_stopped),
    TEST(a_missing_one_is_reported),
});
