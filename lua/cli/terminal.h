/* terminal.h - standard error, as the screen of a job.
 *
 * A terminal that is stopped, or a pipe that nobody reads, does not hold up the job: what it does not take is held, up
 * to a limit, and written when it reads again, at the latest at the end.
 */
#ifndef TM_CLI_TERMINAL_H
#define TM_CLI_TERMINAL_H

#include <stdbool.h>

#include <tidemill.h>

#include "base/buf.h"

struct tm_terminal {
  int fd;     /* the caller's */
  int own_fd; /* the same terminal or pipe opened anew, non-blocking; or -1 */
  bool is_tty;
  bool has_no_cursor; /* TERM=dumb: lines cannot be redrawn */
  struct tm_buf held; /* not taken yet */
};

void tm_terminal_init(struct tm_terminal *t, int fd);
/* Writes what is held, now waiting for it, and frees. Zeroed: a no-op. */
void tm_terminal_release(struct tm_terminal *t);
/* One that writes here, for as long as the terminal is not released: its progress and colors are the caller's. */
struct tidemill_screen tm_terminal_screen(struct tm_terminal *t);
bool tm_terminal_has_bar(const struct tm_terminal *t);
bool tm_terminal_has_color(const struct tm_terminal *t); /* not with NO_COLOR */

#endif
