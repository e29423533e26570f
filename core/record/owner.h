/* owner.h - whether a supervisor runs a job, and which process that is. */
#ifndef TM_RECORD_OWNER_H
#define TM_RECORD_OWNER_H

#include <stdbool.h>
#include <stdint.h>

/* By the lock of the job's directory. If its file system has no locks: whether tm_owner_is_here();
 * a supervisor on another machine is not seen then. `pid` and `host`: as below. */
bool tm_owner_is_running(const char *job_dir, int64_t *pid, char **host);
/* Whether the process that `owner` names is on this machine and has `lock` open. `lock`: the
 * caller's own descriptor of that file. */
bool tm_owner_is_here(const char *job_dir, int lock);
/* The pid and the host (to free()) of the last supervisor, from `owner`; 0 and "" if the file does
 * not have them. Either may be NULL. */
void tm_owner_read(const char *job_dir, int64_t *pid, char **host);

/* Whether the process `pid` of `host` is stopped, by Ctrl-Z or SIGSTOP; false if it is not on this
 * host. Ask only while a supervisor runs the job: other processes may have its number later. */
bool tm_owner_is_stopped(int64_t pid, const char *host);

#endif
