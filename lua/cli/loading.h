/* loading.h - running a pipeline file, which may loop for ever, or end the program.
 *
 * If it runs for ten seconds, a line says so. If it ends the program, by os.exit() for instance, a
 * line says that too; the exit status stays what the file asked for.
 */
#ifndef TM_CLI_LOADING_H
#define TM_CLI_LOADING_H

#include <tidemill.h>

/* As tidemill_pipeline_load(). */
int tm_loading_file(struct tidemill_pipeline **out, struct tidemill_runtime *rt, const char *file,
                    struct tm_err *err);

#endif
