/* command_line.h - the command line that starts a job: recorded with the job, shown by `status`.
 *
 * Values of environment variables may be passwords, so no record holds them (snapshot/source.h).
 * They are replaced by "...".
 */
#ifndef TM_CLI_COMMAND_LINE_H
#define TM_CLI_COMMAND_LINE_H

#include <stdbool.h>

#include <tidemill.h>

#include "base/err.h"

struct tm_buf;

/* Records the words; argv[0] is the name of the command. */
int tm_command_line_record(struct tidemill_pipeline *p, int argc, char **argv, struct tm_err *err);
/* Adds two lines about the command of a job; nothing if it is not recorded. */
void tm_command_line_add(struct tm_buf *out, struct tidemill_record *job);
/* Whether the user gave the parameters of the job as options: `map` started it, and there is no
 * pipeline file. */
bool tm_command_line_defines(struct tidemill_record *job);

#endif
