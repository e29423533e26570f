/* first_look.h - whether the inputs of a new job name anything, seen before anything of it is made
 * (data/input_look.h).
 *
 * The look is taken on a thread of its own, and is given up after TM_FIRST_LOOK_NS: a file system
 * that hangs must not keep a job from being there, since only a job can be canceled. The thread
 * then frees what it has when its call returns.
 */
#ifndef TM_RUN_FIRST_LOOK_H
#define TM_RUN_FIRST_LOOK_H

#include "base/time.h"
#include "plan/pipeline.h"
#include "sys/fs.h"

#define TM_FIRST_LOOK_NS (2 * TM_S)

/* Of the steps that wait for no other; what others write may be what a step reads. 0: each of them
 * has input, or may have. TM_ENOINPUT: one has none, with the place of its definition. `fs` must
 * outlive a look that is given up. */
int tm_first_look(const struct tm_fs *fs, const struct tm_pipeline *p, struct tm_err *err);

#endif
