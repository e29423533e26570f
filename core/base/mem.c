/* mem.c - memory, or the end of the program.
 *
 * A runner that cannot get a few kilobytes cannot report that well either, so callers do not check
 * for NULL: without memory, and when a size overflows, the fault path of check.h informs the host
 * and aborts. Everything is plain malloc() memory, to be given to free().
 *
 * An allocation of 0 bytes is a real one: NULL is never returned.
 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/format.h"

enum { ARRAY_FIRST = 8 }; /* elements */

void *tm_xmalloc(size_t size)
{
  void *p = malloc(size ? size : 1);
  tm_require(p != NULL);
  return p;
}

void *tm_xcalloc(size_t count, size_t size)
{
  tm_require(size == 0 || count <= SIZE_MAX / size);
  void *p = count && size ? calloc(count, size) : calloc(1, 1);
  tm_require(p != NULL);
  return p;
}

void *tm_xrealloc(void *p, size_t size)
{
  void *grown = realloc(p, size ? size : 1);
  tm_require(grown != NULL);
  return grown;
}

char *tm_xstrdup(const char *s)
{
  return s ? tm_xstrndup(s, strlen(s)) : NULL;
}

char *tm_xstrndup(const char *s, size_t len)
{
  tm_require(len < SIZE_MAX);
  char *copy = tm_xmalloc(len + 1);
  if (len)
    memcpy(copy, s, len);
  copy[len] = '\0';
  return copy;
}

char *tm_xprintf(const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  int len = tm_vformat(NULL, 0, fmt, ap);
  va_end(ap);
  tm_require(len >= 0);

  char *text = tm_xmalloc((size_t)len + 1);
  va_start(ap, fmt);
  tm_vformat(text, (size_t)len + 1, fmt, ap);
  va_end(ap);
  return text;
}

void tm_strings_free(char **at, size_t n)
{
  for (size_t i = 0; i < n; i++)
    free(at[i]);
  free(at);
}

void tm_array_reserve(void **at, size_t want, size_t *cap, size_t size)
{
  if (want <= *cap)
    return;
  tm_require(size > 0 && want <= SIZE_MAX / size);
  size_t grown = *cap ? *cap : ARRAY_FIRST;
  while (grown < want)
    grown = grown > SIZE_MAX / size / 2 ? want : grown * 2;

  /* The caller's pointer has another type than void *, so its bytes are copied: bytes may alias
   * anything. */
  void *p;
  memcpy(&p, at, sizeof p);
  p = tm_xrealloc(p, grown * size);
  memcpy(at, &p, sizeof p);
  *cap = grown;
}
