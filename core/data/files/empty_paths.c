/* empty_paths.c - see empty_paths.h. */
#include "data/files/empty_paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/files/glob.h"
#include "data/files/near_path.h"

#define NAMED_MAX 5 /* paths that a message names */

struct words {
  struct tm_buf text;
  size_t named, more; /* patterns named, and left out */
  bool has_relative;
  char *near; /* the folder that the first pattern probably meant, or NULL */
};

/* If the folder where a pattern starts does not exist: the folder that was probably meant, to
 * free(); else NULL. */
static char *near_start(const struct tm_fs *fs, const char *base_dir, const char *pattern)
{
  struct tm_glob glob;
  if (tm_glob_init(&glob, pattern, NULL) < 0)
    return NULL;
  char *start = tm_path_absolute(glob.is_absolute ? "/" : base_dir, glob.start);
  char *near = tm_fs_exists(fs, start) ? NULL : tm_near_path(fs, start);
  free(start);
  tm_glob_release(&glob);
  return near;
}

/* "https://...", "azureml:name:1" */
static bool is_url(const char *path)
{
  return strstr(path, "://") || strncmp(path, "azureml:", 8) == 0;
}

/* Adds a path of `d` that matched no file. Patterns and plain paths have separate messages. */
static void add_empty_path(const struct tm_fs *fs, const struct tm_dataset *d, const char *path,
                           struct words *patterns, struct words *others)
{
  struct words *w = tm_glob_is_pattern(path) ? patterns : others;
  if (w->named == NAMED_MAX) {
    w->more++;
    return;
  }
  if (w->named++ > 0)
    tm_buf_add_str(&w->text, ", ");
  if (is_url(path)) {
    tm_buf_printf(&w->text, "'%s' is not a path; URLs are not read: fetch or mount the files first",
                  path);
    return;
  }
  if (w == patterns) {
    w->has_relative |= !tm_path_is_absolute(path);
    tm_buf_printf(&w->text, "'%s'", path);
    if (!w->near)
      w->near = near_start(fs, d->base_dir, path);
    return;
  }
  char *absolute = tm_path_absolute(d->base_dir, path);
  struct tm_stat st;
  int rc = fs->stat(fs->self, absolute, true, &st);
  char *near = rc < 0 ? tm_near_path(fs, absolute) : NULL;
  tm_buf_printf(&w->text, "%s'%s' %s", d->kind == TM_DATASET_MANIFEST ? "the list " : "", absolute,
                rc < 0             ? "does not exist"
                : S_ISDIR(st.mode) ? "holds no files"
                                   : "is not a regular file");
  if (near)
    tm_buf_printf(&w->text, " (did you mean '%s'?)", near);
  free(near);
  free(absolute);
}

static void end_words(struct words *w)
{
  if (w->more > 0)
    tm_buf_printf(&w->text, " and %zu more", w->more);
}

char *tm_empty_paths(const struct tm_fs *fs, const struct tm_dataset *d,
                     const struct tm_listing *listing)
{
  struct words patterns = { .named = 0 }, others = { .named = 0 };
  char *text = NULL;
  for (size_t i = 0; i < d->paths_len; i++)
    if (!listing || tm_listing_count(listing, i) == 0)
      add_empty_path(fs, d, d->paths[i], &patterns, &others);
  end_words(&patterns);
  end_words(&others);
  if (patterns.named > 0)
    text = tm_xprintf("nothing matches %s%s%s%s%s%s%s%s%s", tm_buf_str(&patterns.text),
                      patterns.has_relative ? " in '" : "",
                      patterns.has_relative ? d->base_dir : "", patterns.has_relative ? "'" : "",
                      patterns.near ? " (did you mean the folder '" : "",
                      patterns.near ? patterns.near : "", patterns.near ? "'?)" : "",
                      others.named > 0 ? "; " : "", tm_buf_str(&others.text));
  else if (others.named > 0)
    text = tm_buf_take(&others.text);
  tm_buf_release(&patterns.text);
  tm_buf_release(&others.text);
  free(patterns.near);
  return text;
}
