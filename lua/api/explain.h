/* explain.h - of each step of a pipeline whether a run would reuse an earlier result, and why, or why not: of a plan (plan.h). */
#ifndef TM_API_EXPLAIN_H
#define TM_API_EXPLAIN_H

#include "base/json.h"
#include "plan/pipeline.h"
#include "sys/fs.h"

/* A list of {"name", "reused", "why", "from": the job, where it is reused}, in the order of the steps; to free. Nothing is made.
 * `workspace` NULL: there is none. NULL with words: an input cannot be listed, the database cannot be read. */
struct tm_json *tm_explain(const struct tm_pipeline *p, const struct tm_fs *fs,
                           const char *workspace, bool no_reuse, struct tm_err *err);

#endif
