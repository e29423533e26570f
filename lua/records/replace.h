/* replace.h - files that a command may replace: those of the format that it writes. */
#ifndef TM_RECORDS_REPLACE_H
#define TM_RECORDS_REPLACE_H

#include <stdbool.h>

#include "base/err.h"

/* Whether `path` may be written: there is no such file, it is empty or not regular, or, compressed
 * or not, begins with `begin`; or `overwrite` is set. Otherwise, and for a folder, TM_EUSAGE.
 * `format`: "a joblog". */
int tm_replace_check(const char *path, const char *begin, const char *format, bool overwrite,
                     struct tm_err *err);

#endif
