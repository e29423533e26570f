/* near_path.h - the path that the user probably meant, for a path that does not exist. */
#ifndef TM_DATA_FILES_NEAR_PATH_H
#define TM_DATA_FILES_NEAR_PATH_H

#include "sys/fs.h"

/* `path` (absolute) with its first missing name replaced by the nearest name in that folder; to
 * free(). NULL: no name is near, the folder cannot be read, or the rest of the path does not exist
 * below the nearest name. Reads at most 1,000 names. */
char *tm_near_path(const struct tm_fs *fs, const char *path);

#endif
