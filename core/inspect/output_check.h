/* output_check.h - reads what a job has committed before the job is resumed.
 *
 * Resuming trusts the length of committed output, failure lines and output files. This reads all of
 * Resuming trusts the length of committed output, failure lines and output files. This reads all of
 * them and compares them with the hashes in the journals (verify.h). It writes nothing. A user asks
 * for it by --verify-output. It also runs if a file of rows or failure lines is newer than its
 * journal: the job writes the journal last, so another process has written to the file.
 */
#ifndef TM_INSPECT_OUTPUT_CHECK_H
#define TM_INSPECT_OUTPUT_CHECK_H

#include "base/buf.h"
#include "base/err.h"
#include "plan/pipeline.h"

/* `dir`: of the job, absolute; the caller has its lock. 0: everything is as it was committed, and
 * `note` gets a line that says how much was read. TM_EDAMAGE names the first difference: the file,
 * the byte, and the mini-batch. It blocks while it reads. */
int tm_output_check(struct tm_buf *note, const char *dir, struct tm_err *err);

/* Whether a file of the job in `dir` was written to after the journal that covers it. It compares
 * only times. */
bool tm_output_is_touched(const char *dir, const struct tm_pipeline *pipeline);

#endif
