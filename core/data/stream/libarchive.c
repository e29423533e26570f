/* libarchive.c - see libarchive.h. The table is the only state: it is filled once, and then only
 * read. */
#include "data/stream/libarchive.h"

#include "base/mem.h"
#include "sys/library.h"

static const char *const names[] = {
#define NAME(name) "archive_" #name,
  TM_LIBARCHIVE_FUNCTIONS(NAME)
#undef NAME
};

const struct tm_libarchive *tm_libarchive(struct tm_err *err)
{
  static struct tm_libarchive functions;
  static struct tm_library library = { .file = "libarchive.so.13",
                                       .package = "libarchive13",
                                       .names = names,
                                       .functions = &functions,
                                       .len = TM_COUNT_OF(names),
                                       .gate = TM_MUTEX_STATIC };

  _Static_assert(sizeof(functions) == sizeof(names), "one name for each function");
  return tm_library_load(&library, err) < 0 ? NULL : &functions;
}
