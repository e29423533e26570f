/* time_rules.c - see time_rules.h. */
#include "sched/time_rules.h"

void tm_time_rules_init(struct tm_time_rules *r, const struct tm_time_limits *limits)
{
  *r = (struct tm_time_rules) { .limits = *limits };
  tm_init_rules_init(&r->init, limits->workers, limits->run_timeout_ns);
}

void tm_time_rules_start(struct tm_time_rules *r, int64_t now_ns)
{
  tm_progress_timeout_init(&r->progress, r->limits.first_ns, r->limits.update_ns, now_ns);
}

int64_t tm_time_rules_clock(struct tm_time_rules *r, int64_t now_ns)
{
  return tm_active_clock_look(&r->progress.clock, now_ns);
}

struct tm_init_look tm_time_rules_init_look(const struct tm_time_rules *r,
                                            const struct tm_roster *roster)
{
  struct tm_init_look look = { .age_ns = r->progress.clock.now_ns, .shortest_ns = INT64_MAX };

  for (size_t i = 0; i < roster->workers.len; i++) {
    const struct tm_sched_worker *w = roster->workers.at[i];
    if (!w)
      continue;
    bool is_in_init = w->state == TM_WORKER_LOADING || w->state == TM_WORKER_INIT;
    int64_t since_ns = look.age_ns - w->started_ns;
    look.living += is_in_init || w->state == TM_WORKER_READY;
    look.in_init += is_in_init;
    if (is_in_init && since_ns < look.shortest_ns)
      look.shortest_ns = since_ns;
  }
  return look;
}

enum tm_time_rule tm_time_rules_look(struct tm_time_rules *r, const struct tm_roster *roster,
                                     const struct tm_counts *counts, int64_t now_ns)
{
  struct tm_init_look look;

  if (tm_progress_timeout_look(&r->progress, counts, now_ns, &r->why) < 0)
    return TM_TIME_NO_PROGRESS;
  look = tm_time_rules_init_look(r, roster);
  if (tm_init_rules_look(&r->init, &look, &r->why) == 0)
    return TM_TIME_IS_FINE;
  return tm_init_rules_is_stuck(&r->init, &look) ? TM_TIME_INIT_STUCK : TM_TIME_INIT_FAILS;
}
