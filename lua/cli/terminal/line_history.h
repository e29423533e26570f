/* line_history.h - the lines of earlier prompts on disk: a text file, one line each, the newest
 * last.
 *
 * One write adds a line, so that several prompts can share the file. A line that begins with a
 * blank is not kept.
 */
#ifndef TM_CLI_TERMINAL_LINE_HISTORY_H
#define TM_CLI_TERMINAL_LINE_HISTORY_H

#include <stdbool.h>

#include "base/buf.h"

#define TM_LINE_HISTORY_VARIABLE "TIDEMILL_HISTORY"
#define TM_LINE_HISTORY_LINES    2000 /* lines to keep */

/* The path of the file; the caller frees it: from the variable, or in XDG_STATE_HOME, or in HOME.
 * NULL: none (the variable is empty, or there is no HOME). */
char *tm_line_history_path(const char *named, const char *state_home, const char *home);

/* Calls on_line for each line, oldest first. Cuts a file that has become much longer than the
 * limit. A missing file has no lines. */
void tm_line_history_load(const char *path, void (*on_line)(void *data, const char *line),
                          void *data);
bool tm_line_history_is_kept(const char *line);
/* False: it could not be written; the prompt continues without. */
bool tm_line_history_add(const char *path, const char *line);

#endif
