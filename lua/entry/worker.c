/* worker.c - `tidemill worker`: serves an entry script in Lua to the agent.
 *
 * stdout and stderr are files of the log folder, which the keeper has opened. stdout is written
 * line by line and stderr at once, so that a reader that follows the files sees the output, and a
 * worker that is killed has lost no complete line.
 */
#include <stdio.h>

#include "agent/agent.h"
#include "entry/lua_script.h"
#include "runtime.h"

int tm_lua_run_worker(const struct tm_lua_module *modules)
{
  struct tm_script script;
  struct tm_err err = TM_ERR_NONE;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  setvbuf(stderr, NULL, _IONBF, 0);
  if (tm_lua_script_open(&script, modules, &err) < 0) {
    fprintf(stderr, "%s\n", err.text);
    return 3;
  }
  int status = tm_agent_run(&script);
  tm_lua_script_close(&script);
  return status;
}
