/* tidemill_clocks.c - the program, with clocks that go as a test says:
 *
 *   TM_CLOCK_SPEED=10   the monotonic clock goes ten times as fast; timers of the loop go on as they are
 *   TM_CLOCK_JUMPS=1    the wall clock jumps by up to two days, back and forth, at every look
 *
 * Keepers and workers are the same program, and have the same clocks. All that is ours reads the time through clock_gettime().
 */
#include <stdlib.h>
#include <time.h>

#include "cli/cli.h"
#include "sys/fs.h"

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

static long setting(const char *name)
{
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
  int rc = __real_clock_gettime(id, t);
  if (id == CLOCK_MONOTONIC && setting("TM_CLOCK_SPEED") > 1) {
    long long ns = (t->tv_sec * 1000000000LL + t->tv_nsec) * setting("TM_CLOCK_SPEED");
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
  }
  if (id == CLOCK_REALTIME && setting("TM_CLOCK_JUMPS") > 0)
    t->tv_sec += (t->tv_nsec / 1000 % 5 - 2) * 86400;
  return rc;
}

int main(int argc, char **argv)
{
  return tm_cli_main(argc, argv, tm_fs_real());
}
