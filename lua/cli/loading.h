/* loading.h - runs a pipeline file, which may loop for ever, or end the program.
 *
 * If the file runs for ten seconds, a message says so. If it ends the program, for instance by
 * os.exit(), another message says that; the exit status stays as the file chose it.
 */
#ifndef TM_CLI_LOADING_H
#define TM_CLI_LOADING_H

#include <tidemill.h>

/* Like tidemill_pipeline_load(). */
int tm_loading_file(struct tidemill_pipeline **out, struct tidemill_runtime *rt, const char *file,
                    struct tm_err *err);

#endif
