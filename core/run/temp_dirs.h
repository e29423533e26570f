/* temp_dirs.h - where the temp_dir of each worker of a step is. The keeper makes it and removes it; who finds that the keeper is
 * no more removes it here: the supervisor, or the next session of the job. */
#ifndef TM_RUN_TEMP_DIRS_H
#define TM_RUN_TEMP_DIRS_H

/* What their paths begin with, below TMPDIR or /tmp; to free(). A hash keeps jobs of one name apart. */
char *tm_temp_dirs_base(const char *job_dir, const char *step_dir);
/* That of one worker, with all that is in it. */
void tm_temp_dirs_remove(const char *job_dir, const char *step_dir, const char *worker_name);

#endif
