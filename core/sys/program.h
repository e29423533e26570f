/* program.h - running a program for whoever asks, from within a worker as well as from a host: nothing is taken over but
 * the child itself, and it is waited for by its own number.
 *
 * Steps: fill a struct tm_program; tm_program_run() for a program whose end is awaited, or tm_program_start() and later
 * tm_program_wait(). What is started stays in this process's session and group, so that it ends with a worker whose group
 * is killed. No descriptor of ours but 0, 1 and 2 reaches it.
 */
#ifndef TM_SYS_PROGRAM_H
#define TM_SYS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/process.h"

/* All memory is the caller's. */
struct tm_program {
  char *const *
      argv; /* NULL-ended. The first: a path when it has a '/' (against `cwd`), else a name that is looked
                           for in the absolute folders of PATH */
  char *const *env; /* NULL-ended, "NAME=value"; NULL: this process's */
  const char *cwd;  /* or NULL */
  const char
      *input; /* what it reads from descriptor 0, as a file; NULL: this process's descriptor 0 */
  size_t input_len;     /* bytes */
  const char *out_path; /* file for its descriptor 1, written anew; NULL: this process's */
  const char *err_path; /* the same for 2 */
};

/* Returns the pid. Negative, with words that say whether program, folder or file is missing or may not be used; then
 * nothing runs. */
pid_t tm_program_start(const struct tm_program *p, struct tm_err *err);

/* Waits up to `ns` (negative: without limit) for the end of what tm_program_start() gave, and reaps it: 1, or 0 when it
 * still runs. Negative: nobody knows how it ended, because this process ignores SIGCHLD or another part of it reaps. */
int tm_program_wait(pid_t pid, int64_t ns, struct tm_process_end *end, struct tm_err *err);
/* Sends the signal; a child that has ended and was not waited for is no error. */
int tm_program_kill(pid_t pid, int signal, struct tm_err *err);

/* What becomes of the output while tm_program_run() waits. Zeroed: both descriptors as in struct tm_program. */
struct tm_program_capture {
  struct tm_buf *out, *err; /* or NULL: not captured. Added to; also when the run fails */
  bool
      is_err_shown; /* what `err` gets is written to this process's descriptor 2 as well, as it comes */
  size_t max;       /* bytes of each; beyond it the program is killed and TM_ELIMIT is the answer */
  /* Asked with `data` once the program runs, or NULL. True: Ctrl-C came before the terminal knew of
   * the program. It then gets the SIGINT that it has missed. */
  bool (*is_interrupted)(void *data);
  void *data;
};

/* Runs it to its end and reaps it. Ends when the program itself has ended, with all that was in the pipes then: what it
 * has left in the background may go on and is not waited for. `ns` > 0: when it takes longer, the program and what
 * descends from it are killed, *timed_out is true and the run is no error. Input and output may be of any size. Negative
 * and words when it cannot be started, writes more than `max`, or its end is not known. */
int tm_program_run(const struct tm_program *p, const struct tm_program_capture *c, int64_t ns,
                   struct tm_process_end *end, bool *timed_out, struct tm_err *err);

/* For tm_program_run() itself: as tm_program_start(), with descriptors that take the place of 1 and 2 where they are not
 * negative. They stay the caller's. */
pid_t tm_program_start_with(const struct tm_program *p, int out, int errors, struct tm_err *err);

#endif
