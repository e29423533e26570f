/* archives.h - the definition of a dataset of archives: which entries it wants, how they reach
 * run(), and the limits. It looks at no file.
 */
#ifndef TM_DATA_ARCHIVE_ARCHIVES_H
#define TM_DATA_ARCHIVE_ARCHIVES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "data/archive/archive.h"
#include "data/files/glob.h"

struct tm_archives {
  char **patterns; /* as given; none: all entries */
  struct tm_glob *globs;
  size_t len;
  struct tm_map names; /* that a pattern names without special characters, or is literally */
  struct tm_map bases; /* the last parts of patterns without special characters */
  size_t *others;      /* the other patterns */
  size_t others_len;
  bool is_extracted; /* run() gets files; else names */
  struct tm_archive_limits limits;
};

/* From all options of Dataset.File.from_archives, as tm_params_settle() returns them. NULL with a
 * message without file:line. Free it. */
struct tm_archives *tm_archives_from_json(const struct tm_json *options, struct tm_err *err);
void tm_archives_free(struct tm_archives *a); /* NULL: a no-op */

/* Whether an entry of this clean name (files/entry_name.h) is wanted. As for files, a name that
 * equals a pattern literally matches it, whatever characters it has. */
bool tm_archives_want(const struct tm_archives *a, const char *name);
/* Like tm_archives_want(), for an entry whose name is not clean: true if all are wanted, or if a
 * pattern equals the name. */
bool tm_archives_want_bad(const struct tm_archives *a, const char *name);

#endif
