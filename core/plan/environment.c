/* environment.c - variables of the workers, from `environment` and `environment_variables`.
 *
 * Folders for `require` go to LUA_PATH and LUA_CPATH, which every Lua reads, also one that a script
 * starts. They precede the variable's value: from the definition, else from the submitter's
 * environment, else Lua's own folders (";;"). A worker puts the script's folder first.
 *
 * Values are secrets: records hold only names and one hash (settings.c).
 */
#include "plan/environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

struct tm_json *tm_environment_variables(const struct tm_json *environment,
                                         const struct tm_json *variables)
{
  const struct tm_json *lists[] = { tm_json_get(environment, "variables"), variables };
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  for (size_t k = 0; k < TM_COUNT_OF(lists); k++)
    for (size_t i = 0; lists[k] && i < lists[k]->list.len; i++)
      tm_json_set(out, lists[k]->keys[i], tm_json_copy(lists[k]->list.at[i]));
  return out;
}

static void set_path(struct tm_json *out, const char *name, const char *dirs)
{
  const char *own = tm_json_str(out, name, getenv(name));
  char *value = tm_xprintf("%s%s", dirs, own && *own ? own : ";");
  tm_json_set(out, name, tm_json_new_string(value));
  free(value);
}

void tm_module_search_add(struct tm_module_search *s, const char *dir)
{
  tm_buf_printf(&s->lua, "%s/?.lua;%s/?/init.lua;", dir, dir);
  tm_buf_printf(&s->c, "%s/?.so;", dir);
}

void tm_module_search_release(struct tm_module_search *s)
{
  tm_buf_release(&s->lua);
  tm_buf_release(&s->c);
}

int tm_environment_add_paths(struct tm_json *out, const struct tm_json *environment,
                             const char *base_dir, struct tm_err *err)
{
  const struct tm_json *paths = tm_json_get(environment, "module_paths");
  const struct tm_fs *fs = tm_fs_real();
  struct tm_module_search search = { 0 };
  int rc = 0;
  for (size_t i = 0; paths && i < paths->list.len && rc == 0; i++) {
    const char *given = paths->list.at[i]->string.at;
    char *dir = tm_path_absolute(base_dir, given);
    struct tm_stat st;
    if (strpbrk(dir, ";?"))
      rc = tm_err_set(err, TM_EUSAGE,
                      "'environment.module_paths[%zu]' is '%s', which Lua cannot search: its name "
                      "has a ';' or '?'",
                      i + 1, dir);
    else if (fs->stat(fs->self, dir, true, &st) < 0 || !S_ISDIR(st.mode))
      rc = tm_err_set(err, TM_EUSAGE,
                      "'environment.module_paths[%zu]' is \"%s\"; there is no folder '%s'", i + 1,
                      given, dir);
    tm_module_search_add(&search, dir);
    free(dir);
  }
  if (rc == 0 && search.lua.len > 0) {
    set_path(out, "LUA_PATH", search.lua.data);
    set_path(out, "LUA_CPATH", search.c.data);
  }
  tm_module_search_release(&search);
  return rc;
}
