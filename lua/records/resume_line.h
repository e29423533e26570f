/* resume_line.h - the last lines about a job that is not Completed: the command that resumes it, or
 * why there is none.
 */
#ifndef TM_RECORDS_RESUME_LINE_H
#define TM_RECORDS_RESUME_LINE_H

#include <stdbool.h>

#include "records/rerun.h"

struct tm_buf;

/* Adds the command that started the job, changed to resume it: `dir` is the job's directory,
 * `accepts`: with --accept-changes. */
struct tm_resume_command {
  void (*add)(void *data, struct tm_buf *out, const char *dir, bool accepts);
  tm_rerun_own add_anew; /* the command for a new job */
  void *data;
};

/* Adds "to go on: tidemill resume DIR" to `out`, or a message that applies instead. `command`: NULL
 * if unknown. `after`: for a Failed job, gets the line about a corrected script or input, if there
 * is one; else NULL. */
void tm_resume_line_add(struct tm_buf *out, struct tm_buf *after, const char *dir,
                        const struct tm_resume_command *command);

/* For a job that Failed because its inputs differ from its list, or a Completed job with such
 * inputs: adds the command that continues with the list, if it is complete, and the one that starts
 * a new job. False: nothing is added, as the job ended for another reason. */
bool tm_resume_line_add_changed(struct tm_buf *out, struct tm_buf *after, const char *dir,
                                const struct tm_resume_command *command);

#endif
