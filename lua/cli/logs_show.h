/* logs_show.h - `tidemill logs --mini-batch`: all that is known of one mini-batch, on standard output. Within lua/cli. */
#ifndef TM_CLI_LOGS_SHOW_H
#define TM_CLI_LOGS_SHOW_H

#include "cli/cli.h"

/* Its tries, with what their workers logged meanwhile; `step` NULL: of each step that has one of the number. The exit status. Negative
 * with words: there is no such mini-batch. */
int tm_logs_show_mini_batch(struct tidemill_workspace *ws, const char *job, const char *step,
                            int64_t mini_batch, struct tm_err *err);

#endif
