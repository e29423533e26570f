/* program.h - runs a program, within a worker as well as within a host: it affects only the child,
 * and waits for it by its number.
 *
 * Steps: fill a struct tm_program; call tm_program_run() to wait for its end, or tm_program_start()
 * and later tm_program_wait(). The program stays in this process's session and group, so that it
 * ends with a worker whose group is killed. Of our descriptors, it gets only 0, 1 and 2.
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
  /* NULL-ended. The first is a path if it has a '/' (relative to `cwd`), else a name to look up in
   * the absolute folders of PATH */
  char *const *argv;
  char *const *env;     /* NULL-ended, "NAME=value"; NULL: this process's */
  const char *cwd;      /* or NULL */
  const char *input;    /* the contents of its descriptor 0; NULL: this process's descriptor 0 */
  size_t input_len;     /* bytes */
  const char *out_path; /* file for its descriptor 1, truncated; NULL: this process's */
  const char *err_path; /* the same for descriptor 2 */
};

/* The file that a start would execute, to free(): argv[0] itself, or in the folder of PATH that has
 * it. NULL with the message of tm_program_start() if the program or `cwd` is missing or
 * cannot be used. */
char *tm_program_file(const struct tm_program *p, struct tm_err *err);

/* Returns the pid. On failure a negative code, with a message that says whether the program, a
 * folder or a file is missing or cannot be used; then nothing runs. */
pid_t tm_program_start(const struct tm_program *p, struct tm_err *err);

/* Waits up to `ns` (negative: without limit) for the end of a started program, and reaps it: 1, or
 * 0 if it still runs. Negative: its status is unknown, because this process ignores SIGCHLD or
 * other code in it reaps. */
int tm_program_wait(pid_t pid, int64_t ns, struct tm_process_end *end, struct tm_err *err);
/* Sends the signal. Returns 0 for a child that has ended and was not waited for. */
int tm_program_kill(pid_t pid, int signal, struct tm_err *err);

/* Where the output goes while tm_program_run() waits. Zeroed: both descriptors as in struct
 * tm_program. */
struct tm_program_capture {
  struct tm_buf *out, *err; /* appended to, also when the run fails; NULL: not captured */
  /* what `err` gets is also written to this process's descriptor 2, as it arrives */
  bool is_err_shown;
  size_t max; /* bytes of each; beyond it the program is killed and the result is TM_ELIMIT */
  /* Called with `data` once the program runs, or NULL. True: Ctrl-C was pressed before the terminal
   * knew of the program, which then gets the SIGINT that it missed. */
  bool (*is_interrupted)(void *data);
  void *data;
};

/* Runs the program to its end and reaps it. Returns when the program itself has ended, with all
 * that was in the pipes then; it does not wait for background processes that the program leaves.
 * `ns` > 0: a program that runs longer is killed with its descendants, *timed_out is true, and the
 * call succeeds. Input and output may be of any size. Negative with a message if it cannot be
 * started, writes more than `max`, or its status is unknown. */
int tm_program_run(const struct tm_program *p, const struct tm_program_capture *c, int64_t ns,
                   struct tm_process_end *end, bool *timed_out, struct tm_err *err);

/* For tm_program_run() itself: like tm_program_start(), with descriptors that replace 1 and 2
 * unless negative. They stay the caller's. */
pid_t tm_program_start_with(const struct tm_program *p, int out, int errors, struct tm_err *err);

#endif
