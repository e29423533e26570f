/* place.h - places in a script's files, as the user knows them.
 *
 * Workers run a copy. The script itself is loaded under the user's path, but a module beside it is found by `require` in
 * the copy's folder, and messages and stacks name that file.
 */
#ifndef TM_LUA_PLACE_H
#define TM_LUA_PLACE_H

#include "base/buf.h"

/* Adds `text`; where it names a Lua file and a line below the folder `script_dir` ("/job/script/model.lua:3"), the user's
 * folder, that of `script_name`, stands in its place ("my/model.lua:3"). Other paths stay: what a script could not find
 * in the copy's folder may well be in the user's. */
void tm_lua_place_add(struct tm_buf *out, const char *text, size_t len, const char *script_dir,
                      const char *script_name);

#endif
