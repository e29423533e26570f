/* snapshot_share.c - one copy for several steps: see snapshot.h. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "snapshot/snapshot.h"

static bool has_same_modules(const struct tm_config *a, const struct tm_config *b)
{
  char *const *x = a->module_paths, *const *y = b->module_paths;
  for (; x && y && *x && *y && strcmp(*x, *y) == 0; x++, y++)
    ;
  return (!x || !*x) && (!y || !*y);
}

bool tm_snapshot_is_same(const struct tm_config *a, const struct tm_config *b)
{
  if (!has_same_modules(a, b))
    return false;
  if (a->source_directory && b->source_directory)
    return strcmp(a->source_directory, b->source_directory) == 0;
  return !a->source_directory && !b->source_directory && a->script_text == b->script_text &&
         strcmp(a->entry_script, b->entry_script) == 0;
}

int tm_snapshot_share(const struct tm_fs *fs, const struct tm_config *config,
                      const struct tm_snapshot *first, const char *to, struct tm_snapshot *out,
                      struct tm_err *err)
{
  int rc = tm_fs_remove_tree(fs, to, err);
  if (rc < 0)
    return rc;
  if ((rc = fs->symlink(fs->self, tm_path_base(first->dir), to)) < 0)
    return tm_err_system(err, rc, "cannot make link '%s'", to);
  *out = (struct tm_snapshot) { .dir = tm_xstrdup(to),
                                .script = tm_snapshot_script(config, to),
                                .files = first->files,
                                .bytes = first->bytes };
  memcpy(out->hash, first->hash, sizeof(out->hash));
  return 0;
}
