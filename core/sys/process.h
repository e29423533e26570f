/* process.h - starting, watching and ending processes. Everything beneath a keeper goes through
 * here. */
#ifndef TM_SYS_PROCESS_H
#define TM_SYS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tm_spawn {
  const char *program; /* path */
  char *const *argv;   /* NULL-ended */
  char *const *env;    /* NULL-ended, "NAME=value"; NULL: this process's */
  const char *cwd;     /* or NULL */
  const int *fds; /* fds[i] becomes descriptor i; -1 (and what of 0..2 is not given): /dev/null. All
                     others are closed */
  size_t fds_len;
  bool same_session; /* it stays in this process's session and group, and ends with them */
};

/* posix_spawn: own session (but for same_session), default dispositions, empty mask. The descriptors stay the caller's.
 * Returns the pid, or a negative code: also when the program cannot be executed. */
pid_t tm_process_start(const struct tm_spawn *s, struct tm_err *err);

/* This process is killed when its parent ends; checks that the parent still is `parent` (0: not
 * checked), else ends. */
void tm_process_die_with_parent(pid_t parent);
/* This process gets `signal` when its parent, or the parent's thread that started it, ends: who catches it asks whether
 * getppid() is another. Not sent when the parent has ended before. */
void tm_process_signal_with_parent(int signal);
/* Orphans beneath this process become its children. */
int tm_process_adopt_orphans(void);

struct tm_process_end {
  pid_t pid;
  int exit_status; /* when signal is 0 */
  int signal;      /* 0: it exited */
  bool core_dumped;
};
/* A child that has ended, not reaped yet: 1, 0 when none, negative when there is no child at all.
 * Returns the same one until tm_process_reap(). */
int tm_process_next_end(struct tm_process_end *out);
/* A child that was stopped (SIGSTOP and its like) or woken since the last call: 1 with which and whether it is stopped now, 0
 * when none, negative when there is no child at all. SIGCHLD comes for both. */
int tm_process_next_stop(pid_t *pid, bool *is_stopped);
/* Reaps a child that has ended (one that lives is waited for); *max_rss_kb: the most memory it had
 * resident, or -1. May be NULL. */
void tm_process_reap(pid_t pid, int64_t *max_rss_kb);
void tm_process_kill(pid_t pid, int signal);
void tm_process_kill_group(pid_t pgid, int signal);

/* The living processes whose parent is `parent` (zombies are none), from /proc; at most `max`.
 * Returns how many. */
size_t tm_process_children(pid_t parent, pid_t *out, size_t max);
/* The value of a variable in /proc/PID/environ, as at its start: false when not there, not
 * readable, or longer than out_len - 1. */
bool tm_process_env(pid_t pid, const char *name, char *out, size_t out_len);

/* The parent of a process, from /proc; 0: there is none, or the process is gone. */
pid_t tm_process_parent(pid_t pid);
/* Kills the processes of this user in whose variable `name`, a list with commas, an entry begins with `mark`; they need not be
 * children of this one. Waits up to `ns` for their ends. This process and those above it are spared; nothing is killed when
 * it carries the mark itself. Returns how many were killed. */
size_t tm_process_kill_marked(const char *name, const char *mark, int64_t ns);

/* Cores that this process may use: affinity and cgroup quota (rounded up), at least 1. */
int tm_process_cores(void);
/* The quota's part of it: the text of /proc/self/cgroup, and where the hierarchies are mounted
 * ("/sys/fs/cgroup"). Reads cpu.max (version 2) or cpu.cfs_quota_us (version 1) of the group and
 * of those above it; 0: no limit. */
int tm_process_quota(const char *groups, const char *root);
/* This program's own path (/proc/self/exe); to free(). NULL where there is no /proc. */
char *tm_process_program(void);
/* Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed: a file or socket that came to be one of them would
 * be written to by whatever prints. First of all in a program; never in a host's. */
void tm_process_open_standard(void);
/* Standard input as a descriptor of the caller's; descriptor 0 is /dev/null from then on. Negative with words. */
int tm_process_take_stdin(struct tm_err *err);
/* The largest number of descriptors is raised to what is allowed. */
void tm_process_raise_fd_limit(void);
/* How many descriptors this process may have open. */
int64_t tm_process_fd_limit(void);
/* Resident memory of a process, kB, or -1. */
int64_t tm_process_rss_kb(pid_t pid);

/* Waits for one child to end, up to `ns`, then kills it; reaps it. `out` may be NULL; its exit_status is -1 when somebody
 * else has reaped the child, so that nobody knows. */
void tm_process_wait(pid_t pid, int64_t ns, struct tm_process_end *out);
/* 64 bits that nobody can guess. */
uint64_t tm_process_random(void);

#endif
