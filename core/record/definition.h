/* definition.h - compares the scripts and settings of a job's record with those that the user gives
 * now.
 *
 * For job.c. For a new job: take. For an existing one: compare, which writes nothing but the hashes
 * of `snapshots`; then keep.
 */
#ifndef TM_RECORD_DEFINITION_H
#define TM_RECORD_DEFINITION_H

#include "plan/pipeline.h"
#include "record/job_dir.h"
#include "snapshot/snapshot.h"

struct tm_definition {
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline;
  const struct tm_job_dir *dir;
  struct tm_snapshot *snapshots;           /* by step; zeroed, to be filled */
  const char *store;                       /* folder of packed snapshots, in a workspace; or NULL */
  bool accept_changes, keep_script;        /* as in job.h */
  void (*on_note)(void *data, char *text); /* human-readable; to free() */
  void *data;
};

/* Copies the scripts of all steps. */
int tm_definition_take(const struct tm_definition *d, struct tm_err *err);
/* Compares each step of the pipeline with the step of its name in `record` (job_record.h), which is
 * the record of the job in `dir`. TM_ECHANGED names the changes that are not allowed, with both
 * values; on_note gets the changes that are allowed or accepted. */
int tm_definition_compare(const struct tm_definition *d, const struct tm_json *record,
                          const char *dir, struct tm_err *err);
/* The same for step `i` only; the record may have further steps. */
int tm_definition_compare_step(const struct tm_definition *d, size_t i,
                               const struct tm_json *record, const char *dir, struct tm_err *err);
/* Uses the copies in the job directory if they are whole and the scripts are still the same;
 * otherwise copies again. */
int tm_definition_keep(const struct tm_definition *d, const struct tm_json *record,
                       struct tm_err *err);

#endif
