/* scratch.h - a folder below TMPDIR, or /tmp, for a script that runs without a job: by `try`,
 * `replay`, a prompt, or a dry run.
 *
 *   tidemill-<kind>-XXXXXX/         mode 0700
 *   tidemill-<kind>-XXXXXX/.lock    locked while the process lives
 *
 * A process that is killed, or that its script ends, leaves its folder behind. Making a folder
 * removes the folders of this user whose process is gone. As after any other end, files in output/
 * stay, and for `try` and `replay` also log/. Without .lock a folder is never checked again.
 */
#ifndef TM_ENTRY_SCRATCH_H
#define TM_ENTRY_SCRATCH_H

#include <stdbool.h>

#include "base/err.h"

struct tm_scratch {
  char *path; /* NULL: not made */
  int lock;
};

/* `kind`: "try", "replay", "script", "rerun", "walk" or "dry". */
int tm_scratch_make(struct tm_scratch *s, const char *kind, struct tm_err *err);
/* Removes the folder if it is empty; otherwise it stays, and is never checked again. True: it
 * stays. If no folder was made: a no-op. */
bool tm_scratch_leave(struct tm_scratch *s);
/* Removes the folder with everything in it. */
void tm_scratch_remove(struct tm_scratch *s);

#endif
