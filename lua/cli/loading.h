/* loading.h - runs a user's file of definitions, which may loop for ever, or end the program.
 *
 * If the file runs for ten seconds, a message says so. If it ends the program, for instance by
 * os.exit(), another message says that; the exit status stays as the file chose it.
 */
#ifndef TM_CLI_LOADING_H
#define TM_CLI_LOADING_H

#include <tidemill.h>

struct tm_loading;

/* Watches `file` from now on. `yet`: what has not happened while it runs, as in "there is no job";
 * static memory. */
struct tm_loading *tm_loading_begin(const char *file, const char *yet);
void tm_loading_end(struct tm_loading *l); /* NULL: a no-op */

/* Like tidemill_pipeline_load(). */
int tm_loading_file(struct tidemill_pipeline **out, struct tidemill_runtime *rt, const char *file,
                    struct tm_err *err);
/* Like tidemill_pipeline_load_job(), which runs the pipeline file of the job again. */
struct tm_cli;
int tm_loading_job(const struct tm_cli *cli, struct tidemill_pipeline **out,
                   struct tidemill_runtime *rt, const char *job, struct tm_err *err);

#endif
