/* near_path.h - the path that was probably meant, for a path that is not there. */
#ifndef TM_DATA_NEAR_PATH_H
#define TM_DATA_NEAR_PATH_H

#include "sys/fs.h"

/* `path` (absolute) with its first missing name replaced by the nearest name in that folder; to
 * free(). NULL: no name there is near, the folder cannot be read, or the rest of the path is not
 * below it. Reads 1,000 names at most. */
char *tm_near_path(const struct tm_fs *fs, const char *path);

#endif
