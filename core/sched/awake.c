/* awake.c - see awake.h. */
#include "sched/awake.h"

#include "base/time.h"

#define GAP_MAX_NS TM_S

void tm_awake_init(struct tm_awake *a, int64_t mono_ns)
{
  *a = (struct tm_awake) { .looked_ns = mono_ns };
}

int64_t tm_awake_look(struct tm_awake *a, int64_t mono_ns)
{
  int64_t gap_ns = mono_ns - a->looked_ns;

  a->looked_ns = mono_ns;
  if (gap_ns > 0)
    a->now_ns += gap_ns < GAP_MAX_NS ? gap_ns : GAP_MAX_NS;
  return a->now_ns;
}
