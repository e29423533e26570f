/* job_record.h - job.json and job_result.json: what a job was asked to do, and its result. Public,
 * versioned formats.
 *
 *   job.json
 *     "version": 1, "tidemill": "0.2.0", "name", "description", "pipeline", "submitted"
 *     "command": the command line that started the job, without values of environment variables;
 *         absent if it is not known: {"words": [...], "directory": where it was typed}; text that
 *         is not UTF-8 is packed (snapshot/source.h)
 *     "only_failed": directory of the job whose failed items are the inputs; else absent
 *     "source": what the pipeline was built from, if "pipeline" is null (snapshot/source.h); absent
 *         if it cannot be kept:
 *         {"tree", "base": relative paths start there, "working_dir", "by_calls",
 *          "output_file": the Completed job's rows are put there, "overwrite"}
 *     "params": {NAME: text or value as given at submission; a dataset with all its properties}
 *     "steps": [{"name", "script",
 *         "needs": [names of the steps that it waits for; absent: none],
 *         "definition": <tm_step.effective, and "snapshot_hash">}]
 *   job_result.json
 *     "status", "name", "pipeline", "job_dir", "cause"
 *     "canceled_by": {"now", "user", "host", "pid"}: the process that asked another one to cancel
 *         the job; absent if the job is not Canceled, or if its own process canceled it
 *     "nodes": {"asked", "started", "lost", "seconds", "busy_percent"}: what has become of the
 *         nodes that commands started in the last session; absent if none was to be started
 *         (nodes.h)
 *     "steps": [{"name", "status", "output", "cause",
 *         "mini_batches": {"total", "succeeded", "failed"}, "items": {the same},
 *         "reused", "reused_from": directory of the job that the result is from,
 *         "failed_items": the list of failed items; absent if no item failed}]
 */
#ifndef TM_RECORD_JOB_RECORD_H
#define TM_RECORD_JOB_RECORD_H

#include "plan/pipeline.h"
#include "record/events.h"
#include "record/job_dir.h"
#include "snapshot/snapshot.h"

/* Atomic. `snapshots`: one for each step. `command`: of the earlier record of a resumed job; NULL:
 * that of the pipeline. */
int tm_job_record_write(const struct tm_job_dir *d, const struct tm_pipeline *pipeline,
                        const struct tm_snapshot *snapshots, const struct tm_json *command,
                        struct tm_err *err);
/* To free. TM_EVERSION, TM_EDAMAGE. */
struct tm_json *tm_job_record_read(const struct tm_job_dir *d, struct tm_err *err);
/* The same by the job's directory, for readers. */
struct tm_json *tm_job_record_load(const char *dir, struct tm_err *err);
/* job_result.json of a directory, to free. NULL, without a message if the file does not exist, else
 * with one. */
struct tm_json *tm_job_result_load(const char *dir, struct tm_err *err);
/* The step of that name in a record, or NULL. */
const struct tm_json *tm_job_record_step(const struct tm_json *record, const char *name);
/* The name of the output file of a step in a record; NULL: the step writes no rows. */
const char *tm_job_record_rows_file(const struct tm_json *step);

/* The result of one step, as in the result of its job; to free. */
struct tm_json *tm_step_result_new(const struct tm_step_view *step);
/* Writes <step>/step_result.json: this step is Completed, while other steps are not. It stays
 * Completed, however the job ends. Atomic. */
int tm_step_result_write(const struct tm_job_dir *d, const struct tm_step_view *step,
                         struct tm_err *err);
/* The same into a folder that will become the step's folder. */
int tm_step_result_put(const struct tm_fs *fs, const char *dir, const struct tm_json *result,
                       struct tm_err *err);
/* To free. `dir`: of the step. NULL: the file does not exist or cannot be read; the caller opens
 * the step to find out. */
struct tm_json *tm_step_result_load(const char *dir);
/* Removes the file: whether the step is Completed must be found out again. */
int tm_step_result_remove(const struct tm_job_dir *d, const char *dir, struct tm_err *err);

struct tm_json *tm_job_result_new(const struct tm_job_view *job);
int tm_job_result_write(const struct tm_job_dir *d, const struct tm_json *result,
                        struct tm_err *err);
/* Whether the directory holds a result that says Completed. */
bool tm_job_result_is_completed(const struct tm_job_dir *d, struct tm_json **out);

#endif
