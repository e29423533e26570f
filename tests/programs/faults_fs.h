/* faults_fs.h - the real files, with a fault planned at one of the calls: for the program that
 * tests kill and starve.
 *
 * TM_FAULTS in the environment holds words with commas between them:
 *
 *   kill@N       SIGKILL to ourselves in place of the N-th call that changes something (from 1)
 *   fail@N:EIO   the N-th call of any kind answers that error (EIO ENOSPC EACCES EINTR EROFS EMFILE)
 *   short@N      the N-th call, when it is a pread or pwrite of more than a byte, does half
 *   record:FILE  each call adds a line to FILE: its number, its number among those that change something or "-", its name,
 *                its path
 *
 *   trace:FILE   what is written, synced, made and renamed is added to FILE with its bytes: trace.h
 *
 * Calls of all threads are counted together. What the table is not used for (the keeper's and the
 * workers' files) is not counted.
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
  int record;                          /* descriptor, or -1 */
  struct trace trace;
  _Atomic uint64_t calls, changes;
};

/* -1 when the plan cannot be read; `plan` NULL or "": no fault. */
int faults_fs_init(struct faults_fs *f, const char *plan);

#endif
