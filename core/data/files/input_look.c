/* input_look.c - see input_look.h.
 *
 * The walk goes down a tree as the listing does (files/listing.c), with the same sets of places.
 * But it takes names in the order in which the folder gives them, and ends at the first name that
 * may match.
 */
#include "data/files/input_look.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/files/empty_paths.h"
#include "data/files/glob.h"

#define DEPTH_MAX 64         /* folders below each other */
#define FOUND     -ECANCELED /* ends the reading of a folder */

struct walk {
  const struct tm_fs *fs;
  const struct tm_glob *glob;
  size_t names_left, depth;
};

/* One folder of the tree. */
struct level {
  struct walk *walk;
  const struct tm_glob_set *set;
  struct TM_ARRAY(char *) folders; /* to walk next */
};

static int on_name(void *data, const char *name, int type)
{
  struct level *l = data;
  const struct tm_glob *glob = l->walk->glob;
  struct tm_glob_set to;
  if (l->walk->names_left-- == 0)
    return FOUND;
  if (!tm_glob_step(glob, l->set, name, &to))
    return 0;
  if (type != DT_DIR && type != DT_LNK && type != DT_UNKNOWN)
    return tm_glob_matches(glob, &to, false) ? FOUND : 0;
  tm_glob_enter(glob, &to);
  if (type != DT_DIR || tm_glob_matches(glob, &to, true))
    return FOUND;
  *TM_ARRAY_ADD(&l->folders) = tm_xstrdup(name);
  return 0;
}

static bool may_match(struct walk *w, const char *folder, const struct tm_glob_set *set);

static bool may_match_below(struct walk *w, const char *folder, const char *name,
                            const struct tm_glob_set *set)
{
  char *path = tm_path_join(folder, name);
  struct tm_glob_set to;
  tm_glob_step(w->glob, set, name, &to);
  tm_glob_enter(w->glob, &to);
  bool is_found = may_match(w, path, &to);
  free(path);
  return is_found;
}

static bool may_match(struct walk *w, const char *folder, const struct tm_glob_set *set)
{
  struct level l = { .walk = w, .set = set };
  bool is_found = w->depth++ == DEPTH_MAX || w->fs->dir_read(w->fs->self, folder, on_name, &l) < 0;
  for (size_t i = 0; i < l.folders.len; i++) {
    is_found = is_found || may_match_below(w, folder, l.folders.at[i], set);
    free(l.folders.at[i]);
  }
  TM_ARRAY_RELEASE(&l.folders);
  w->depth--;
  return is_found;
}

static bool may_match_pattern(const struct tm_fs *fs, const char *base_dir, const char *pattern)
{
  struct tm_glob glob;
  struct tm_glob_set set;
  struct tm_stat st;
  struct walk w = { .fs = fs, .glob = &glob, .names_left = TM_LOOK_NAMES };
  if (tm_glob_init(&glob, pattern, NULL) < 0)
    return true;
  char *start = tm_path_absolute(glob.is_absolute ? "/" : base_dir, glob.start);
  int rc = fs->stat(fs->self, start, true, &st);
  bool is_found = rc < 0 && rc != -ENOENT && rc != -ENOTDIR;
  if (rc >= 0 && S_ISDIR(st.mode)) {
    tm_glob_begin(&glob, &set);
    is_found = tm_glob_matches(&glob, &set, true) || may_match(&w, start, &set);
  }
  free(start);
  tm_glob_release(&glob);
  return is_found;
}

static int on_any(void *data, const char *name, int type)
{
  const struct tm_dataset *d = data;
  return name[0] != '.' || d->takes_hidden ? FOUND : 0;
}

static bool may_name(const struct tm_fs *fs, const struct tm_dataset *d, const char *path)
{
  struct tm_stat st;
  char *absolute = tm_path_absolute(d->base_dir, path);
  int rc = fs->stat(fs->self, absolute, true, &st);
  bool is_found = true;
  if (rc >= 0 && S_ISDIR(st.mode))
    is_found = fs->dir_read(fs->self, absolute, on_any, (void *)d) < 0;
  else if (rc == -ENOENT || rc == -ENOTDIR)
    is_found = d->kind != TM_DATASET_MANIFEST && tm_glob_is_pattern(path) &&
               may_match_pattern(fs, d->base_dir, path);
  free(absolute);
  return is_found;
}

static bool may_be_there(const struct tm_fs *fs, const struct tm_dataset *d)
{
  if (!d->base_dir || d->kind == TM_DATASET_FAILED || tm_dataset_is_stdin(d) || d->paths_len == 0)
    return true;
  for (size_t i = 0; i < d->paths_len; i++)
    if (may_name(fs, d, d->paths[i]))
      return true;
  return false;
}

int tm_inputs_look(const struct tm_fs *fs, struct tm_dataset *const *inputs, size_t n,
                   struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < n; i++)
    if (may_be_there(fs, inputs[i]))
      return 0;
  if (n == 0)
    return 0;
  for (size_t i = 0; i < n; i++) {
    char *words = tm_empty_paths(fs, inputs[i], NULL);
    tm_buf_printf(&text, "%s%s", i > 0 ? "; " : "", words);
    free(words);
  }
  tm_err_set(err, TM_ENOINPUT, "no input: %s", tm_buf_str(&text));
  tm_buf_release(&text);
  return inputs[0]->where ? tm_err_wrap(err, "%s", inputs[0]->where) : TM_ENOINPUT;
}
