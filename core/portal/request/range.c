/* range.c - see range.h. RFC 9110, 14.1.2. */
#include "portal/request/range.h"

#include <string.h>

#define UNIT "bytes="

/* Reads digits at *at. -1: there are none, or too many. */
static int64_t read_number(const char **at)
{
  int64_t n = 0;
  const char *begin = *at;
  for (; **at >= '0' && **at <= '9'; (*at)++) {
    if (n > INT64_MAX / 100)
      return -1;
    n = n * 10 + (**at - '0');
  }
  return *at == begin ? -1 : n;
}

struct tm_range tm_range_of(const char *header, int64_t size)
{
  struct tm_range whole = { TM_RANGE_WHOLE, 0, size };
  if (!header || strncmp(header, UNIT, strlen(UNIT)) != 0)
    return whole;
  const char *at = header + strlen(UNIT);
  int64_t first = read_number(&at);
  if (*at != '-')
    return whole;
  at++;
  int64_t last = read_number(&at);
  if (*at != '\0' || (first < 0 && last < 0) || (first >= 0 && last >= 0 && last < first))
    return whole;
  if (first < 0) { /* the last bytes */
    first = last < size ? size - last : 0;
    last = last > 0 ? size - 1 : -1;
  } else if (last < 0 || last >= size) {
    last = size - 1;
  }
  if (first >= size || last < first)
    return (struct tm_range) { TM_RANGE_OUTSIDE, 0, 0 };
  return (struct tm_range) { TM_RANGE_PART, first, last - first + 1 };
}
