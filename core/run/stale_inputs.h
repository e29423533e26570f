/* stale_inputs.h - inputs of a resumed step that have changed since their rows were written.
 *
 * A resumed job keeps the rows of mini-batches that it has committed, and does not read their
 * inputs again. If such a file has another size or time now, the output mixes rows of two versions.
 * The user is warned once for each step.
 *
 * The looking is done on a thread, beside the work. The job waits for it at its end, for some
 * seconds. A file that is gone is no change: many users remove what has been processed.
 */
#ifndef TM_RUN_STALE_INPUTS_H
#define TM_RUN_STALE_INPUTS_H

#include <stdatomic.h>

#include "base/buf.h"
#include "sys/fs.h"

#define TM_STALE_INPUTS_MAX 100000 /* files that are looked at for each step */

struct tm_job;

/* Starts looking for step `i`. A thread that cannot be had costs the warning alone. */
void tm_stale_inputs_start(struct tm_job *job, size_t i);
/* At the end of a job, what takes too long is given up. */
void tm_stale_inputs_tick(struct tm_job *job);
/* Nothing of it touches the job any more. A thread in a system call that does not return is left
 * alone, and frees what it has. */
void tm_stale_inputs_close(struct tm_job *job);

/* What the thread does: compares the files of the committed mini-batches in <state_dir> with their
 * manifest. Adds the warning if there is one. A set `stop` ends it. */
void tm_stale_inputs_look(struct tm_buf *warning, const struct tm_fs *fs, const char *state_dir,
                          const atomic_bool *stop);

#endif
