/* command_host.h - what the program does as a host and other hosts cannot.
 *
 * The program is a command. Its jobs may use its standard descriptors: pipeline files print to
 * standard output, keepers write to standard error, and a list of paths "-" is read from standard
 * input. Messages name options as a user types them: '--max-columns'.
 */
#ifndef TM_API_COMMAND_HOST_H
#define TM_API_COMMAND_HOST_H

#include <tidemill.h>

struct tm_fs;

/* Makes the runtime that of a command, with file calls that a test may replace. Call it before
 * anything else with the runtime. */
void tm_runtime_be_command(struct tidemill_runtime *rt, const struct tm_fs *fs);
/* tidemill_head() for a command. */
int tm_head_of_command(const struct tidemill_head_options *options, struct tidemill_error *err);

#endif
