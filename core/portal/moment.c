/* moment.c - see moment.h. */
#include "portal/moment.h"

#include <time.h>

#include "base/time.h"

static int64_t read_clock(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * TM_S + t.tv_nsec;
}

int64_t tm_moment_now_ns(void)
{
  return read_clock(CLOCK_MONOTONIC);
}

int64_t tm_moment_spent_ns(void)
{
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
