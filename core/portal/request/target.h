/* target.h - what a request asks for: its path in segments, and its query. Pure.
 *
 * A target that a browser would not send is refused: an absolute URL, a byte that must be escaped,
 * a bad %XX, %00, "." or ".." or nothing between slashes, a slash that hides as %2F. So a segment
 * is always the name of something in one folder.
 */
#ifndef TM_PORTAL_REQUEST_TARGET_H
#define TM_PORTAL_REQUEST_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define TM_TARGET_SEGMENTS 64
#define TM_TARGET_BYTES    8192

struct tm_target {
  const char *segments[TM_TARGET_SEGMENTS]; /* decoded, NUL-ended */
  size_t len;
  bool is_folder;    /* the path ends in '/' */
  const char *query; /* as it was sent, without '?'; "": there is none */
  char *memory;
};

/* `raw` as the request line has it. 0; or TM_EUSAGE with a message. Release it in every
 * case. */
int tm_target_parse(struct tm_target *t, const char *raw, struct tm_err *err);
void tm_target_release(struct tm_target *t);
/* Segments from `from` on, joined by '/'; to free(). */
char *tm_target_rest(const struct tm_target *t, size_t from);

/* Adds the value of `name` in a query, decoded. False, and nothing is added: it is not there, or
 * not well-formed. */
bool tm_target_text(const char *query, const char *name, struct tm_buf *out);
/* A whole number of at least 0. */
int64_t tm_target_int(const char *query, const char *name, int64_t otherwise);

#endif
