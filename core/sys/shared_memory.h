/* shared_memory.h - memory that two processes share, reached by descriptor. */
#ifndef TM_SYS_SHARED_MEMORY_H
#define TM_SYS_SHARED_MEMORY_H

#include <stddef.h>

#include "base/err.h"

/* A new zeroed memory file of `size` bytes, close-on-exec. Its size is sealed, so that no peer can
 * truncate it under a mapping. Returns its descriptor. `name` shows in /proc. */
int tm_shared_memory_new(const char *name, size_t size, struct tm_err *err);
/* Maps it for reading and writing. NULL with a message on failure, also when it is shorter than
 * `size`. Unmap with tm_shared_memory_unmap(). */
void *tm_shared_memory_map(int fd, size_t size, struct tm_err *err);
void tm_shared_memory_unmap(void *p, size_t size); /* NULL is a no-op */

#endif
