/* probe_paths.h - the paths that a node must be able to use for a step, besides those in the job's
 * directory. Pure: whether they are there is for others to see. */
#ifndef TM_JOB_PROBE_PATHS_H
#define TM_JOB_PROBE_PATHS_H

#include "base/mem.h"
#include "plan/pipeline.h"

/* More are not asked for: a step may list a million files. */
#define TM_PROBE_PATHS_MAX 256

struct tm_probe_paths {
  struct TM_ARRAY(char *) reads;  /* absolute, different ones, TM_PROBE_PATHS_MAX at most */
  struct TM_ARRAY(char *) writes; /* likewise; folders */
};
/* Adds those of the step. reads: what its inputs and side inputs name (of a pattern the folder
 * where its search begins), the datasets in its arguments, its module paths and working directory;
 * not what another step writes, and not the files that a manifest lists. writes: destinations that
 * its script writes to directly. `script_dir`: the copy of its script; NULL: not known.
 * With ship_source, neither this nor module paths: the node has its own copy. */
void tm_probe_paths_add(struct tm_probe_paths *p, const struct tm_step *step,
                        const char *script_dir);
void tm_probe_paths_release(struct tm_probe_paths *p);

#endif
