/* resume_way.h - how a job that is not running can be resumed, judged from its files.
 *
 * `tidemill status` and the report of a run end with a command; this file decides which command
 * works. It writes nothing, and judges the job as its next session will: with recover.c.
 */
#ifndef TM_INSPECT_RESUME_WAY_H
#define TM_INSPECT_RESUME_WAY_H

#include "base/err.h"

enum tm_resume_way {
  TM_RESUME_BY_JOB,       /* tidemill resume JOB */
  TM_RESUME_BY_ACCEPTING, /* the same with --accept-changes: inputs were found to have changed */
  TM_RESUME_BY_COMMAND,   /* the command that began it, again: the definition is not on record */
  TM_RESUME_BY_LIST,      /* the same, as a list on standard input had not been read to its end */
  TM_RESUME_NEVER,        /* files of the job are missing or damaged; `why` names one */
};

/* `dir`: absolute, of a job that has begun. */
enum tm_resume_way tm_resume_way_of(const char *dir, struct tm_err *why);

#endif
