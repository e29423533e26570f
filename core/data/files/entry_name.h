/* entry_name.h - the name of an entry of an archive, as a path below a folder. Pure; the bytes may be anybody's.
 *
 * Names are bytes: whatever encoding the archive's program used, they are left as they are, as names of files in folders are.
 */
#ifndef TM_DATA_FILES_ENTRY_NAME_H
#define TM_DATA_FILES_ENTRY_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "data/files/glob.h"

#define TM_ENTRY_NAME_MAX 4096 /* bytes */

/* Adds the name without "." and empty parts to `out`. NULL; or why it can be no name below a folder (static words), and then
 * what was added can only be shown: it holds no NUL and is not empty. */
const char *tm_entry_name_clean(struct tm_buf *out, const char *name, size_t len);

/* Whether a pattern names an entry, or a folder that it is in: as a walk over the same files in folders would take it, also in
 * that names that begin with a dot are taken only where the pattern names the dot. `name` is clean and NUL-ended. */
bool tm_entry_name_matches(const struct tm_glob *pattern, const char *name);

#endif
