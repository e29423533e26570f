/* process.h - starting, watching and ending processes. All processes beneath a keeper are handled
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
  /* fds[i] becomes descriptor i; -1, or a missing one of 0..2: /dev/null. All others are closed */
  const int *fds;
  size_t fds_len;
  bool same_session; /* it stays in this process's session and group, and ends with them */
};

/* Starts a process by posix_spawn: its own session (unless same_session), default dispositions,
 * empty signal mask. The descriptors stay the caller's. Returns the pid, or a negative code, also
 * when the program cannot be executed. */
pid_t tm_process_start(const struct tm_spawn *s, struct tm_err *err);

/* The kernel kills this process when its parent ends. Ends it at once if the parent is no longer
 * `parent` (0: not checked). */
void tm_process_die_with_parent(pid_t parent);
/* This process gets `signal` when its parent, or the parent's thread that started it, ends: the
 * handler checks whether getppid() has changed. Not sent when the parent has ended before. */
void tm_process_signal_with_parent(int signal);
/* From now on `signal` does nothing to this process; programs that it starts have the default. */
void tm_process_outlive(int signal);
/* Orphans beneath this process become its children. */
int tm_process_adopt_orphans(void);

struct tm_process_end {
  pid_t pid;
  int exit_status; /* when signal is 0 */
  int signal;      /* 0: it exited */
  bool core_dumped;
};
/* A child that has ended and is not reaped yet: 1; 0 if none; negative if there are no children.
 * Returns the same child until tm_process_reap(). */
int tm_process_next_end(struct tm_process_end *out);
/* A child that was stopped (by SIGSTOP and the like) or continued since the last call: 1, with *pid
 * and *is_stopped; 0 if none; negative if there are no children. SIGCHLD is sent for both. */
int tm_process_next_stop(pid_t *pid, bool *is_stopped);
/* Reaps a child that has ended (waits if it still lives). *max_rss_kb: its maximum resident memory,
 * or -1; may be NULL. */
void tm_process_reap(pid_t pid, int64_t *max_rss_kb);
void tm_process_kill(pid_t pid, int signal);
void tm_process_kill_group(pid_t pgid, int signal);

/* The living processes (not zombies) whose parent is `parent`, from /proc; at most `max`. Returns
 * the number. */
size_t tm_process_children(pid_t parent, pid_t *out, size_t max);
/* The value of a variable in /proc/PID/environ, as at its start. False if it is not set, cannot be
 * read, or is longer than out_len - 1. A process in the middle of exec() has no environment: waits
 * a moment for that. */
bool tm_process_env(pid_t pid, const char *name, char *out, size_t out_len);

/* The parent of a process, from /proc; 0: it has none, or is gone. */
pid_t tm_process_parent(pid_t pid);
/* Whether a process is stopped, by Ctrl-Z, SIGSTOP or a debugger, from /proc. */
bool tm_process_is_stopped(pid_t pid);
/* How many descriptors of the process are of the same file as `fd`, a descriptor of this process.
 * `name`: the last part of its path. 0: none, or this user may not look. */
size_t tm_process_count_open(pid_t pid, int fd, const char *name);
/* The processes whose variable `name`, a comma-separated list, has an entry that begins with
 * `begin`, and whose rest is_meant() accepts. The rest ends with the entry's ',' or with NUL. */
struct tm_process_mark {
  const char *name, *begin;
  bool (*is_meant)(const void *data, const char *rest); /* NULL: accepts all */
  const void *data;
};
/* Kills those of this user; they need not be children. Waits up to `ns` for their ends. Spares this
 * process and its ancestors; kills nothing if this process carries the mark itself. Returns the
 * number killed. */
size_t tm_process_kill_marked(const struct tm_process_mark *m, int64_t ns);

/* Cores that this process may use: affinity and cgroup quota (rounded up), at least 1. */
int tm_process_cores(void);
/* The cores in the affinity mask; 0: not known. */
int tm_process_affinity(void);
/* The quota of this process's control groups, in cores, rounded up; 0: no limit. */
int tm_process_own_quota(void);
/* The same for given files. `groups`: the text of /proc/self/cgroup; `root`: where the
 * hierarchies are mounted ("/sys/fs/cgroup"). Reads cpu.max (version 2) or cpu.cfs_quota_us
 * (version 1) of the group and those above it. 0: no limit. */
int tm_process_quota(const char *groups, const char *root);
/* The id that the kernel chose when the machine started, or "": not known. To free(). */
char *tm_process_boot_id(void);
/* This program's own path; "/proc/self/exe", which can be started, too, if it was removed or
 * replaced since. To free(). NULL if there is no /proc. */
char *tm_process_program(void);
/* Opens /dev/null for each of descriptors 0, 1 and 2 that is closed: a file or socket with such a
 * number would receive whatever code prints. The first call of a program; never in a host. Returns
 * 1 << fd for each that was closed. */
unsigned tm_process_open_standard(void);
/* Moves standard input to a descriptor of the caller's; descriptor 0 becomes /dev/null. Negative
 * with a message on failure. */
int tm_process_take_stdin(struct tm_err *err);
/* The same for standard input and output. */
int tm_process_take_streams(int *in, int *out, struct tm_err *err);
/* Raises the limit of open descriptors to the maximum allowed. */
void tm_process_raise_fd_limit(void);
/* How many descriptors this process may have open. */
int64_t tm_process_fd_limit(void);
/* How many bytes a file may have that this process writes. INT64_MAX: there is no limit. */
int64_t tm_process_file_limit(void);
/* For a thread or a process that could not be started, with `code`. If resources are lacking, adds
 * the limits of this process on them to the message. Returns `code`. `err` may be NULL. */
int tm_process_blame_limits(int code, struct tm_err *err);
/* When a process was started, in ticks since the machine was, from /proc; 0: it is not there. Its
 * number alone may be used again. */
uint64_t tm_process_born(pid_t pid);
/* A descriptor (pidfd) of a process that need not be a child. It can be read when the process has
 * ended. -ESRCH: the process with this number was not `born` then; or another negative code. */
int tm_process_hold(pid_t pid, uint64_t born);
void tm_process_kill_held(int held, int signal);

/* What a process has in memory. */
struct tm_process_memory {
  int64_t own_kb;    /* anonymous and shared memory: nobody else can give it back */
  int64_t mapped_kb; /* pages of files, which the kernel may drop and read again */
};
/* From /proc; takes 7 us. False: there is no such process, or it has ended. */
bool tm_process_memory(pid_t pid, struct tm_process_memory *out);
/* The same from the text of /proc/PID/status. Where the kernel does not tell the kinds of memory
 * apart, all of it is the process's own. */
bool tm_process_memory_parse(const char *status, struct tm_process_memory *out);

/* Waits up to `ns` for one child to end, then kills it; reaps it. `out` may be NULL; its
 * exit_status is -1 if other code has reaped the child, so that its status is unknown. */
void tm_process_wait(pid_t pid, int64_t ns, struct tm_process_end *out);
/* The name of the user of this process, or "uid-1000" if it has none; to free(). */
char *tm_process_user(void);
/* 64 unpredictable bits. */
uint64_t tm_process_random(void);

#endif
