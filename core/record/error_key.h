/* error_key.h - which errors are the same: their status, their script line and the pattern of their
 * message (base/message_pattern.h) are equal. Pure. Everything that groups errors uses it: the
 * terminal, user/error.txt, `tidemill status`, and hosts.
 */
#ifndef TM_RECORD_ERROR_KEY_H
#define TM_RECORD_ERROR_KEY_H

#include <stddef.h>

#include "base/buf.h"

#define TM_ERROR_MESSAGE_MAX 1000 /* bytes of a message that count, as one line */

struct tm_error_signature {
  const char *status;  /* "RUN_EXCEPTION", or the hook of a worker; NULL or "": RUN_DONE */
  const char *where;   /* "score.lua:12"; NULL or "": unknown */
  const char *message; /* one or more lines */
  const char *item;    /* that the message may name; not NUL-ended */
  size_t item_len;     /* 0: none */
};

/* Replaces `key`. Returns where the pattern begins in it, which goes to its end, one line. */
size_t tm_error_key(struct tm_buf *key, const struct tm_error_signature *s);

#endif
