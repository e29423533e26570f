/* stop.h - a flag that one thread sets and another obeys, also while that one waits for input.
 *
 * Once set, it stays set. tm_stop_read() waits for bytes or for the flag, whichever comes first:
 * its input may be a FIFO that nobody writes to.
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
  int fd; /* readable once the flag is set */
  /* called before tm_stop_read() waits, on its thread; or NULL. Set by the caller after opening */
  void (*on_wait)(void *data);
  void *data;
};

/* Negative, with a message, if there is no descriptor left. */
int tm_stop_open(struct tm_stop *s, struct tm_err *err);
void tm_stop_set(struct tm_stop *s); /* any thread */
bool tm_stop_is_set(const struct tm_stop *s);
/* Call it after the last wait of any thread. */
void tm_stop_close(struct tm_stop *s);

/* Reads from a file, FIFO or pipe that was opened with O_NONBLOCK. Returns the number of bytes; 0
 * at the end (for a FIFO: when its last writer has closed it); -ECANCELED when the flag is set; or
 * a negated errno. `s` NULL: nothing stops it. */
int64_t tm_stop_read(const struct tm_stop *s, int fd, void *p, size_t n);

#endif
