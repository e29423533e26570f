/* archives.h - what the definition of a dataset of archives says of them: which of their entries, how they reach run(), and
 * what is too much. Nothing is looked at.
 */
#ifndef TM_DATA_ARCHIVES_H
#define TM_DATA_ARCHIVES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "data/files/archive.h"
#include "data/files/glob.h"

struct tm_archives {
  char **patterns; /* as given; none: all entries */
  struct tm_glob *globs;
  size_t len;
  bool is_extracted; /* run() gets files, else names */
  struct tm_archive_limits limits;
};

/* From the options of Dataset.File.from_archives, in their one form (plan/params.h); those that are not there have their
 * defaults. NULL, with words without a place. To free. */
struct tm_archives *tm_archives_from_json(const struct tm_json *options, struct tm_err *err);
void tm_archives_free(struct tm_archives *a); /* NULL: a no-op */

/* Whether an entry of this clean name (files/entry_name.h) is wanted. As of files: a name that is there exactly as it is written
 * is meant, whatever characters it has. */
bool tm_archives_want(const struct tm_archives *a, const char *name);
/* The same of an entry whose name is not clean: where all are wanted, or a pattern has that name. */
bool tm_archives_want_bad(const struct tm_archives *a, const char *name);

#endif
