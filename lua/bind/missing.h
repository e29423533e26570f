/* missing.h - explains a module or a file that a script did not find: where it is, and how to bring
 * it to the workers.
 *
 * Workers run a copy of the script. Without source_directory a job copies only the script, so
 * `tidemill try` finds files beside the script, and a worker does not.
 */
#ifndef TM_BIND_MISSING_H
#define TM_BIND_MISSING_H

#include "agent/agent_msg.h"
#include "base/buf.h"

/* Rewrites the message of an error. If `require` did not find a module, one line replaces the list
 * of all searched paths. If the file or module is beside the user's script, the message says so and
 * what to do. Other messages stay unchanged. */
void tm_lua_missing_explain(struct tm_buf *message, const struct tm_setup *setup);

#endif
