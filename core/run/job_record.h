/* job_record.h - job.json and job_result.json: what a job was asked to do, and what came of it.
 * Public, versioned formats.
 *
 *   job.json         {"version": 1, "tidemill": "0.1.0", "name", "description", "pipeline", "submitted",
 *                     "only_failed": directory of the job whose failed items are the inputs; else absent,
 *                     "source": what the pipeline was built from, where "pipeline" is null (plan/source.h): {"tree", "base": what relative paths
 *                     are against, "working_dir", "by_calls", "output_file": where the rows are put when the job is Completed, "overwrite"}; absent where a file has it, or where it cannot be kept,
 *                     "params": {NAME: text or value, as given at the submission; of a dataset all that it is},
 *                     "steps": [{"name", "script", "needs": [names of the steps it waits for; absent: none], "definition": <tm_step.effective, and "snapshot_hash">}]}
 *   job_result.json  {"status", "name", "pipeline", "job_dir", "cause", "steps": [{"name", "status", "mini_batches": {"total", "succeeded", "failed"},
 *                     "items": {the same}, "reused", "reused_from": directory of the job whose result it is, "output", "cause",
 *                     "failed_items": the list of the items that failed; absent where none did}]}
 */
#ifndef TM_RUN_JOB_RECORD_H
#define TM_RUN_JOB_RECORD_H

#include "plan/pipeline.h"
#include "plan/snapshot.h"
#include "run/events.h"
#include "run/job_dir.h"

/* Atomic. `snapshots`: one for each step. */
int tm_job_record_write(const struct tm_job_dir *d, const struct tm_pipeline *pipeline,
                        const struct tm_snapshot *snapshots, struct tm_err *err);
/* To free. TM_EVERSION, TM_EDAMAGE. */
struct tm_json *tm_job_record_read(const struct tm_job_dir *d, struct tm_err *err);
/* The same by the job's directory, for readers. */
struct tm_json *tm_job_record_load(const char *dir, struct tm_err *err);
/* job_result.json of a directory, to free; NULL without words when there is none, else with. */
struct tm_json *tm_job_result_load(const char *dir, struct tm_err *err);
/* The step of that name in a record, or NULL. */
const struct tm_json *tm_job_record_step(const struct tm_json *record, const char *name);

/* What came of one step, as in the result of its job; to free. */
struct tm_json *tm_step_result_new(const struct tm_step_view *step);
/* <step>/step_result.json says that a step of several is Completed, while others are not: whatever
 * happens to the job, it is kept. Atomic. */
int tm_step_result_write(const struct tm_job_dir *d, const struct tm_step_view *step,
                         struct tm_err *err);
/* The same into a folder that is to be the step's. */
int tm_step_result_put(const struct tm_fs *fs, const char *dir, const struct tm_json *result,
                       struct tm_err *err);
/* To free; NULL: there is none, or none that can be read, and the step is opened to see. `dir`: of
 * the step. */
struct tm_json *tm_step_result_load(const char *dir);
/* It is to be seen again whether it is Completed. */
int tm_step_result_remove(const struct tm_job_dir *d, const char *dir, struct tm_err *err);

struct tm_json *tm_job_result_new(const struct tm_job_view *job);
int tm_job_result_write(const struct tm_job_dir *d, const struct tm_json *result,
                        struct tm_err *err);
/* The directory holds a result that says Completed. */
bool tm_job_result_is_completed(const struct tm_job_dir *d, struct tm_json **out);

#endif
