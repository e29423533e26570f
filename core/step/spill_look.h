/* spill_look.h - one look at the files of a result, by a thread. Are the rows that the worker
 * spilled here, and are they what it wrote? Do its output files exist? A file system that hangs
 * holds up the thread, not the loop.
 *
 * The look reads the whole file of rows, which is then in the page cache when it is copied. Output
 * files are only renamed, which the file system's server does.
 *
 * Caller, on the loop's thread: start; then either on_ended comes, after which the look is gone, or
 * close is called once.
 */
#ifndef TM_STEP_SPILL_LOOK_H
#define TM_STEP_SPILL_LOOK_H

#include "step/looks.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct tm_spill_look;

struct tm_spill_look_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const char *path; /* of the rows, copied; NULL: they are in the message */
  uint64_t length, hash;
  char *const *files; /* paths of output files, copied */
  size_t files_len;
  void (*on_ended)(void *data, struct tm_spill_look *l, const struct tm_look_finding *found);
  void *data;
};

/* NULL: no thread can be started. */
struct tm_spill_look *tm_spill_look_start(const struct tm_spill_look_options *o,
                                          struct tm_err *err);
/* Nobody needs it any more: on_ended comes soon, and what it says means nothing. */
void tm_spill_look_hurry(struct tm_spill_look *l);
/* on_ended does not come. Waits a moment for the thread. One in a call that does not return is left
 * behind: it frees itself, and touches nothing of the step. */
void tm_spill_look_close(struct tm_spill_look *l);

#endif
