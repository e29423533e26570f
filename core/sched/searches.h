/* searches.h - the searches for bad items that are under way: one for each mini-batch that has used
 * up its tries and is run in parts (isolation.h). They have small numbers, which are used again.
 */
#ifndef TM_SCHED_SEARCHES_H
#define TM_SCHED_SEARCHES_H

#include <stdbool.h>

#include "base/mem.h"
#include "sched/isolation.h"

#define TM_SEARCH_AGAIN_MAX 3 /* good parts that are run again, per search */

struct tm_search {
  bool is_open;
  uint64_t index; /* of the mini-batch */
  uint32_t try;   /* the last one assigned */
  int again;      /* good parts that were run again */
  struct tm_isolation isolation;
};

struct tm_searches {
  struct TM_ARRAY(struct tm_search) list; /* by number */
  struct TM_ARRAY(uint32_t) free;         /* numbers */
  int64_t len;
};

void tm_searches_release(struct tm_searches *s);
uint32_t tm_searches_add(struct tm_searches *s, uint64_t index, uint32_t try);
/* NULL: there is none of that number. Valid until the next add. */
struct tm_search *tm_searches_at(struct tm_searches *s, uint32_t number);
void tm_searches_remove(struct tm_searches *s, uint32_t number);

#endif
