/* trace.h - records every file call that may matter after a power cut, with its bytes, in the order
 * of the calls.
 *
 * A trace is a text of lines. A file may hold several sessions:
 *
 *   session                         a program has begun: all earlier descriptors are closed
 *   open FD FLAGS MODE PATH
 *   close FD
 *   pwrite FD AT LEN                LEN bytes and a line break follow
 *   cut FD LENGTH
 *   syncing FD                      an fsync begins; it may or may not cover writes made meanwhile
 *   synced FD                       the fsync has succeeded
 *   mkdir MODE PATH
 *   unlink PATH
 *   remove PATH                     with all its contents
 *   rename FROM                     a line with TO follows
 *   exchange A                      a line with B follows
 *   symlink PATH                    a line with its target follows
 *
 * It has the calls that succeeded, without reads. A lock covers each call and its line, except for
 * fsync. Numbers are decimal. A path with a line break ends the program.
 */
#ifndef TM_TESTS_TRACE_H
#define TM_TESTS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/threads.h"

struct trace {
  int fd; /* -1: no trace, and the functions below do nothing */
  bool has_begun;
  struct tm_mutex mutex;
};

int trace_open(struct trace *t, const char *path); /* 0, or a negated errno; appends */
void trace_begin(struct trace *t);                 /* before the call */
/* After the call: rc is its result; adds a line unless that is an error. */
void trace_end_open(struct trace *t, int64_t rc, int flags, int mode, const char *path);
void trace_end_write(struct trace *t, int64_t rc, int fd, const void *p, int64_t at);
/* As printf; puts `second` (or NULL) on its own line. */
void trace_end(struct trace *t, int64_t rc, const char *second, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
