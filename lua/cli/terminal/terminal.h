/* terminal.h - standard error, as the screen of a job.
 *
 * A stopped terminal, or a pipe without a reader, does not block the job: text that it does not
 * take is held, up to a limit, and written when it reads again, or at the end.
 */
#ifndef TM_CLI_TERMINAL_TERMINAL_H
#define TM_CLI_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include <tidemill.h>

#include "base/buf.h"

struct tm_terminal {
  int fd;     /* the caller's */
  int own_fd; /* the same terminal or pipe opened again, non-blocking; or -1 */
  bool is_tty;
  bool has_no_cursor;  /* TERM=dumb: lines cannot be redrawn */
  struct tm_buf held;  /* text that the terminal has not taken yet */
  struct tm_buf bar;   /* the text on the last line, without a line break; or empty */
  struct tm_buf later; /* text written while rows have the terminal */
  bool is_yielded;     /* rows have it */
  bool has_no_bar;     /* for good: another program writes to this terminal */
  bool is_read;        /* somebody types at it: no bar meanwhile */
  /* adds a text as the user is to read it; NULL: as it is */
  void (*add_message)(struct tm_buf *out, const char *text, size_t len);
};

void tm_terminal_init(struct tm_terminal *t, int fd);
/* Writes the held text, now waiting for the terminal, and frees it. Zeroed: does nothing. */
void tm_terminal_release(struct tm_terminal *t);
/* A screen that writes here, valid until the terminal is released; the caller sets progress and
 * colors. */
struct tidemill_screen tm_terminal_screen(struct tm_terminal *t);
/* For rows that go to the same terminal. tm_terminal_yield() removes the bar; later text is held
 * until tm_terminal_take_back(), which also draws the bar again. False: the terminal has not taken
 * everything yet, and the rows must wait. Both may be called again. */
bool tm_terminal_yield(struct tm_terminal *t);
void tm_terminal_take_back(struct tm_terminal *t);
bool tm_terminal_has_later(const struct tm_terminal *t); /* something was held back */
/* Takes the bar off its line; no frame is shown from then on. */
void tm_terminal_drop_bar(struct tm_terminal *t);
/* Whether `fd` is this terminal, too. */
bool tm_terminal_is_at(const struct tm_terminal *t, int fd);
bool tm_terminal_has_bar(const struct tm_terminal *t);
bool tm_terminal_has_color(const struct tm_terminal *t); /* not with NO_COLOR */

#endif
