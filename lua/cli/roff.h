/* roff.h - text of ours as roff, for man's macros: what man.c and manual_man.c share. */
#ifndef TM_CLI_ROFF_H
#define TM_CLI_ROFF_H

#include "base/buf.h"

/* A backslash, a dash and characters beyond ASCII are escaped, and what begins a line cannot
 * be a request. */
void tm_roff_add(struct tm_buf *out, const char *s, size_t n);
void tm_roff_add_text(struct tm_buf *out, const char *s);
void tm_roff_add_line(struct tm_buf *out, const char *s); /* and a line break */
/* .TP, the term in bold behind `dashes`, and after it `value` (or NULL) in italics. */
void tm_roff_add_term(struct tm_buf *out, const char *dashes, const char *term, const char *value);

#endif
