/* entry_name.h - the name of an entry of an archive, as a path below a folder. Pure; the bytes may
 * be hostile.
 *
 * Names are bytes in any encoding, and are not converted, like names of files in folders.
 */
#ifndef TM_DATA_ARCHIVE_ENTRY_NAME_H
#define TM_DATA_ARCHIVE_ENTRY_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "data/files/glob.h"

#define TM_ENTRY_NAME_MAX 4096 /* bytes */

/* Adds the name without "." and empty parts to `out`. NULL; or static text why it cannot be a name
 * below a folder; then the added text is only for messages: it holds no NUL and is not empty. */
const char *tm_entry_name_clean(struct tm_buf *out, const char *name, size_t len);

/* Whether a pattern matches an entry or a folder above it, as a walk over the same files in folders
 * would: names that begin with a dot match only if the pattern has the dot. `name` is clean and
 * NUL-ended. */
bool tm_entry_name_matches(const struct tm_glob *pattern, const char *name);

#endif
