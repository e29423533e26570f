/* snapshot_environment.c - where the workers that run a copy find modules: see snapshot.h.
 *
 * LUA_PATH and LUA_CPATH begin with the folders of module_paths (environment.c); those of the copy
 * replace them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "plan/environment.h"
#include "snapshot/snapshot.h"

/* `value` with its first folders replaced by those of the copy; to free(). */
static char *moved(const char *value, const char *was, const char *is)
{
  size_t n = strlen(was);
  return strncmp(value, was, n) == 0 ? tm_xprintf("%s%s", is, value + n) : tm_xstrdup(value);
}

static char *variable_in_copy(const char *variable, const struct tm_module_search *was,
                              const struct tm_module_search *is)
{
  static const char lua[] = "LUA_PATH=", c[] = "LUA_CPATH=";
  const char *value = strchr(variable, '=');
  char *text = NULL;
  if (value && strncmp(variable, lua, sizeof(lua) - 1) == 0)
    text = moved(value + 1, was->lua.data, is->lua.data);
  else if (value && strncmp(variable, c, sizeof(c) - 1) == 0)
    text = moved(value + 1, was->c.data, is->c.data);
  if (!text)
    return tm_xstrdup(variable);
  char *out = tm_xprintf("%.*s=%s", (int)(value - variable), variable, text);
  free(text);
  return out;
}

char **tm_snapshot_environment(const struct tm_config *config, const char *dir)
{
  struct tm_module_search was = { 0 }, is = { 0 };
  char *modules = tm_path_join(dir, TM_SNAPSHOT_MODULES);
  bool has_modules = config->module_paths && tm_fs_exists(tm_fs_real(), modules);
  size_t n = 0;
  for (size_t i = 0; has_modules && config->module_paths[i]; i++) {
    char *folder = tm_xprintf("%s/%zu", modules, i + 1);
    tm_module_search_add(&was, config->module_paths[i]);
    tm_module_search_add(&is, folder);
    free(folder);
  }
  while (config->environment && config->environment[n])
    n++;
  char **out = tm_xcalloc(n + 1, sizeof(*out));
  for (size_t i = 0; i < n; i++)
    out[i] = has_modules ? variable_in_copy(config->environment[i], &was, &is)
                         : tm_xstrdup(config->environment[i]);
  tm_module_search_release(&was);
  tm_module_search_release(&is);
  free(modules);
  return out;
}

void tm_snapshot_free_environment(char **environment)
{
  for (size_t i = 0; environment && environment[i]; i++)
    free(environment[i]);
  free(environment);
}
