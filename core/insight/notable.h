/* notable.h - the tries that are shown one by one: those that failed, the first
 * TM_NOTABLE_FAILED of them, and the slowest that succeeded. Pure. */
#ifndef TM_INSIGHT_NOTABLE_H
#define TM_INSIGHT_NOTABLE_H

#include "base/heap.h"
#include "base/mem.h"
#include "report/try_rows.h"

#define TM_NOTABLE_FAILED  4980
#define TM_NOTABLE_SLOWEST 20
#define TM_NOTABLE_TEXT    1000 /* bytes of a text at most: as the column Error Message has */

struct tm_notable_try {
  int64_t mini_batch, try_number, begin_ns, elapsed_ns, run_ns, items;
  char *worker, *node, *status, *category, *message, *first_item; /* own */
};

struct tm_notable {
  struct TM_ARRAY(struct tm_notable_try) failed; /* in the order in which they ended */
  int64_t failed_more;                           /* not kept */
  struct tm_heap slowest;                        /* by time in run() */
};

void tm_notable_init(struct tm_notable *n);
void tm_notable_release(struct tm_notable *n);
/* Keeps a try that succeeded if it is one of the slowest; or one that failed. */
void tm_notable_add_ok(struct tm_notable *n, const struct tm_try_row *t);
void tm_notable_add_failed(struct tm_notable *n, const struct tm_try_row *t);
/* The slowest, longest first, of equally long ones the smaller mini-batch; to free(), but not what
 * is in them. */
struct tm_notable_try **tm_notable_slowest(const struct tm_notable *n, size_t *len);
/* The path in the column Mini-batch Detail, or the keys of a group; "": there is none. */
const char *tm_notable_first_item(const char *detail);

#endif
