/* lib_entry_script.h - the C side of `require "tidemill.entry_script"`: the worker's properties and
 * its log.
 *
 * A line of the log: "2026-01-31 23:59:58,123|INFO|4711|process000|message", in UTC. One write()
 * writes each line, so that lines of several processes do not mix. Line breaks in a message are
 * kept, and the following lines are indented by four blanks. So no message can look like a new
 * entry: only an entry begins with a digit.
 */
#ifndef TM_ENTRY_LIB_ENTRY_SCRIPT_H
#define TM_ENTRY_LIB_ENTRY_SCRIPT_H

#include <lua.h>

#include "agent/agent_msg.h"

/* Makes `require "tidemill.entry_script_c"` return the table of _meta/entry_script_c.lua for the
 * worker in `setup`. retire() puts its reason into `retires`, and show_wait() sets **waits, unless
 * *waits is NULL; both are the caller's, and live as long as the state. In other states
 * EntryScript() says that there is no worker. Does not keep `setup`. May raise (memory). */
void tm_lua_entry_script_add(lua_State *L, const struct tm_setup *setup, struct tm_buf *retires,
                             _Atomic uint64_t **waits);

#endif
