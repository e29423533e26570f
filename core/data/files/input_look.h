/* input_look.h - whether the inputs of a step name anything, checked before there is a job.
 *
 * This finds a misspelt path or pattern cheaply: it looks up paths, and matches patterns against
 * TM_LOOK_NAMES names at most. An input that it cannot judge counts as one that names something: a
 * large tree, a list of paths that exists, failed items, a folder that the user may not read, the
 * output of another step. The listing of the job decides then.
 */
#ifndef TM_DATA_FILES_INPUT_LOOK_H
#define TM_DATA_FILES_INPUT_LOOK_H

#include "data/dataset.h"
#include "sys/fs.h"

#define TM_LOOK_NAMES 10000 /* read for one pattern */

/* 0: the inputs name something, or may. TM_ENOINPUT: none of them does; `err` has the message of
 * the listing (splitter.h). */
int tm_inputs_look(const struct tm_fs *fs, struct tm_dataset *const *inputs, size_t n,
                   struct tm_err *err);

#endif
