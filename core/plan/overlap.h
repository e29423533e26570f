/* overlap.h - outputs that are written where inputs are read, and inputs that are put there (as_mount(path), as_download(path)).
 *
 * A step that reads a folder by its path while an other one of the job, or it itself, writes there would read what is half done, or
 * not, as it comes. Which step comes first is said by the output itself, standing in `inputs` (graph.h); by a path nobody can tell.
 */
#ifndef TM_PLAN_OVERLAP_H
#define TM_PLAN_OVERLAP_H

#include "plan/pipeline.h"

/* The pipeline's `needs` are known. TM_EUSAGE: a dataset names the file that a step writes, with its place, and its own step does
 * not wait for that one; or the path that an input is to appear at is within what one names. Touches no disk: a path counts as a pattern where it looks like one. */
int tm_overlap_check(const struct tm_pipeline *p, struct tm_err *err);

#endif
