/* missing.h - a module or a file that a script has not found: where it lies, and what brings it
 * along.
 *
 * Workers run a copy of the script. Without source_directory nothing else is copied, so that what
 * lies beside the script is found by `tidemill try`, and not by a worker.
 */
#ifndef TM_LUA_MISSING_H
#define TM_LUA_MISSING_H

#include "agent/message.h"
#include "base/buf.h"

/* Rewrites the message of an error: of a module that `require` has not found, one line takes the
 * place of the list of all paths. What lies beside the user's script, also a file by a relative
 * path, is named with what to do. Other messages stay. */
void tm_lua_missing_explain(struct tm_buf *message, const struct tm_setup *setup);

#endif
