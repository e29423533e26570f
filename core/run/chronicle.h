/* chronicle.h - what the workspace is told of a job (store/history.h): that it has begun, and what came of it. */
#ifndef TM_RUN_CHRONICLE_H
#define TM_RUN_CHRONICLE_H

#include "base/err.h"
#include "run/events.h"

/* `workspace` NULL: nobody is told. */
int tm_chronicle_add(const char *workspace, const struct tm_job_view *job, int64_t wall_ns,
                     struct tm_err *err);

#endif
