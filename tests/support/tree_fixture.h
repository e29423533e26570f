/* tree_fixture.h - a temporary folder for one test, with its files. The teardown removes it.
 *
 * Use tree_setup and tree_teardown as cmocka's setup and teardown; *state is the path of the
 * folder.
 */
#ifndef TM_TESTS_TREE_FIXTURE_H
#define TM_TESTS_TREE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

static inline int tree_setup(void **state)
{
  char name[] = "/tmp/tidemill-test-XXXXXX";
  if (mkdtemp(name) == NULL)
    return -1;
  *state = tm_xstrdup(name);
  return chmod(name, 0755);
}

static inline int tree_teardown(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_tree_remove(*state, &err);
  free(*state);
  return rc;
}

static inline void tree_folder(const char *root, const char *path)
{
  struct tm_err err = TM_ERR_NONE;
  char *whole = tm_path_join(root, path);
  if (tm_fs_make_dirs(tm_fs_real(), whole, 0755, &err) < 0)
    fail_msg("%s", err.text);
  free(whole);
}

/* Creates a file with these contents, and the folders that are missing. */
static inline void tree_file(const char *root, const char *path, const void *p, size_t n)
{
  char *whole = tm_path_join(root, path), *dir = tm_path_dir(whole);
  tree_folder(root, dir);
  FILE *f = fopen(whole, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(p, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
  free(whole);
  free(dir);
}

static inline void tree_link(const char *root, const char *path, const char *target)
{
  char *whole = tm_path_join(root, path), *dir = tm_path_dir(whole);
  tree_folder(root, dir);
  assert_int_equal(symlink(target, whole), 0);
  free(whole);
  free(dir);
}

#endif
