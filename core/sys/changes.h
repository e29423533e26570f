/* changes.h - a descriptor to poll: it is readable when files in some folders have changed, and at
 * the latest after a given time, because changes by another machine are not reported.
 *
 *   tm_changes_open; tm_changes_add for each folder
 *   -> poll `fd` for reading -> tm_changes_take -> look at the files -> tm_changes_close
 *
 * Take before you look: what changes meanwhile makes it readable again. Needs no loop.
 */
#ifndef TM_SYS_CHANGES_H
#define TM_SYS_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct tm_changes {
  int fd; /* 0: it is not open */
  int notify, timer;
};

/* `every_ns`: the time after which it is readable in any case; > 0. */
int tm_changes_open(struct tm_changes *c, int64_t every_ns, struct tm_err *err);
/* A file that appears in the folder, disappears, grows or is closed is a change. Again: a no-op.
 * A folder that does not exist, or that cannot be watched, is left to the timer. */
void tm_changes_add(struct tm_changes *c, const char *folder);
/* Afterwards it is not readable. True: it was. */
bool tm_changes_take(struct tm_changes *c);
void tm_changes_close(struct tm_changes *c); /* zeroed, or closed: a no-op */

#endif
