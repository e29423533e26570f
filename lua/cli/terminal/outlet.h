/* outlet.h - writes rows to a descriptor as they are committed, for standard output of `map`.
 * Rows may hold names and contents of files, which must not control a terminal: a terminal gets
 * control characters as escapes.
 *
 * It reads them from the output file of the step, from where it stopped. So memory is constant
 * however slow the reader is, and the job never waits for the reader. Caller: open; _advance()
 * whenever more has been committed; between two turns of the job's loop _send(), and wait as
 * _wait() says; close.
 */
#ifndef TM_CLI_TERMINAL_OUTLET_H
#define TM_CLI_TERMINAL_OUTLET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct pollfd;

struct tm_outlet {
  int fd;     /* the caller's */
  int file;   /* the output file */
  int own_fd; /* the same pipe or terminal opened again, non-blocking; or -1 */
  int way;
  bool is_pipe, is_tty;
  int64_t sent, end; /* bytes */
  bool is_full;      /* the last attempt found no room */
  bool is_mid_line;  /* the sent text does not end in a line break */
  bool is_gone;
  char *piece;
  struct tm_buf shown; /* for a terminal: a piece of the file in escaped form, */
  size_t shown_at;     /* how much of it is written, */
  int64_t shown_for;   /* and how many bytes of the file it represents */
  char *path;
};

/* `path`: of the output file, with its current name. Zero the struct before; close it also after a
 * failure. */
int tm_outlet_open(struct tm_outlet *r, const char *path, int fd, struct tm_err *err);
/* The first `end` bytes of the file are committed rows. */
void tm_outlet_advance(struct tm_outlet *r, int64_t end);
/* Sends some of them without waiting. Negative, once, and an error: nothing more can be sent;
 * -EPIPE: the reader has gone. */
int tm_outlet_send(struct tm_outlet *r, struct tm_err *err);
/* Returns what to wait for: poll() `p` (fd -1: nothing), for at most the returned number of
 * milliseconds; -1: no limit. */
int tm_outlet_wait(const struct tm_outlet *r, struct pollfd *p);
bool tm_outlet_is_idle(const struct tm_outlet *r); /* all is sent, or the reader has gone */
void tm_outlet_close(struct tm_outlet *r);         /* zeroed: does nothing */

#endif
