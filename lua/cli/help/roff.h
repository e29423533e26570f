/* roff.h - writes our text as roff, in man's macros, for cmd_man.c and manual_man.c. */
#ifndef TM_CLI_HELP_ROFF_H
#define TM_CLI_HELP_ROFF_H

#include "base/buf.h"

/* Escapes backslashes, dashes and characters beyond ASCII, and keeps a line from being a
 * request. */
void tm_roff_add(struct tm_buf *out, const char *s, size_t n);
void tm_roff_add_text(struct tm_buf *out, const char *s);
void tm_roff_add_line(struct tm_buf *out, const char *s); /* and a line break */
/* Adds .TP, the term in bold after `dashes`, and then `value` (or NULL) in italics. */
void tm_roff_add_term(struct tm_buf *out, const char *dashes, const char *term, const char *value);

#endif
