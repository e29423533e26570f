/* deliver.h - a copy of the output file where the user wants it: --output FILE of `map`. */
#ifndef TM_CLI_DELIVER_H
#define TM_CLI_DELIVER_H

#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

/* Whether a file can be put at `path` (absolute), before anything is run. TM_EUSAGE: it is there and not to be overwritten,
 * is no regular file, or its folder is missing. */
int tm_deliver_check(const struct tm_fs *fs, const char *path, bool overwrite, struct tm_err *err);
/* Puts a copy of `from` at `to`: all of it or nothing, on the disk when this returns 0. Checks again. */
int tm_deliver(const struct tm_fs *fs, const char *from, const char *to, bool overwrite,
               struct tm_err *err);

#endif
