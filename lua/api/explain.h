/* explain.h - whether a run would reuse an earlier result for each step, and why or why not; part
 * of a plan (plan.h). */
#ifndef TM_API_EXPLAIN_H
#define TM_API_EXPLAIN_H

#include "base/json.h"
#include "plan/pipeline.h"
#include "sys/fs.h"

/* Returns a list of {"name", "reused", "why", "from": the job, if it is reused}, in the order of
 * the steps; the caller frees it. Creates nothing. `workspace` NULL: there is none. NULL and an
 * error: an input cannot be listed, or the database cannot be read. */
struct tm_json *tm_explain(const struct tm_pipeline *p, const struct tm_fs *fs,
                           const char *workspace, bool no_reuse, struct tm_err *err);

#endif
