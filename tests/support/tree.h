/* tree.h - for tests: definitions as the constructors make them, and folders for their files. */
#ifndef TM_TEST_TREE_H
#define TM_TEST_TREE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

/* Parses JSON text, written with ' for ", into a tree; adds tag and place unless `tag` is NULL. */
static inline struct tm_json *tree(const char *tag, const char *where, const char *text)
{
  struct tm_err err = TM_ERR_NONE;
  char *json = tm_xstrdup(text);
  for (char *at = json; *at; at++)
    *at = *at == '\'' ? '"' : *at;
  struct tm_json *v = tm_json_parse(json, strlen(json), &err);
  if (!v) {
    fprintf(stderr, "%s: %s\n", err.text, json);
    abort();
  }
  free(json);
  v->tag = tm_xstrdup(tag);
  v->where = tm_xstrdup(where);
  return v;
}

/* Creates an empty folder; remove it with folder_remove(). */
static inline char *folder_make(void)
{
  char *dir = tm_xstrdup("/tmp/tidemill-test-XXXXXX");
  if (!mkdtemp(dir))
    abort();
  return dir;
}

static inline void folder_remove(char *dir)
{
  tm_tree_remove(dir, NULL);
  free(dir);
}

/* Creates a file in it, and the folders on the path. */
static inline void file_put(const char *dir, const char *name, const char *text, int mode)
{
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_path_join(dir, name), *parent = tm_path_dir(path);
  if (tm_fs_make_dirs(tm_fs_real(), parent, 0700, &err) < 0)
    abort();
  unlink(path);
  FILE *f = fopen(path, "w");
  if (!f || fputs(text, f) < 0 || fclose(f) != 0 || chmod(path, (mode_t)mode) != 0)
    abort();
  free(path);
  free(parent);
}

static inline char *file_text(const char *dir, const char *name)
{
  struct tm_buf out = TM_BUF_NONE;
  char *path = tm_path_join(dir, name);
  int rc = tm_fs_read_file(tm_fs_real(), path, 1 << 20, &out, NULL);
  free(path);
  if (rc < 0) {
    tm_buf_release(&out);
    return NULL;
  }
  return out.data ? tm_buf_take(&out) : tm_xstrdup("");
}

#endif
