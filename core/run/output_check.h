/* output_check.h - what a job has committed, read before the job goes on: for --verify-output.
 *
 * Resuming trusts committed output, failure lines and output files before the last sync record by their length alone. This
 * reads all of them and compares them with the hashes in the journals (verify.h). It writes nothing.
 */
#ifndef TM_RUN_OUTPUT_CHECK_H
#define TM_RUN_OUTPUT_CHECK_H

#include "base/buf.h"
#include "base/err.h"

/* `dir`: of the job, absolute; the caller has its lock. 0: all is as it was committed, and `note` gets a line that says how much was
 * read. TM_EDAMAGE names the first difference: the file, the byte, and the mini-batch. It blocks while it reads. */
int tm_output_check(struct tm_buf *note, const char *dir, struct tm_err *err);

#endif
