/* init_rules.c - see init_rules.h. */
#include "sched/init_rules.h"

#include <inttypes.h>

#include "base/time.h"

#define AGE_NS         (120 * TM_S)
#define STUCK_MORE_NS  (30 * TM_S)
#define STUCK_TIMEOUTS 3

void tm_init_rules_init(struct tm_init_rules *r, int64_t workers, int64_t run_timeout_ns)
{
  *r = (struct tm_init_rules) { .workers = workers,
                                .stuck_ns = STUCK_TIMEOUTS * run_timeout_ns + STUCK_MORE_NS };
}

void tm_init_rules_note(struct tm_init_rules *r, bool has_succeeded)
{
  r->has_success |= has_succeeded;
  r->failures += !has_succeeded;
}

bool tm_init_rules_is_stuck(const struct tm_init_rules *r, const struct tm_init_look *now)
{
  return now->living > 0 && now->in_init == now->living && now->shortest_ns > r->stuck_ns;
}

int tm_init_rules_look(const struct tm_init_rules *r, const struct tm_init_look *now,
                       struct tm_err *err)
{
  if (!r->has_success && now->age_ns > AGE_NS && r->failures >= 2 * r->workers)
    return tm_err_set(err, TM_ESCRIPT,
                      "init() has failed %" PRId64 " times in %g s, and has not ended well once",
                      r->failures, (double)now->age_ns / 1e9);
  if (tm_init_rules_is_stuck(r, now))
    return tm_err_set(err, TM_ESCRIPT,
                      "every living worker (there %s %" PRId64
                      ") has been in init() for more than %g s, which is 3 * "
                      "run_invocation_timeout + 30 s",
                      now->living == 1 ? "is" : "are", now->living, (double)r->stuck_ns / 1e9);
  return 0;
}
