/* environment.h - the variables of the workers, and where Lua looks for modules. Within plan. */
#ifndef TM_PLAN_ENVIRONMENT_H
#define TM_PLAN_ENVIRONMENT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* The variables of both settings as one object, to be freed; either may be NULL. */
struct tm_json *tm_environment_variables(const struct tm_json *environment,
                                         const struct tm_json *variables);
/* Adds LUA_PATH and LUA_CPATH for its module_paths, relative to base_dir. TM_EUSAGE: a folder does
 * not exist. */
int tm_environment_add_paths(struct tm_json *out, const struct tm_json *environment,
                             const char *base_dir, struct tm_err *err);

/* The prefixes of LUA_PATH and LUA_CPATH. Zeroed: none. */
struct tm_module_search {
  struct tm_buf lua, c;
};

void tm_module_search_add(struct tm_module_search *s, const char *dir);
void tm_module_search_release(struct tm_module_search *s);

#endif
