/* prompt.h - one line from a terminal, with editing, history and completion (libedit), while other things go on.
 *
 * Caller: tm_prompt_open(); tm_prompt_read() for each line; tm_prompt_close(). Between two lines the terminal is as it was.
 * What is to be said of jobs goes through tm_prompt_say() and _set_status(): while a line is edited it is put above it.
 */
#ifndef TM_CLI_PROMPT_H
#define TM_CLI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct tm_prompt;

struct tm_prompt_options {
  bool has_color;
  char *history; /* its file, or NULL; the caller's */
  /* Tab: what is before the cursor. `insert` is put there, `list` is shown below. */
  void (*complete)(void *data, const char *text, size_t len, struct tm_buf *insert,
                   struct tm_buf *list);
  int fd;                          /* can be read when something has happened that is to be said; */
  void (*on_happened)(void *data); /* then, while a line is read. Or NULL */
  void *data;
};

/* Signals of the terminal are caught (signals.h) until it is closed. */
struct tm_prompt *tm_prompt_open(const struct tm_prompt_options *o, struct tm_err *err);
void tm_prompt_close(struct tm_prompt *p); /* NULL: a no-op */

enum { TM_PROMPT_END, TM_PROMPT_LINE, TM_PROMPT_INTERRUPTED };
/* A line without its break, added to `line`, which is empty. `label` stands before it. TM_PROMPT_END: Ctrl-D on an empty line, or the terminal is gone.
 * TM_PROMPT_INTERRUPTED: tm_prompt_interrupt() was called; *had_text: something had been typed. */
int tm_prompt_read(struct tm_prompt *p, const char *label, struct tm_buf *line, bool *had_text);
/* Ctrl-C while no line is read is nothing to the next one. */
void tm_prompt_forget_interrupt(struct tm_prompt *p);

void tm_prompt_interrupt(struct tm_prompt *p); /* async-signal-safe */
bool tm_prompt_is_interrupted(const struct tm_prompt *p);
/* The terminal gets the settings that it had before; for when a signal ends the program. Async-signal-safe. */
void tm_prompt_leave(const struct tm_prompt *p);
/* Whole lines, the last without its break. */
void tm_prompt_say(struct tm_prompt *p, const char *text);
/* A line above the one that is edited, renewed in its place; cut to the terminal's width. NULL: none. */
void tm_prompt_set_status(struct tm_prompt *p, const char *text);
/* Before something else is written while no line is read: the status makes room. */
void tm_prompt_clear_status(struct tm_prompt *p);
int tm_prompt_width(const struct tm_prompt *p);

#endif
