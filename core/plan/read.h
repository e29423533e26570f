/* read.h - reads and checks the definition of a pipeline; touches only the files that it names.
 *
 * A pipeline comes as a tree of values (base/json.h) that the Lua constructors made, with tags and
 * the file:line of each definition. Caller: tm_pipeline_from_json() with the parameters of this
 * submission; read the structs of pipeline.h; tm_pipeline_free().
 */
#ifndef TM_PLAN_READ_H
#define TM_PLAN_READ_H

#include "base/err.h"
#include "base/json.h"
#include "plan/given.h"
#include "plan/pipeline.h"

/* `v`: tag "Pipeline". NULL with a message: file:line, key, what was given, what is accepted, the
 * nearest known name. `keeps_scripts`: the job has copies of its scripts, and the originals need
 * not exist. */
struct tm_pipeline *tm_pipeline_from_json(const struct tm_json *v, const char *file,
                                          const struct tm_param *params, size_t params_len,
                                          bool keeps_scripts, struct tm_err *err);
/* The same for a definition that a host has built, without a file: relative paths are relative to
 * `dir` (absolute), `working_dir` (or NULL) is the workers' directory; settings have the origin
 * "option". */
struct tm_pipeline *tm_pipeline_from_calls(const struct tm_json *v, const char *dir,
                                           const char *working_dir, const struct tm_param *params,
                                           size_t params_len, bool keeps_scripts,
                                           struct tm_err *err);

#endif
