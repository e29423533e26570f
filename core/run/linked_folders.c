/* linked_folders.c - see linked_folders.h. Links are not followed on the way: each folder of the source is gone into once. */
#include "run/linked_folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "sys/fs.h"

#define DEPTH_MAX 200 /* a copy is refused long before */

struct walk {
  char *root; /* without links */
  int (*on_folder)(void *data, char *path);
  void *data;
  struct tm_err *err;
};

struct level {
  struct walk *walk;
  const char *path;
  int depth;
};

static int look_into(struct walk *w, const char *path, int depth);

static int look_at_link(struct walk *w, const char *path)
{
  char *place = realpath(path, NULL);
  size_t n = strlen(w->root);
  struct tm_stat st;
  int rc = 0;

  if (!place) /* it leads to nothing */
    return 0;
  bool is_within = strncmp(place, w->root, n) == 0 && (place[n] == '/' || place[n] == '\0');
  if (!is_within && tm_fs_real()->stat(NULL, place, true, &st) == 0 && S_ISDIR(st.mode))
    rc = w->on_folder(w->data, place);
  free(place);
  return rc;
}

static int on_name(void *data, const char *name, int type)
{
  const struct level *level = data;
  char *path = tm_path_join(level->path, name);
  struct tm_stat st;
  int rc = 0;

  if (type == DT_UNKNOWN && tm_fs_real()->stat(NULL, path, false, &st) == 0)
    type = S_ISLNK(st.mode) ? DT_LNK : S_ISDIR(st.mode) ? DT_DIR : DT_REG;
  if (type == DT_LNK)
    rc = look_at_link(level->walk, path);
  else if (type == DT_DIR && strcmp(name, ".git") != 0 && strcmp(name, ".tidemill") != 0)
    rc = look_into(level->walk, path, level->depth + 1);
  free(path);
  return rc;
}

static int look_into(struct walk *w, const char *path, int depth)
{
  struct level level = { .walk = w, .path = path, .depth = depth };
  int rc = depth > DEPTH_MAX ? -ELOOP : tm_dir_read(path, on_name, &level);

  if (rc < 0 && !w->err->code)
    tm_err_system(w->err, rc, "cannot look into '%s'", path);
  return rc;
}

int tm_linked_folders(const char *source, int (*on_folder)(void *data, char *path), void *data,
                      struct tm_err *err)
{
  struct walk w = {
    .root = realpath(source, NULL), .on_folder = on_folder, .data = data, .err = err
  };
  int rc = w.root ? look_into(&w, w.root, 0)
                  : tm_err_system(err, -errno, "cannot look into '%s'", source);

  free(w.root);
  return rc < 0 ? rc : 0;
}
