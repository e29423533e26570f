/* stale_inputs.h - inputs of a resumed step that have changed since their rows were written.
 *
 * A resumed job keeps the rows of mini-batches that it has committed, and does not read their
 * inputs again. If such a file has another size or time now, the output mixes rows of two versions.
 * The user is warned once for each step.
 *
 * A thread looks, beside the work. At its end, the job waits some seconds for the thread. A file
 * that was removed does not count as changed: many users remove files that have been processed.
 */
#ifndef TM_JOB_STALE_INPUTS_H
#define TM_JOB_STALE_INPUTS_H

#include <stdatomic.h>

#include "base/buf.h"
#include "sys/fs.h"

#define TM_STALE_INPUTS_MAX 100000 /* files to look at for each step */

struct tm_job;

/* Starts looking for step `i`. If no thread can be started, there is no warning. */
void tm_stale_inputs_start(struct tm_job *job, size_t i);
/* At the end of the job, stops a look that takes too long. */
void tm_stale_inputs_tick(struct tm_job *job);
/* After it, no thread touches the job. A thread in a system call that does not return is left
 * alone, and frees its own memory. */
void tm_stale_inputs_close(struct tm_job *job);

/* What the thread does: compares the files of the committed mini-batches in <state_dir> with their
 * manifest. Adds the warning if a file has changed. Set `stop` to end it. */
void tm_stale_inputs_look(struct tm_buf *warning, const struct tm_fs *fs, const char *state_dir,
                          const atomic_bool *stop);

#endif
