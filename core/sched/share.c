/* share.c - see share.h. */
#include "sched/share.h"

static int64_t sum_lives(const struct tm_share *of, size_t n)
{
  int64_t sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += of[i].lives;
  return sum;
}

static int64_t starving(const struct tm_share *of, size_t n)
{
  int64_t count = 0;

  for (size_t i = 0; i < n; i++)
    count += of[i].wants > 0 && of[i].lives == 0;
  return count;
}

static int64_t sum_at(const struct tm_share *of, size_t n, int64_t level)
{
  int64_t sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += of[i].wants < level ? of[i].wants : level;
  return sum;
}

/* How far all can be filled evenly. By halves: it is asked for each worker that starts, and there
 * may be 100,000 of them. */
static int64_t level_of(const struct tm_share *of, size_t n, int64_t max)
{
  int64_t low = 0, high = 0;

  for (size_t i = 0; i < n; i++)
    high = of[i].wants > high ? of[i].wants : high;
  while (low < high) {
    int64_t middle = high - (high - low) / 2;
    if (sum_at(of, n, middle) <= max)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* The part of the step at `at`: all are filled evenly, up to what each wants. The first ones get
 * the rest. */
static int64_t part_of(const struct tm_share *of, size_t n, size_t at, int64_t max)
{
  int64_t level = level_of(of, n, max), left = max - sum_at(of, n, level);

  for (size_t i = 0; i < at; i++)
    left -= of[i].wants > level;
  return of[at].wants <= level ? of[at].wants : level + (left > 0);
}

int64_t tm_share_limit(int64_t given, int64_t have, int64_t per_node)
{
  return given > 0 ? given : have > 0 ? have : per_node;
}

bool tm_share_may_start(const struct tm_share *of, size_t n, size_t at, int64_t max)
{
  int64_t left = max - sum_lives(of, n);

  if (left <= 0 || of[at].wants <= of[at].lives) /* keeps (1) */
    return false;
  if (of[at].lives == 0)
    return true;
  return left > starving(of, n) && of[at].lives < part_of(of, n, at, max);
}

size_t tm_share_giver(const struct tm_share *of, size_t n, int64_t max)
{
  int64_t coming = max - sum_lives(of, n), most = 1;
  size_t giver = n;

  for (size_t i = 0; i < n; i++)
    coming += of[i].leaves;
  if (starving(of, n) <= coming)
    return n;
  for (size_t i = 0; i < n; i++)
    if (of[i].lives - of[i].leaves > most) {
      most = of[i].lives - of[i].leaves;
      giver = i;
    }
  return giver;
}
