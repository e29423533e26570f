/* rerun.h - the line that shows how to run the failed items of a Completed job again. */
#ifndef TM_RECORDS_RERUN_H
#define TM_RECORDS_RERUN_H

#include <tidemill.h>

#include "base/buf.h"
#include "base/err.h"

/* Adds the line without a line break; false, and nothing: no item failed. `own`, or NULL, adds the
 * command that started a job without a pipeline file; `only_failed`: the job whose failed items it
 * should run, or NULL for all items. */
bool tm_rerun_add(struct tm_buf *out, struct tidemill_record *job,
                  void (*own)(void *data, struct tm_buf *out, const char *only_failed), void *data);
/* Adds "; to start a new job: COMMAND" if the command is known. */
void tm_rerun_add_anew(struct tm_buf *out, struct tidemill_record *job,
                       void (*own)(void *data, struct tm_buf *out, const char *only_failed),
                       void *data);
/* The same, for the message about the job in `dir`, which cannot be resumed. */
void tm_rerun_append_anew(struct tm_err *err, const char *dir);
/* The same, with the command. */
void tm_rerun_append_command(struct tm_err *err, const char *anew);
/* Adds "tidemill run FILE --param ..." for a new job with the parameters of `job`, and those of
 * `given`, NAME=VALUE, which replace them. It works without the directory of `job`. Nothing: the
 * job has no pipeline file. */
void tm_rerun_add_without_job(struct tm_buf *out, struct tidemill_record *job,
                              const char *const *given, size_t given_len);

#endif
