/* samples.h - samples the Lua stack of a worker and writes the samples to a file (agent/profile.h).
 * */
#ifndef TM_ENTRY_SAMPLES_H
#define TM_ENTRY_SAMPLES_H

#include "agent/profile.h"
#include "bind/profiler.h"

struct tm_lua_samples {
  struct tm_profile file;
  char *script_dir,
      /* with '/': the folder of the script's copy, and the user's folder; names leave them out */
      *user_dir;
  struct tm_buf stack;
};

/* Takes a sample every 10 ms of CPU time from now on. If the file cannot be written, says so once
 * on stderr. */
void tm_lua_samples_start(struct tm_lua_samples *s, struct tm_lua_profiler *p, const char *path,
                          const char *script_dir, const char *script_name);
void tm_lua_samples_stop(struct tm_lua_samples *s); /* after the profiler; zeroed: does nothing */

#endif
