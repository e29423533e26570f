/* plan_rig.h - what tests of the plan of launches share. */
#ifndef TM_TESTS_PLAN_RIG_H
#define TM_TESTS_PLAN_RIG_H

#include "base/time.h"
#include "fleet/launch_plan.h"

#define NONE SIZE_MAX

/* A plan that wants as many nodes as there may be. */
static inline void plan_init(struct tm_launch_plan *p, size_t places, size_t hosts,
                             int64_t start_timeout_ns)
{
  tm_launch_plan_init(p, &(struct tm_launch_options) { .nodes_max = places,
                                                       .hosts = hosts,
                                                       .start_timeout_ns = start_timeout_ns,
                                                       .starts_max = 64,
                                                       .seed = 7 });
  tm_launch_plan_want(p, places);
}

static inline void lose(struct tm_launch_plan *p, uint32_t id, int64_t now_ns)
{
  tm_launch_plan_failed(p, id, TM_SLURM_END_NOT_KNOWN, now_ns);
}

/* Fills every place that may be filled, with ids from `id` on. Returns how many. */
static inline uint32_t launch_all(struct tm_launch_plan *p, int64_t now_ns, uint32_t id)
{
  uint32_t n = 0;
  for (size_t at; (at = tm_launch_plan_next(p, now_ns)) != NONE; n++)
    tm_launch_plan_launch(p, at, id + n, now_ns);
  return n;
}

#endif
