/* backoff.c - see backoff.h. */
#include "sched/backoff.h"

#include "base/time.h"

#define LOST_FIRST_NS (500 * TM_MS)
#define RETRY_MAX_NS  (60 * TM_S)

/* Spreads a seed over all 64 bits: neighbouring seeds give unrelated values. */
static uint64_t spread(uint64_t seed)
{
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
  return seed ^ (seed >> 31);
}

int64_t tm_backoff_delay(const struct tm_backoff *b, int64_t failures, uint64_t seed)
{
  int64_t delay_ns = b->first_ns;

  if (failures < 1)
    return 0;
  while (--failures > 0 && delay_ns < b->max_ns && delay_ns > 0)
    delay_ns = delay_ns < b->max_ns / 2 ? 2 * delay_ns : b->max_ns;
  return delay_ns - (int64_t)((double)delay_ns / 4 * ((double)(spread(seed) >> 11) / 0x1p53));
}

int64_t tm_backoff_retry(int64_t given_ns, bool is_lost, uint32_t tries, uint64_t seed)
{
  struct tm_backoff b = { .first_ns = given_ns, .max_ns = RETRY_MAX_NS };

  if (given_ns < 0)
    b.first_ns = is_lost ? LOST_FIRST_NS : 0;
  if (b.first_ns > b.max_ns)
    b.max_ns = b.first_ns;
  return tm_backoff_delay(&b, tries, seed);
}
