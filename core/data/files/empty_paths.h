/* empty_paths.h - the message for paths and patterns of a listing that matched no file. */
#ifndef TM_DATA_FILES_EMPTY_PATHS_H
#define TM_DATA_FILES_EMPTY_PATHS_H

#include "data/dataset.h"
#include "data/files/listing.h"

/* For a listing that has ended, to free(); NULL: each path has matched. Without a listing, no path
 * has. */
char *tm_empty_paths(const struct tm_fs *fs, const struct tm_dataset *d,
                     const struct tm_listing *listing);

#endif
