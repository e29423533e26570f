/* store_fixture.h - a folder with files and datasets on them, for tests of the store. */
#ifndef TM_TESTS_STORE_FIXTURE_H
#define TM_TESTS_STORE_FIXTURE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/dataset.h"
#include "sys/fs.h"

static inline int store_open(void **state)
{
  char *dir = tm_xstrdup("/tmp/tidemill-store-XXXXXX");
  *state = mkdtemp(dir);
  return *state ? 0 : -1;
}

static inline int store_close(void **state)
{
  int rc = tm_tree_remove(*state, NULL);
  free(*state);
  return rc;
}

/* Writes a file with this text and modification time (in seconds). */
static inline void store_put(const char *dir, const char *name, const char *text, time_t mtime)
{
  char *path = tm_path_join(dir, name), *folder = tm_path_dir(path);
  struct timespec times[2] = { { .tv_sec = mtime }, { .tv_sec = mtime } };
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), folder, 0700, NULL), 0);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
  free(folder);
  free(path);
}

static inline void store_take_away(const char *dir, const char *name)
{
  char *path = tm_path_join(dir, name);
  assert_int_equal(unlink(path), 0);
  free(path);
}

/* from_files(paths); blanks separate the paths. */
static inline struct tm_dataset *store_files(const char *dir, const char *paths)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *list = tm_json_new(TM_JSON_ARRAY);
  struct tm_err err = TM_ERR_NONE;
  struct tm_dataset *d;
  char *copy = tm_xstrdup(paths), *rest = copy;
  for (char *p; (p = strtok_r(rest, " ", &rest));)
    tm_json_add(list, tm_json_new_string(p));
  tm_json_set(v, "kind", tm_json_new_string("files"));
  tm_json_set(v, "paths", list);
  tm_json_set(v, "base_dir", tm_json_new_string(dir));
  d = tm_dataset_from_json(v, &err);
  if (!d)
    fail_msg("%s", err.text);
  tm_json_free(v);
  free(copy);
  return d;
}

static inline void assert_words(const struct tm_err *err, int code, const char *part)
{
  if (err->code != code)
    fail_msg("code %d, not %d: %s", err->code, code, err->text);
  if (!strstr(err->text, part))
    fail_msg("'%s' is not in: %s", part, err->text);
}

/* Whether the test can make its folder read-only. Root can always write. */
static inline bool store_may_be_refused(void)
{
  return geteuid() != 0;
}

#endif
