/* msg_strings.c - strings and lists of strings in messages.
 *
 * The bytes come from another process and may be cut off or hostile: nothing is allocated for a
 * count that the rest of the message cannot hold. A string with a NUL is refused, because a C
 * string would show only part of it.
 */
#include "node/msg_strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void tm_msg_add_str(struct tm_buf *out, const char *s)
{
  tm_buf_add_bytes32(out, s ? s : "", s ? strlen(s) : 0);
}

void tm_msg_add_list(struct tm_buf *out, char *const *at, size_t len)
{
  tm_buf_add_u32(out, (uint32_t)len);
  for (size_t i = 0; i < len; i++)
    tm_msg_add_str(out, at[i]);
}

char *tm_msg_read_str(struct tm_reader *r)
{
  size_t len = 0;
  const char *p = tm_read_bytes32(r, &len);
  if (r->bad || !p)
    return tm_xstrdup("");
  if (memchr(p, 0, len)) {
    r->bad = true;
    return tm_xstrdup("");
  }
  return tm_xstrndup(p, len);
}

void tm_msg_read_list(struct tm_reader *r, char ***at, size_t *len)
{
  uint32_t n = tm_read_u32(r);
  if (r->bad || n > (size_t)(r->end - r->at) / 4) { /* each takes at least its length field */
    r->bad = true;
    n = 0;
  }
  *len = n;
  *at = tm_xcalloc((size_t)n + 1, sizeof **at);
  for (uint32_t i = 0; i < n; i++)
    (*at)[i] = tm_msg_read_str(r);
}

void tm_msg_release_list(char **at, size_t len)
{
  for (size_t i = 0; at && i < len; i++)
    free(at[i]);
  free(at);
}
