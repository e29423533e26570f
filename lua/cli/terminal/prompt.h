/* prompt.h - reads a line from a terminal, with editing, history and completion (libedit), while
 * jobs are running.
 *
 * Caller: tm_prompt_open(); tm_prompt_read() for each line; tm_prompt_close(). Between two lines
 * the terminal has its old settings. Print messages of jobs with tm_prompt_say() and _set_status(),
 * which put them above a line that is being edited.
 */
#ifndef TM_CLI_TERMINAL_PROMPT_H
#define TM_CLI_TERMINAL_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct tm_prompt;

struct tm_prompt_options {
  bool has_color;
  char *history; /* its file, or NULL; the caller's */
  /* Tab: gets the text before the cursor. `insert` is inserted, `list` is shown below. */
  void (*complete)(void *data, const char *text, size_t len, struct tm_buf *insert,
                   struct tm_buf *list);
  int fd;                          /* readable when there is news; */
  void (*on_happened)(void *data); /* called then, while a line is read. Or NULL */
  void *data;
};

/* Catches signals of the terminal (signals.h) until it is closed. */
struct tm_prompt *tm_prompt_open(const struct tm_prompt_options *o, struct tm_err *err);
void tm_prompt_close(struct tm_prompt *p); /* NULL: does nothing */

enum { TM_PROMPT_END, TM_PROMPT_LINE, TM_PROMPT_INTERRUPTED };
/* Adds a line without its line break to `line`, which is empty. `label` is shown before it.
 * TM_PROMPT_END: Ctrl-D on an empty line, or the terminal is gone. TM_PROMPT_INTERRUPTED:
 * tm_prompt_interrupt() was called; *had_text: something had been typed. */
int tm_prompt_read(struct tm_prompt *p, const char *label, struct tm_buf *line, bool *had_text);
/* For a piece of several lines: after _begin(), the lines that are read become one entry of the
 * history by _join(), `text`, which is one line. On disk it comes after them. */
void tm_prompt_begin(struct tm_prompt *p);
void tm_prompt_join(struct tm_prompt *p, const char *text);
/* Forgets a Ctrl-C that came while no line was read. */
void tm_prompt_forget_interrupt(struct tm_prompt *p);

void tm_prompt_interrupt(struct tm_prompt *p); /* async-signal-safe */
bool tm_prompt_is_interrupted(const struct tm_prompt *p);
/* Restores the terminal's old settings, for a signal that ends the program. Async-signal-safe. */
void tm_prompt_leave(const struct tm_prompt *p);
/* Prints whole lines, the last one without its line break. */
void tm_prompt_say(struct tm_prompt *p, const char *text);
/* Shows a line above the edited one, redrawn in place and cut to the terminal's width. NULL:
 * removes it. */
void tm_prompt_set_status(struct tm_prompt *p, const char *text);
/* Removes the status line before other output, while no line is read. */
void tm_prompt_clear_status(struct tm_prompt *p);
int tm_prompt_width(const struct tm_prompt *p);

#endif
