/* looks.h - looks at files that workers of other nodes wrote: when each is looked at, and when it
 * is given up. File systems that machines share may show a file late, or in part.
 *
 * Pure: it reads no clock, and opens no file. Caller: add each file; do what tm_looks_next() says;
 * report how that ended; ask tm_looks_due() when to come back; remove a file that is not needed any
 * more.
 *
 *  (1) A file is given up only after a look that began when its time was over.
 *  (2) At most TM_LOOKS_AT_ONCE looks are under way.
 */
#ifndef TM_STEP_LOOKS_H
#define TM_STEP_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"

#define TM_LOOKS_NS      (10 * INT64_C(1000000000)) /* how long a file may be late */
#define TM_LOOKS_AT_ONCE 4

struct tm_look {
  int64_t begin_ns;  /* monotonic; when the file was announced */
  int64_t due_ns;    /* of the next look */
  int64_t looked_ns; /* when the last one began */
  int64_t wait_ns;   /* after the last one */
  bool is_under_way;
  struct tm_list_item item; /* in `waiting`, while none is under way */
};

struct tm_looks {
  int64_t limit_ns; /* TM_LOOKS_NS, unless a test changes it */
  struct tm_list waiting;
  int under_way;
};

void tm_looks_init(struct tm_looks *l);
void tm_looks_add(struct tm_looks *l, struct tm_look *look, int64_t now_ns);
/* The file to look at now; NULL: none is due, or as many are being looked at as may be. */
struct tm_look *tm_looks_next(struct tm_looks *l, int64_t now_ns);
/* When to ask again; INT64_MAX: when a look has ended. */
int64_t tm_looks_due(const struct tm_looks *l);
/* The look has ended, and the file is not as announced. False: it is given up, and removed. */
bool tm_looks_again(struct tm_looks *l, struct tm_look *look, int64_t now_ns);
/* Also while a look at it is under way. */
void tm_looks_remove(struct tm_looks *l, struct tm_look *look);

/* What a look found. */
struct tm_look_finding {
  enum {
    TM_LOOK_GOOD,
    TM_LOOK_MISSING,
    TM_LOOK_LENGTH,    /* `length` bytes, not as many as announced */
    TM_LOOK_HASH,      /* as many, but others */
    TM_LOOK_UNREADABLE /* `err` */
  } kind;
  int64_t length;
  size_t file; /* which output file was found so, from 1; 0: the rows */
  struct tm_err err;
};

/* What was expected and found, as the end of a sentence about a file. */
void tm_look_describe(struct tm_buf *out, const struct tm_look_finding *found, uint64_t length);

#endif
