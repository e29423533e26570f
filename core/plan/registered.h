/* registered.h - inputs that came from the workspace's registry, and have changed since they were registered. */
#ifndef TM_PLAN_REGISTERED_H
#define TM_PLAN_REGISTERED_H

#include "plan/pipeline.h"
#include "sys/fs.h"

/* Lists the files of each registered input, and calls on_changed with words that name what has changed since:
 * "step 'score': dataset 'digits' version 2 has changed since it was registered: input 'a.csv': size 10 -> 12". A version that is in the
 * registry no more is said too. It is no error: the files are read as they are now. What cannot be looked at is left to the job,
 * which will say it. */
void tm_registered_check(const struct tm_pipeline *p, const struct tm_fs *fs,
                         void (*on_changed)(void *data, const char *words), void *data);

#endif
