/* faults_fs.h - the real file calls, with a planned fault at one of them, for the program that
 * tests kill or make fail.
 *
 * TM_FAULTS in the environment has these words, separated by commas:
 *
 *   kill@N       SIGKILL to this process in place of the N-th call that changes something (from 1)
 *   fail@N:EIO   the N-th call of any kind fails (EIO ENOSPC EACCES EINTR EROFS EMFILE)
 *   locks:ENOLCK every flock() of a job's `lock` and `node.lock` fails (also ENOSYS EOPNOTSUPP)
 *   short@N      the N-th call, if it is a pread or pwrite of more than one byte, transfers half
 *   record:FILE  each call adds a line to FILE: its number, its number among the calls that change
 *                something or "-", its name, its path
 *   trace:FILE   each write, sync, creation and rename is added to FILE, with its bytes: trace.h
 *
 * The count covers the calls of all threads through the table of sys/fs.h. It does not cover the
 * keeper's and the workers' files, which do not use the table. Locks fail in all processes.
 */
#ifndef TM_TESTS_FAULTS_FS_H
#define TM_TESTS_FAULTS_FS_H

#include <stdatomic.h>
#include <stdint.h>

#include "sys/fs.h"
#include "trace.h"

struct faults_fs {
  struct tm_fs fs;
  uint64_t kill_at, fail_at, short_at; /* 0: never */
  int code;                            /* of fail_at, negated errno */
  int lock_code;                       /* of locks; 0: they work */
  int record;                          /* descriptor, or -1 */
  struct trace trace;
  _Atomic uint64_t calls, changes;
};

/* -1 when the plan cannot be read; `plan` NULL or "": no fault. */
int faults_fs_init(struct faults_fs *f, const char *plan);
/* The planned result of flock() for this descriptor; 0: the real one counts. */
int faults_fs_lock(const struct faults_fs *f, int fd);

#endif
