/* old_snapshots.h - finds stored copies of scripts (snapshot/snapshot.h) that no job of the
 * workspace uses any more.
 *
 * Steps: _find, then perhaps _remove, then _release. A job that begins meanwhile with such a copy
 * loses it here, but has a copy of its own, and stores its script again when it is resumed.
 */
#ifndef TM_INSPECT_OLD_SNAPSHOTS_H
#define TM_INSPECT_OLD_SNAPSHOTS_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/fs.h"

struct tm_old_snapshots {
  struct TM_ARRAY(char *) paths; /* absolute */
  int64_t bytes;
};

/* `gone`: directories of jobs that count as removed, absolute. A job whose record cannot be read
 * may use any of them: TM_EDAMAGE, TM_EVERSION, with its name. Release it in every case. */
int tm_old_snapshots_find(struct tm_old_snapshots *out, const struct tm_fs *fs,
                          const char *workspace, char *const *gone, size_t gone_len,
                          struct tm_err *err);
int tm_old_snapshots_remove(const struct tm_old_snapshots *s, const struct tm_fs *fs,
                            struct tm_err *err);
void tm_old_snapshots_release(struct tm_old_snapshots *s);

#endif
