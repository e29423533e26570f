/* scratch.h - a folder below TMPDIR, or /tmp, for a script that no job runs: of `try`, `replay`, a
 * prompt, a dry run.
 *
 *   tidemill-<kind>-XXXXXX/         mode 0700
 *   tidemill-<kind>-XXXXXX/.lock    locked for as long as the process lives
 *
 * A process that is killed, or that a script ends, leaves its folder behind. Making one removes
 * those of this user whose process is gone. What a script has written to output/ stays, and so does
 * log/ of `try` and `replay`, as after any other end; without .lock a folder is never looked at
 * again.
 */
#ifndef TM_LUA_SCRATCH_H
#define TM_LUA_SCRATCH_H

#include <stdbool.h>

#include "base/err.h"

struct tm_scratch {
  char *path; /* NULL: none was made */
  int lock;
};

/* `kind`: "try", "replay", "script", "rerun", "walk" or "dry". */
int tm_scratch_make(struct tm_scratch *s, const char *kind, struct tm_err *err);
/* The folder is removed if it is empty; else it stays, and is never looked at again. True: it
 * stays. Not made: a no-op. */
bool tm_scratch_leave(struct tm_scratch *s);
/* The folder goes with all that is in it. */
void tm_scratch_remove(struct tm_scratch *s);

#endif
