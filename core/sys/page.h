/* page.h - memory that two processes share, reached by descriptor. */
#ifndef TM_SYS_PAGE_H
#define TM_SYS_PAGE_H

#include <stddef.h>

#include "base/err.h"

/* A new zeroed memory file of `size` bytes, close-on-exec, whose size is sealed: no peer can take
 * it away from under a map. Returns its descriptor. `name` shows in /proc. */
int tm_page_new(const char *name, size_t size, struct tm_err *err);
/* Maps it for reading and writing; NULL and words, also when it is shorter than `size`. Unmap with
 * tm_page_unmap(). */
void *tm_page_map(int fd, size_t size, struct tm_err *err);
void tm_page_unmap(void *p, size_t size); /* NULL is a no-op */

#endif
