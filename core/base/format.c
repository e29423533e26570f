/* format.c - see format.h. */
#include "base/format.h"

#include <locale.h>
#include <stdio.h>

#include "base/check.h"

int tm_vformat(char *out, size_t size, const char *fmt, va_list ap)
{
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before;
  int len;
  tm_require(c != (locale_t)0);
  before = uselocale(c);
  len = vsnprintf(out, size, fmt, ap);
  uselocale(before);
  freelocale(c);
  return len;
}
