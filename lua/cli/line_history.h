/* line_history.h - the lines of earlier prompts, on disk: a file of plain text, a line each, the newest last.
 *
 * A line is added with one write, so that several prompts share the file. A line that begins with a blank is not kept.
 */
#ifndef TM_CLI_LINE_HISTORY_H
#define TM_CLI_LINE_HISTORY_H

#include <stdbool.h>

#include "base/buf.h"

#define TM_LINE_HISTORY_VARIABLE "TIDEMILL_HISTORY"
#define TM_LINE_HISTORY_LINES    2000 /* that are kept */

/* Where it is, to free(): what the variable names; else in XDG_STATE_HOME, else below HOME. NULL: nowhere (the variable is empty, or
 * there is no HOME). */
char *tm_line_history_path(const char *named, const char *state_home, const char *home);

/* The lines, oldest first, through on_line. A file that is much longer than what is kept is cut. Nothing there: nothing. */
void tm_line_history_load(const char *path, void (*on_line)(void *data, const char *line),
                          void *data);
bool tm_line_history_is_kept(const char *line);
/* False: it could not be written; the prompt goes on without. */
bool tm_line_history_add(const char *path, const char *line);

#endif
