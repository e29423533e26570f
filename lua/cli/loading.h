/* loading.h - runs a user's file of definitions, which may loop for ever, or end the program.
 *
 * If the file runs for ten seconds, or Ctrl-C ends it before, a message says so. If it ends the
 * program, for instance by os.exit(), another message says that; the exit status stays as the file
 * chose it, except that 0 becomes 2, because nothing has been done.
 */
#ifndef TM_CLI_LOADING_H
#define TM_CLI_LOADING_H

#include <tidemill.h>

#include "base/err.h"

struct tm_loading;
struct tm_cli;

enum tm_loading_kind { TM_LOADING_PIPELINE, TM_LOADING_PARAMETERS };

/* Watches `file` from now on. `yet`: what has not happened while it runs, as in "there is no job";
 * static memory. */
struct tm_loading *tm_loading_begin(enum tm_loading_kind kind, const char *file, const char *yet);
/* Watches the pipeline file of a job. NULL: the job is unknown, or has no file. */
struct tm_loading *tm_loading_begin_job(const struct tm_cli *cli, const char *job, const char *yet);
void tm_loading_end(struct tm_loading *l); /* NULL: a no-op */

/* Like tidemill_pipeline_load(). */
int tm_loading_file(struct tidemill_pipeline **out, struct tidemill_runtime *rt, const char *file,
                    struct tm_err *err);
/* Like tidemill_pipeline_load_job(), which runs the pipeline file of the job again. */
int tm_loading_job(const struct tm_cli *cli, struct tidemill_pipeline **out,
                   struct tidemill_runtime *rt, const char *job, struct tm_err *err);

#endif
