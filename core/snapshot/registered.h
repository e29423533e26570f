/* registered.h - inputs from the workspace's registry that have changed since they were
 * registered. */
#ifndef TM_SNAPSHOT_REGISTERED_H
#define TM_SNAPSHOT_REGISTERED_H

#include "plan/pipeline.h"
#include "sys/fs.h"

/* Lists the files of each registered input, and calls on_changed with a message about changes:
 * "step 'score': dataset 'digits' version 2 has changed since it was registered: input 'a.csv':
 * size 10 -> 12". Reports a version that is no longer in the registry, too. None of this is an
 * error: the job reads the files as they are. Files that cannot be read are left to the job, which
 * reports them. */
void tm_registered_check(const struct tm_pipeline *p, const struct tm_fs *fs,
                         void (*on_changed)(void *data, const char *words), void *data);

#endif
