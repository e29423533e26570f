/* overlap.h - detects outputs that are written where inputs are read, and inputs that are put there
 * (as_mount(path), as_download(path)).
 *
 * A step that reads a folder by its path while another step of the job, or the step itself, writes
 * there would see an unpredictable part of it. An output in `inputs` tells which step comes first
 * (graph.h); a path does not.
 */
#ifndef TM_PLAN_OVERLAP_H
#define TM_PLAN_OVERLAP_H

#include "plan/pipeline.h"

/* `needs` of the steps must be filled. TM_EUSAGE: a dataset names a file that a step writes,
 * without waiting for that step; or the place of an input is within the paths of a dataset. Touches
 * no disk: a path counts as a pattern if it looks like one. */
int tm_overlap_check(const struct tm_pipeline *p, struct tm_err *err);

#endif
