/* lib_entry_script.h - the C side of `require "tidemill.entry_script"`: where a worker's script is, and its log.
 *
 * A line of the log: "2026-01-31 23:59:58,123|INFO|4711|process000|message", UTC, each written with one write(), so
 * that lines of several processes do not mix. The line breaks of a message are kept; what follows one begins with four
 * blanks, so that no message can look like a line of the log: a line that begins with a digit begins an entry.
 */
#ifndef TM_LUA_LIB_ENTRY_SCRIPT_H
#define TM_LUA_LIB_ENTRY_SCRIPT_H

#include <lua.h>

#include "agent/message.h"

/* Makes `require "tidemill.entry_script_c"` answer for the worker that `setup` describes: {properties, level, write}.
 * In a state without it EntryScript() says that there is no worker. `setup` is not kept. May raise (memory). */
void tm_lua_entry_script_add(lua_State *L, const struct tm_setup *setup);

#endif
