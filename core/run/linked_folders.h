/* linked_folders.h - the folders outside that links in a source_directory lead to.
 *
 * A copy of the source (plan/snapshot.h) has such a link as it is: what a script reads behind it is in no copy and no hash.
 */
#ifndef TM_RUN_LINKED_FOLDERS_H
#define TM_RUN_LINKED_FOLDERS_H

#include "base/err.h"

/* Gives the absolute path of each, once for each link; what is behind it is not looked into. on_folder() returns negative, with
 * words, to end it, which is returned. */
int tm_linked_folders(const char *source, int (*on_folder)(void *data, char *path), void *data,
                      struct tm_err *err);

#endif
