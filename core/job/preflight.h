/* preflight.h - finds what prevents a job before anything of it is made: destinations that are full
 * or must not be replaced, input paths that are in use (destinations.h, own_folder.h,
 * input_staging.h), nodes that Slurm can never grant (slurm_test.h), and inputs that name nothing
 * (first_look.h). A job looks before it has a
 * directory, and `--dry-run` looks too.
 *
 * A destination may hold the earlier result that a step will reuse (reuse.h), so reuse is decided
 * first.
 */
#ifndef TM_JOB_PREFLIGHT_H
#define TM_JOB_PREFLIGHT_H

#include "plan/pipeline.h"
#include "sys/fs.h"

struct tm_preflight {
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline;
  const char *program;   /* that nodes of Slurm run, so that --bcast finds it */
  const char *job_dir;   /* its Completed steps are not checked; NULL: the job is new */
  const char *dir;       /* the job's, absolute; may not exist yet; NULL: not known */
  const char *workspace; /* absolute; NULL: no reuse */
  bool no_reuse;
};

/* Only looks, first at TMPDIR. TM_EUSAGE with the place of the definition; TM_ENOINPUT, if there is
 * no job yet, for a step that waits for no other. A step passes if it is known to be reused
 * (reuse_plan.h). A step that reads the output of one that is run is not known to be reused. */
int tm_preflight(const struct tm_preflight *p, struct tm_err *err);

#endif
