/* library.h - a shared library that is loaded when it is first needed, and then stays loaded.
 *
 * It is for a library that few runs need and that takes long to link, because the start of every
 * worker would pay for it. tm_library_load() may be called on any thread. The loader finds such a
 * library by its name; one that users install themselves is searched for by plugin.h.
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

/* The two steps of it, for plugin.h: opens the file or name, and finds functions. -ELIBACC, with
 * the loader's reason. */
int tm_library_open(void **handle, const char *file, struct tm_err *err);
int tm_library_find(void *handle, const char *const *names, size_t len, void *functions,
                    struct tm_err *err);
/* Where the loader has found it; within its own memory. */
const char *tm_library_path(void *handle);
void tm_library_close(void *handle); /* NULL is a no-op */

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
