/* worker.c - `tidemill worker`: an entry script in Lua, served by the agent.
 *
 * stdout and stderr are files of the log folder (the keeper opened them). What the script prints is written line by
 * line, and what goes to stderr at once, so that whoever follows the files sees it, and a worker that is killed has
 * lost no whole line.
 */
#include <stdio.h>

#include "agent/agent.h"
#include "lua/runtime.h"
#include "lua/script.h"

int tm_lua_run_worker(void)
{
  struct tm_script script;
  struct tm_err err = TM_ERR_NONE;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  setvbuf(stderr, NULL, _IONBF, 0);
  if (tm_lua_script_open(&script, &err) < 0) {
    fprintf(stderr, "%s\n", err.text);
    return 3;
  }
  int status = tm_agent_run(&script);
  tm_lua_script_close(&script);
  return status;
}
