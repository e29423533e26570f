/* first_look.h - whether the inputs of a new job name anything (data/files/input_look.h), and
 * whether tables have the columns that models want, checked before anything of the job is made.
 *
 * A thread of its own looks, and is given up after TM_FIRST_LOOK_NS: a file system that hangs must
 * not keep a job from starting, because only a job that exists can be canceled. The thread frees
 * its memory when its call returns.
 */
#ifndef TM_JOB_FIRST_LOOK_H
#define TM_JOB_FIRST_LOOK_H

#include "base/time.h"
#include "plan/pipeline.h"
#include "sys/fs.h"

#define TM_FIRST_LOOK_NS (2 * TM_S)

/* Looks at steps that wait for no other step; the inputs of other steps may not exist yet. 0: each
 * step has input, or may have. TM_ENOINPUT: one has none; `err` has the place of its definition.
 * TM_EUSAGE: a table does not fit a model.
 * `fs` must outlive a look that is given up. */
int tm_first_look(const struct tm_fs *fs, const struct tm_pipeline *p, struct tm_err *err);

#endif
