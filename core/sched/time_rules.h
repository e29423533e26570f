/* time_rules.h - what becomes of a step because time passes without anything happening: the rules
 * of progress_timeout.h and init_rules.h, applied to the workers that the scheduler knows.
 *
 * Part of the scheduler. All times of these rules are of its clock, which counts time awake
 * (active_clock.h) in which the step has a node: while it waits for one, nothing can happen.
 *
 * Caller: init; start when the step begins to list; note how each init() ends; look about ten times
 * a second.
 */
#ifndef TM_SCHED_TIME_RULES_H
#define TM_SCHED_TIME_RULES_H

#include "sched/init_rules.h"
#include "sched/progress_timeout.h"
#include "sched/roster.h"

struct tm_time_limits {
  int64_t first_ns, update_ns; /* progress_timeout.h */
  int64_t workers;             /* init_rules.h */
  int64_t run_timeout_ns;      /* likewise */
};

enum tm_time_rule {
  TM_TIME_IS_FINE,
  TM_TIME_NO_PROGRESS, /* nothing was created and nothing has ended for too long */
  TM_TIME_INIT_FAILS,  /* init() fails again and again */
  TM_TIME_INIT_STUCK   /* every living worker is in init(), for too long */
};

struct tm_time_rules {
  struct tm_time_limits limits;
  struct tm_progress_timeout progress; /* and the clock */
  struct tm_init_rules init;
  struct tm_err why; /* which rule is broken, with the numbers */
};

void tm_time_rules_init(struct tm_time_rules *r, const struct tm_time_limits *limits);
void tm_time_rules_start(struct tm_time_rules *r, const struct tm_roster *roster, int64_t now_ns);
/* A node has come or gone. */
void tm_time_rules_look_at_nodes(struct tm_time_rules *r, const struct tm_roster *roster,
                                 int64_t now_ns);
/* The time awake. */
int64_t tm_time_rules_clock(struct tm_time_rules *r, int64_t now_ns);
/* Sets `why` if a rule is broken. */
enum tm_time_rule tm_time_rules_look(struct tm_time_rules *r, const struct tm_roster *roster,
                                     const struct tm_counts *counts, int64_t now_ns);
/* What init_rules.h wants to know. Workers that have not started yet, or that were asked to end, do
 * not count. */
struct tm_init_look tm_time_rules_init_look(const struct tm_time_rules *r,
                                            const struct tm_roster *roster);

#endif
