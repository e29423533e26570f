/* range.h - which bytes of a file a request asks for by its header Range. Pure. */
#ifndef TM_PORTAL_REQUEST_RANGE_H
#define TM_PORTAL_REQUEST_RANGE_H

#include <stdint.h>

enum tm_range_kind {
  TM_RANGE_WHOLE,   /* none is asked for, or one that may be ignored: several, or other units */
  TM_RANGE_PART,    /* `bytes` bytes from `from` on */
  TM_RANGE_OUTSIDE, /* the file has none of them */
};

struct tm_range {
  enum tm_range_kind kind;
  int64_t from, bytes;
};

/* `header`: the value of Range, or NULL. `size`: of the file. */
struct tm_range tm_range_of(const char *header, int64_t size);

#endif
