/* prepared_copies.h - the prepared models of a workspace (prepared.h), to remove them.
 *
 * Steps: _find, then perhaps _remove, then _release. A worker that has loaded one keeps it, and one
 * that wants it later makes it again. Those that a process makes at the moment are left alone.
 */
#ifndef TM_MODEL_PREPARED_COPIES_H
#define TM_MODEL_PREPARED_COPIES_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/fs.h"

struct tm_prepared_copies {
  struct TM_ARRAY(char *) paths; /* "<folder>/<key>" */
  int64_t bytes;
};

/* Those that were made, or last tried, until a moment of the wall clock. */
void tm_prepared_copies_find(struct tm_prepared_copies *out, const struct tm_fs *fs,
                             const char *folder, int64_t until_ns);
int tm_prepared_copies_remove(const struct tm_prepared_copies *c, const struct tm_fs *fs,
                              struct tm_err *err);
/* Removes what makers have left unfinished that died. */
void tm_prepared_copies_drop_parts(const struct tm_fs *fs, const char *folder);
void tm_prepared_copies_release(struct tm_prepared_copies *c);

#endif
