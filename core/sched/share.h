/* share.h - how the running steps share the workers that a job may have. Pure: the job passes the
 * numbers and asks.
 *
 * This is the one decision about workers that is not made in tm_sched. Each step has a tm_sched of
 * its own, which knows nothing of the others, while this compares all steps of the job. A tm_sched
 * asks for it (may_start), and hears ON_GIVE_BACK.
 *
 *  (1) There are never more workers than `max`, and never more running steps, so that each can have
 *      one.
 *  (2) A step without a worker comes first: it gets the next free one. If none is free, a step with
 *      several workers gives one back as soon as that has finished what it holds.
 *  (3) Beyond that a step has as many as it can use, up to its even part of all. The parts grow as
 *      other steps end. No worker is ended for this, as its init() may have taken long.
 */
#ifndef TM_SCHED_SHARE_H
#define TM_SCHED_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A running step. */
struct tm_share {
  int64_t wants;  /* workers that it could use; 0: the step is ending */
  int64_t lives;  /* workers that it has, including those that are ending */
  int64_t leaves; /* of these, workers that are ending, or will end after what they hold */
};

/* The `max` of a job. given: by its user, for all nodes together; 0: what those nodes have that can
 * have workers now, `have` together; while there is none, `per_node`. */
int64_t tm_share_limit(int64_t given, int64_t have, int64_t per_node);
/* Whether the step at `at` may start another worker. */
bool tm_share_may_start(const struct tm_share *of, size_t n, size_t at, int64_t max);
/* Which step gives a worker back; n: none. */
size_t tm_share_giver(const struct tm_share *of, size_t n, int64_t max);

#endif
