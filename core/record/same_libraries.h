/* same_libraries.h - whether the workers of a step would load the same libraries as those of an
 * earlier job, such as ONNX Runtime. Nothing is loaded to find out. */
#ifndef TM_RECORD_SAME_LIBRARIES_H
#define TM_RECORD_SAME_LIBRARIES_H

#include <stdbool.h>

#include "base/buf.h"
#include "plan/pipeline.h"
#include "sys/fs.h"

/* `job_dir`: the earlier job. False: `why` has the reason. */
bool tm_libraries_are_same(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                           struct tm_buf *why);
/* Removes the records, so that those of later workers count. */
int tm_libraries_forget(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                        struct tm_err *err);

#endif
