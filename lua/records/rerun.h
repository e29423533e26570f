/* rerun.h - how to run the failed items of a job again: the command, and the line that shows it. */
#ifndef TM_RECORDS_RERUN_H
#define TM_RECORDS_RERUN_H

#include <tidemill.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/* A command that starts a new job. */
struct tm_rerun {
  struct TM_ARRAY(char *) argv;
  char *directory; /* where it must run; NULL: anywhere */
};

/* Whether it is known which items of the job failed, and none are rows of a table. */
bool tm_rerun_can_be_alone(struct tidemill_record *job);
/* Over all items of `job`, or those that failed. False: the command that started the job is not
 * recorded, or cannot be given again as it is. Release it in either case. */
bool tm_rerun_init(struct tm_rerun *c, struct tidemill_record *job, bool only_failed);
void tm_rerun_add_word(struct tm_rerun *c, const char *word);
void tm_rerun_release(struct tm_rerun *c);
/* Adds it for a shell in the directory `here`; NULL: in any directory. */
void tm_rerun_add_text(struct tm_buf *out, const struct tm_rerun *c, const char *here);

/* Adds the words of the command that started a job without a pipeline file, for this directory;
 * `only_failed`: the job whose failed items it should run, or NULL for all items. */
typedef void (*tm_rerun_own)(void *data, struct tm_rerun *out, const char *only_failed);

/* Adds the line without a line break; false, and nothing: no item failed. `own` may be NULL. */
bool tm_rerun_add(struct tm_buf *out, struct tidemill_record *job, tm_rerun_own own, void *data);
/* Adds "; to start a new job: COMMAND" if the command is known. */
void tm_rerun_add_anew(struct tm_buf *out, struct tidemill_record *job, tm_rerun_own own,
                       void *data);
/* Adds the command of `own` over all items. */
void tm_rerun_add_own(struct tm_buf *out, tm_rerun_own own, void *data);
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
