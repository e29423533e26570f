/* environment.h - where Lua looks for modules. Within plan. */
#ifndef TM_PLAN_ENVIRONMENT_H
#define TM_PLAN_ENVIRONMENT_H

#include "base/buf.h"

/* The prefixes of LUA_PATH and LUA_CPATH. Zeroed: none. */
struct tm_module_search {
  struct tm_buf lua, c;
};

void tm_module_search_add(struct tm_module_search *s, const char *dir);
void tm_module_search_release(struct tm_module_search *s);

#endif
