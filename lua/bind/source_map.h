/* source_map.h - translates places in the copy of a script to the user's files.
 *
 * Workers run a copy. The script itself is loaded under the user's path, but `require` finds a
 * module in the folder of the copy, and messages and stacks name that file.
 */
#ifndef TM_BIND_SOURCE_MAP_H
#define TM_BIND_SOURCE_MAP_H

#include "base/buf.h"

/* Adds `text`. If it names a Lua file with a line below `script_dir` ("/job/script/model.lua:3"),
 * replaces that folder by the user's, the folder of `script_name` ("my/model.lua:3"). Keeps other
 * paths: a file that a script did not find in the copy may well exist in the user's folder. */
void tm_lua_place_add(struct tm_buf *out, const char *text, size_t len, const char *script_dir,
                      const char *script_name);

#endif
