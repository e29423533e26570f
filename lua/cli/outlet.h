/* outlet.h - rows to a descriptor as they are committed: standard output of `map`.
 *
 * They are read back from the output file of the step, behind what has been sent, so that memory is flat however slow the
 * reader is, and the job never waits for it. Caller, on the loop's thread: open; _advance() whenever more has been
 * committed; on_idle or on_gone say when all is sent, or never will be; close.
 */
#ifndef TM_CLI_OUTLET_H
#define TM_CLI_OUTLET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct tm_outlet_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const char *path;            /* of the output file, as it is named now */
  int fd;                      /* the caller's */
  void (*on_idle)(void *data); /* all that was advanced to has been sent; or NULL */
  /* Nothing more can be sent; -EPIPE: the reader has gone. */
  void (*on_gone)(void *data, const struct tm_err *err);
  void *data;
};

struct tm_outlet {
  struct tm_outlet_options o;
  int file;   /* the output file */
  int own_fd; /* the same pipe or terminal opened anew, non-blocking; or -1 */
  int way;
  bool is_pipe;
  struct tm_poll poll;
  struct tm_timer again;
  int64_t sent, end; /* bytes */
  bool is_gone;
  char *piece;
  char *path;
};

/* Zero the struct before; close it also after a failure. */
int tm_outlet_open(struct tm_outlet *r, const struct tm_outlet_options *o, struct tm_err *err);
/* The first `end` bytes of the file are rows that are committed. Nothing is sent, and nobody called, from within. */
void tm_outlet_advance(struct tm_outlet *r, int64_t end);
bool tm_outlet_is_idle(const struct tm_outlet *r); /* all is sent, or nobody is there */
/* The struct must live until the loop has closed its handles. Zeroed: a no-op. */
void tm_outlet_close(struct tm_outlet *r);

#endif
