/* log_window.h - a piece of a text file of any size, and the lines in it. Pure.
 *
 *   tm_window_at() says which bytes to read -> tm_window_cut() says which of them to show
 *   -> tm_window_line() until it returns false
 *
 * A window has at most TM_WINDOW_BYTES and TM_WINDOW_LINES. It begins and ends with a line;
 * of a line that is longer than the window, it is a piece.
 */
#ifndef TM_PORTAL_LOG_WINDOW_H
#define TM_PORTAL_LOG_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TM_WINDOW_BYTES (256 << 10)
#define TM_WINDOW_LINES 4000
#define TM_WINDOW_LINE  4096 /* bytes shown of one line */

struct tm_window {
  int64_t from, to; /* bytes of the file */
  bool is_backward; /* it is the end that was asked for, not the begin */
};

/* `where`: "end", "<byte>", or "before-<byte>"; anything else means byte 0. Never reaches beyond
 * `size`, which may be smaller than it was. */
struct tm_window tm_window_at(const char *where, int64_t size);

/* `data`: the bytes of *w that could be read, `n` of them; `size`: of the file. Narrows *w to whole
 * lines, and sets *skip to the number of bytes before them in `data`. */
void tm_window_cut(struct tm_window *w, const char *data, size_t n, int64_t size, size_t *skip);

struct tm_window_line {
  const char *text;
  size_t len;   /* at most TM_WINDOW_LINE */
  int64_t more; /* bytes that are left out */
};

/* The line at *at, of `n` bytes; moves *at behind it. Of a line that a program wrote over and over
 * again by carriage returns, the last state is shown, as on a terminal. False: there is none. */
bool tm_window_line(const char *data, size_t n, size_t *at, struct tm_window_line *out);

#endif
