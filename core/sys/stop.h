/* stop.h - a flag that one thread raises and another heeds, also while that one waits for input.
 *
 * Raised once and for good. tm_stop_read() waits for bytes or for the flag, whichever comes first: what is read may be a FIFO
 * that nobody writes to.
 */
#ifndef TM_SYS_STOP_H
#define TM_SYS_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct tm_stop {
  atomic_bool is_set;
  int fd; /* readable once the flag is raised */
  void (*on_wait)(
      void *
          data); /* before tm_stop_read() waits, on its thread; or NULL. The caller's, set behind open */
  void *data;
};

/* Negative and words when no descriptor can be had. */
int tm_stop_open(struct tm_stop *s, struct tm_err *err);
void tm_stop_set(struct tm_stop *s); /* any thread */
bool tm_stop_is_set(const struct tm_stop *s);
/* Nobody waits any more. */
void tm_stop_close(struct tm_stop *s);

/* What comes next in a file, FIFO or pipe that was opened with O_NONBLOCK: the number of bytes; 0 at the end, of a FIFO when
 * its last writer has closed it; -ECANCELED when the flag is raised; or a negated errno. `s` NULL: nothing stops it. */
int64_t tm_stop_read(const struct tm_stop *s, int fd, void *p, size_t n);

#endif
