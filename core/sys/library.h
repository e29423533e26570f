/* library.h - a shared library that is loaded when it is first needed, and then stays loaded.
 *
 * It is for a library that few runs need and that takes long to link, because the start of every
 * worker would pay for it. tm_library_load() may be called on any thread.
 */
#ifndef TM_SYS_LIBRARY_H
#define TM_SYS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/threads.h"

struct tm_library {
  const char *file;    /* the name to load it by, "libz.so.1" */
  const char *package; /* Debian's package with that file, for the message */
  const char *const *names;
  void *functions; /* receives their addresses, in the order of `names` */
  size_t len;
  struct tm_mutex gate; /* TM_MUTEX_STATIC; protects the following field, and `functions` */
  bool is_loaded;
};

/* Loads it if that was not done. -ELIBACC: it is not installed, or lacks a function. A later call
 * tries again. */
int tm_library_load(struct tm_library *l, struct tm_err *err);

/* Defines `const struct table *table(struct tm_err *err)`. It returns the library's functions, the
 * members of that struct in the order of their names; NULL: they cannot be loaded. The table is the
 * only state: it is filled once, and then only read. */
#define TM_LIBRARY_TABLE(table, names_of, file_of, package_of)                                     \
  const struct table *table(struct tm_err *err)                                                    \
  {                                                                                                \
    static const char *const names[] = { names_of };                                               \
    static struct table functions;                                                                 \
    static struct tm_library library = { .file = file_of,                                          \
                                         .package = package_of,                                    \
                                         .names = names,                                           \
                                         .functions = &functions,                                  \
                                         .len = TM_COUNT_OF(names),                                \
                                         .gate = TM_MUTEX_STATIC };                                \
    _Static_assert(sizeof(functions) == sizeof(names), "one name for each function");              \
    return tm_library_load(&library, err) < 0 ? NULL : &functions;                                 \
  }

#endif
