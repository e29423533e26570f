/* time_left.c - see time_left.h. */
#include "fleet/time_left.h"

#define SECOND_NS   INT64_C(1000000000)
#define SECONDS_MAX (INT64_MAX / SECOND_NS)

void tm_time_left_set(struct tm_time_left *t, int64_t seconds, int64_t at_ns)
{
  if (tm_time_left_is_known(t) || seconds < 0)
    return;
  t->had_ns = (seconds < SECONDS_MAX ? seconds : SECONDS_MAX) * SECOND_NS;
  t->at_ns = at_ns;
}

bool tm_time_left_is_known(const struct tm_time_left *t)
{
  return t->at_ns != 0;
}

int64_t tm_time_left_ns(const struct tm_time_left *t, int64_t now_ns)
{
  int64_t passed_ns = now_ns - t->at_ns;

  if (!tm_time_left_is_known(t))
    return INT64_MAX;
  return passed_ns < t->had_ns ? t->had_ns - passed_ns : 0;
}

/* Keeps (2). */
static int64_t run_ns_of(const struct tm_time_left *t, const struct tm_run_times *step)
{
  if (step->longest_ns > 0)
    return step->longest_ns;
  return step->timeout_ns < t->had_ns / 2 ? step->timeout_ns : t->had_ns / 2;
}

int64_t tm_time_left_run_ns(const struct tm_time_left *t, const struct tm_run_times *steps,
                            size_t len, bool *was_measured)
{
  int64_t most_ns = 0;

  *was_measured = false;
  for (size_t i = 0; i < len; i++) {
    int64_t ns = run_ns_of(t, &steps[i]);
    if (ns <= most_ns)
      continue;
    most_ns = ns;
    *was_measured = steps[i].longest_ns > 0;
  }
  return most_ns;
}

bool tm_time_left_is_enough(const struct tm_time_left *t, int64_t run_ns, int64_t now_ns)
{
  int64_t left_ns = tm_time_left_ns(t, now_ns);

  return left_ns >= TM_TIME_LEFT_MARGIN_NS && left_ns - TM_TIME_LEFT_MARGIN_NS >= run_ns;
}

bool tm_time_left_is_announced(const struct tm_time_left *t, int64_t now_ns)
{
  return tm_time_left_ns(t, now_ns) <= TM_TIME_LEFT_SIGNAL_NS;
}
