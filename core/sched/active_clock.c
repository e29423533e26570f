/* active_clock.c - see active_clock.h. */
#include "sched/active_clock.h"

#include "base/time.h"

#define GAP_MAX_NS TM_S

void tm_active_clock_init(struct tm_active_clock *a, int64_t mono_ns)
{
  *a = (struct tm_active_clock) { .looked_ns = mono_ns };
}

void tm_active_clock_pause(struct tm_active_clock *a, bool is_paused, int64_t mono_ns)
{
  (void)tm_active_clock_look(a, mono_ns); /* until now it is as before */
  a->is_paused = is_paused;
}

int64_t tm_active_clock_look(struct tm_active_clock *a, int64_t mono_ns)
{
  int64_t gap_ns = mono_ns - a->looked_ns;

  a->looked_ns = mono_ns;
  if (gap_ns > 0 && !a->is_paused)
    a->now_ns += gap_ns < GAP_MAX_NS ? gap_ns : GAP_MAX_NS;
  return a->now_ns;
}
