/* clock.c - the clocks.
 *
 * CLOCK_MONOTONIC counts from the machine's start and is the same for all its processes, so that
 * the keeper can compare moments that a worker wrote into shared memory with its own. It stops
 * while the machine sleeps: a worker's deadline does not pass during a suspend.
 */
#include "sys/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
  struct timespec t = { 0, 0 };
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t tm_clock_mono_ns(void)
{
  return read_clock(CLOCK_MONOTONIC);
}

int64_t tm_clock_boot_ns(void)
{
  return read_clock(CLOCK_BOOTTIME);
}

int64_t tm_clock_wall_ns(void)
{
  return read_clock(CLOCK_REALTIME);
}

int64_t tm_clock_utc_offset_s(int64_t wall_ns)
{
  time_t seconds = (time_t)(wall_ns / 1000000000);
  struct tm local;
  return localtime_r(&seconds, &local) ? local.tm_gmtoff : 0;
}

void tm_clock_pause(int64_t ns)
{
  struct timespec left = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

  while (nanosleep(&left, &left) < 0 && errno == EINTR)
    ;
}
