/* time_rules.c - see time_rules.h. */
#include "sched/time_rules.h"

void tm_time_rules_init(struct tm_time_rules *r, const struct tm_time_limits *limits)
{
  *r = (struct tm_time_rules) { .limits = *limits };
  tm_init_rules_init(&r->init, limits->workers, limits->run_timeout_ns);
}

static bool has_node(const struct tm_roster *roster)
{
  for (size_t i = 0; i < roster->nodes.len; i++)
    if (roster->nodes.at[i] && roster->nodes.at[i]->is_up)
      return true;
  return false;
}

void tm_time_rules_look_at_nodes(struct tm_time_rules *r, const struct tm_roster *roster,
                                 int64_t now_ns)
{
  tm_active_clock_pause(&r->progress.clock, !has_node(roster), now_ns);
}

void tm_time_rules_start(struct tm_time_rules *r, const struct tm_roster *roster, int64_t now_ns)
{
  tm_progress_timeout_init(&r->progress, r->limits.first_ns, r->limits.update_ns, now_ns);
  tm_time_rules_look_at_nodes(r, roster, now_ns);
}

int64_t tm_time_rules_clock(struct tm_time_rules *r, int64_t now_ns)
{
  return tm_active_clock_look(&r->progress.clock, now_ns);
}

struct tm_init_look tm_time_rules_init_look(const struct tm_time_rules *r,
                                            const struct tm_roster *roster)
{
  const struct tm_list *in_init = &roster->in_init;
  struct tm_init_look look = { .age_ns = r->progress.clock.now_ns,
                               .living = (int64_t)in_init->len + roster->ready,
                               .in_init = (int64_t)in_init->len,
                               .shortest_ns = INT64_MAX };

  for (struct tm_list_item *i = tm_list_first(in_init); i; i = tm_list_next(in_init, i)) {
    int64_t since_ns = look.age_ns - TM_LIST_OWNER(i, struct tm_sched_worker, wants)->started_ns;
    look.shortest_ns = since_ns < look.shortest_ns ? since_ns : look.shortest_ns;
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
