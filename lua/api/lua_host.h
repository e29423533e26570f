/* lua_host.h - what Lua in this process does as a host and hosts in C cannot: sessions at a prompt
 * or in a script, which submit pipelines of their own state.
 */
#ifndef TM_API_LUA_HOST_H
#define TM_API_LUA_HOST_H

#include <tidemill.h>

#include "base/err.h"
#include "base/json.h"

struct tm_lua_session;

/* Makes a console over an existing session, which it takes over, also if it fails. */
int tm_console_of(struct tidemill_console **out, struct tm_lua_session *session,
                  struct tidemill_runtime *rt, const struct tidemill_console_options *options,
                  struct tm_err *err);
/* tidemill_pipeline_set_param() for a value that is not a text, which the pipeline takes over. */
void tm_pipeline_set_value(struct tidemill_pipeline *p, const char *name, struct tm_json *value);
/* tidemill_job_cancel() for all open jobs of the runtime. */
void tm_runtime_cancel_jobs(struct tidemill_runtime *rt, bool now);
/* Replaces the members that an error names by the options of pipeline:submit(). */
void tm_words_for_lua(struct tm_err *err);

#endif
