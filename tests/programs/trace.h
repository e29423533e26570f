/* trace.h - every file call that may matter after a power cut, with its bytes, in the order in
 * which they happened.
 *
 * A trace is a text of lines; several sessions may be added to one file:
 *
 *   session                         a program has begun: descriptors of those before it are gone
 *   open FD FLAGS MODE PATH
 *   close FD
 *   pwrite FD AT LEN                LEN bytes and a line break follow
 *   cut FD LENGTH
 *   syncing FD                      an fsync begins; what is written meanwhile may or may not be covered by it
 *   synced FD                       it has ended well
 *   mkdir MODE PATH
 *   unlink PATH
 *   remove PATH                     with all that is in it
 *   rename FROM                     a line with TO follows
 *   exchange A                      a line with B follows
 *   symlink PATH                    a line with what it leads to follows
 *
 * Only calls that succeeded are in it, reads are not. A call and its line are one step: a lock is
 * held over both, but for fsync. Numbers are decimal. A path with a line break ends the program.
 */
#ifndef TM_TESTS_TRACE_H
#define TM_TESTS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/threads.h"

struct trace {
  int fd; /* -1: none, and all of the below does nothing */
  bool has_begun;
  struct tm_mutex mutex;
};

int trace_open(struct trace *t,
               const char *path);  /* 0, or a negated errno; adds to what is there */
void trace_begin(struct trace *t); /* before the call */
/* After it: rc is its answer; a line is added where that is no error. */
void trace_end_open(struct trace *t, int64_t rc, int flags, int mode, const char *path);
void trace_end_write(struct trace *t, int64_t rc, int fd, const void *p, int64_t at);
/* As printf; with `second` (or NULL) in a line of its own. */
void trace_end(struct trace *t, int64_t rc, const char *second, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
