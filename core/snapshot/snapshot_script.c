/* snapshot_script.c - the entry script within a snapshot: see snapshot.h. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "snapshot/ignore.h"
#include "snapshot/snapshot.h"

/* The name of the entry script below the folder that is copied. */
static const char *inner_script(const struct tm_config *config)
{
  const char *inner = config->source_directory
                          ? config->entry_script + strlen(config->source_directory)
                          : tm_path_base(config->entry_script);
  return inner + strspn(inner, "/");
}

char *tm_snapshot_script(const struct tm_config *config, const char *dir)
{
  return tm_path_join(dir, inner_script(config));
}

int tm_snapshot_check(const struct tm_fs *fs, const struct tm_config *config, struct tm_err *err)
{
  struct tm_ignore ignore = { 0 };
  char *path = tm_xstrdup(inner_script(config));
  int rc =
      config->source_directory ? tm_ignore_read(&ignore, fs, config->source_directory, err) : 0;
  int line = 0;
  for (char *c = strchr(path, '/'); c && line == 0; c = strchr(c + 1, '/')) {
    *c = '\0';
    line = tm_ignore_line(&ignore, path, true);
    *c = '/';
  }
  line = line > 0 ? line : tm_ignore_line(&ignore, path, false);
  if (rc == 0 && line > 0)
    rc = tm_err_set(err, TM_EUSAGE,
                    "%s/" TM_IGNORE_NAME ":%d: the entry script '%s' is left out by it",
                    config->source_directory, line, path);
  tm_ignore_release(&ignore);
  free(path);
  return rc;
}
