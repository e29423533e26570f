/* definition.h - what a job was asked to do, against what is asked now: the scripts that its workers run, and the changes.
 *
 * For job.c. A new job: take. One that is there: compare, which writes nothing; then keep.
 */
#ifndef TM_RUN_DEFINITION_H
#define TM_RUN_DEFINITION_H

#include "plan/pipeline.h"
#include "plan/snapshot.h"
#include "run/job_dir.h"

struct tm_definition {
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline;
  const struct tm_job_dir *dir;
  struct tm_snapshot *snapshots;           /* by step; zeroed, to be filled */
  const char *store;                       /* of packed snapshots, in a workspace; NULL: none */
  bool accept_changes, keep_script;        /* as of job.h */
  void (*on_note)(void *data, char *text); /* for people; to free() */
  void *data;
};

/* Copies the scripts of all steps. */
int tm_definition_take(const struct tm_definition *d, struct tm_err *err);
/* Each step of the pipeline with that of its name in `record` (job_record.h), which is the record of the job in `dir`. TM_ECHANGED
 * names what is not allowed to change, with both values; what is allowed, or accepted, is noted. */
int tm_definition_compare(const struct tm_definition *d, const struct tm_json *record,
                          const char *dir, struct tm_err *err);
/* The same of step `i` alone; the record may have other steps beside it. */
int tm_definition_compare_step(const struct tm_definition *d, size_t i,
                               const struct tm_json *record, const char *dir, struct tm_err *err);
/* Goes on with the copies that are in the job directory where they are whole and the scripts are still the same; else copies
 * anew. */
int tm_definition_keep(const struct tm_definition *d, const struct tm_json *record,
                       struct tm_err *err);

#endif
