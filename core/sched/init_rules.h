/* init_rules.h - when to give up a step because its workers do not get through init().
 *
 * Pure: it gets the numbers and the time, which is time awake (active_clock.h). The first of three
 * rules is in the pool: it counts consecutive failures (pool.h (2)).
 *
 *  (2) After two minutes, with twice as many failures as allowed workers and without a successful
 *      init(): Failed.
 *  (3) Every living worker has been in init() for more than 3 * run_invocation_timeout + 30 s:
 *      Failed. A worker that has ended its init(), or began it later, keeps the step alive.
 *
 * Loading the script is a part of init().
 */
#ifndef TM_SCHED_INIT_RULES_H
#define TM_SCHED_INIT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct tm_init_rules {
  int64_t workers;  /* allowed number, on all nodes */
  int64_t stuck_ns; /* of (3) */
  int64_t failures; /* of init(), total */
  bool has_success;
};

/* The current state. */
struct tm_init_look {
  int64_t age_ns;      /* of the step, in this session */
  int64_t living;      /* workers with a process that were not told to end */
  int64_t in_init;     /* of these, those in init() */
  int64_t shortest_ns; /* time of the newest of them in init() */
};

void tm_init_rules_init(struct tm_init_rules *r, int64_t workers, int64_t run_timeout_ns);
void tm_init_rules_note(struct tm_init_rules *r, bool has_succeeded);
/* Whether (3) holds: workers can report where they are before the end. */
bool tm_init_rules_is_stuck(const struct tm_init_rules *r, const struct tm_init_look *now);
/* 0, or TM_ESCRIPT with the rule and the numbers. */
int tm_init_rules_look(const struct tm_init_rules *r, const struct tm_init_look *now,
                       struct tm_err *err);

#endif
