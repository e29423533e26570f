/* keeper_folders.h - the folders in which a keeper makes the temporary folders of its workers. If
 * it was killed, the relay removes them.
 */
#ifndef TM_RELAY_KEEPER_FOLDERS_H
#define TM_RELAY_KEEPER_FOLDERS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "node/node_msg.h"

struct tm_keeper_folders {
  struct TM_ARRAY(char *) paths;
};

/* Adds those of a step. Only a path whose name is that of a temporary folder of the job counts. */
void tm_keeper_folders_add(struct tm_keeper_folders *f, const struct tm_node_step *step);
/* Adds the folder that contains `below`, under the same condition. False: it was not added. */
bool tm_keeper_folders_add_below(struct tm_keeper_folders *f, const char *job_dir,
                                 const char *below);
/* Removes them, if they are still there, when the keeper and all processes beneath it have ended.
 * Empties `f`. Negative with a message: some remain, or the file system has not answered within
 * `patience_ns`. */
int tm_keeper_folders_remove(struct tm_keeper_folders *f, int64_t patience_ns, struct tm_err *err);
void tm_keeper_folders_release(struct tm_keeper_folders *f); /* zeroed: a no-op */

#endif
