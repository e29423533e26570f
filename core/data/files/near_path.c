/* near_path.c - see near_path.h. */
#include "data/files/near_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"

#define NAMES_MAX 1000

struct names {
  struct TM_ARRAY(char *) all;
  bool takes_hidden;
};

static int on_name(void *data, const char *name, int type)
{
  struct names *n = data;
  if (n->all.len == NAMES_MAX)
    return -ECANCELED;
  if (name[0] != '.' || n->takes_hidden)
    *TM_ARRAY_ADD(&n->all) = tm_xstrdup(name);
  return 0;
}

/* The path with `name` replaced by the nearest name in `folder`, or NULL. */
static char *replace(const struct tm_fs *fs, const char *folder, const char *name, const char *rest)
{
  struct names names = { .takes_hidden = name[0] == '.' };
  char *path = NULL;
  int rc = fs->dir_read(fs->self, folder, on_name, &names);
  const char *nearest = NULL;
  if (name[0] && name[1] && (rc == 0 || rc == -ECANCELED)) /* a single letter is near every other */
    nearest = tm_text_nearest(name, (const char *const *)names.all.at, names.all.len);
  if (nearest)
    path = tm_xprintf("%s/%s%s%s", strcmp(folder, "/") == 0 ? "" : folder, nearest,
                      *rest ? "/" : "", rest);
  TM_ARRAY_RELEASE_EACH(&names.all);
  if (path && !tm_fs_exists(fs, path)) {
    free(path);
    path = NULL;
  }
  return path;
}

char *tm_near_path(const struct tm_fs *fs, const char *path)
{
  tm_require(path[0] == '/');
  char *found = NULL, *folder = tm_path_dir(path);
  size_t len = strlen(path);
  while (strcmp(folder, "/") != 0 && !tm_fs_exists(fs, folder)) {
    len = strlen(folder);
    char *above = tm_path_dir(folder);
    free(folder);
    folder = above;
  }
  char *known = tm_xstrndup(path, len);
  const char *rest = path + len;
  while (*rest == '/')
    rest++;
  found = replace(fs, folder, tm_path_base(known), rest);
  free(known);
  free(folder);
  return found;
}
