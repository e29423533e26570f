/* libedit.c - see libedit.h. The table is filled once, and then only read. */
#include "cli/terminal/libedit.h"

#include "base/mem.h"
#include "sys/library.h"

static const char *const names[] = {
#define NAME(name) #name,
  TM_LIBEDIT_FUNCTIONS(NAME)
#undef NAME
};

const struct tm_libedit *tm_libedit(struct tm_err *err)
{
  static struct tm_libedit functions;
  static struct tm_library library = { .file = "libedit.so.2",
                                       .package = "libedit2",
                                       .names = names,
                                       .functions = &functions,
                                       .len = TM_COUNT_OF(names),
                                       .gate = TM_MUTEX_STATIC };

  _Static_assert(sizeof(functions) == sizeof(names), "one name for each function");
  return tm_library_load(&library, err) < 0 ? NULL : &functions;
}
