/* init_rules.h - when a step is given up because its workers do not get through init().
 *
 * Pure: it is told the numbers and the time, which is time awake (awake.h). Of three rules the first is the pool's: it counts
 * failures in a row (pool.h (2)).
 *
 *  (2) After two minutes, twice as many failures as there may be workers, and not one init() that ended well: Failed.
 *  (3) Every living worker has been in init() for more than 3 * run_invocation_timeout + 30 s: Failed. One that ended its init(),
 *      or was begun later, keeps the step alive.
 *
 * Loading the script is a part of init().
 */
#ifndef TM_RUN_INIT_RULES_H
#define TM_RUN_INIT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct tm_init_rules {
  int64_t workers;  /* that there may be, on all nodes */
  int64_t stuck_ns; /* of (3) */
  int64_t failures; /* of init(), in all */
  bool has_success;
};

/* What there is to see now. */
struct tm_init_look {
  int64_t age_ns;      /* of the step, in this session */
  int64_t living;      /* workers that have a process and were not told to end */
  int64_t in_init;     /* of these */
  int64_t shortest_ns; /* how long the last begun of those has been in it */
};

void tm_init_rules_init(struct tm_init_rules *r, int64_t workers, int64_t run_timeout_ns);
void tm_init_rules_note(struct tm_init_rules *r, bool has_succeeded);
/* Whether (3) holds: where they are can be asked before the end. */
bool tm_init_rules_is_stuck(const struct tm_init_rules *r, const struct tm_init_look *now);
/* 0, or TM_ESCRIPT and which rule, with the numbers. */
int tm_init_rules_look(const struct tm_init_rules *r, const struct tm_init_look *now,
                       struct tm_err *err);

#endif
