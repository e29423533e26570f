/* share.h - how the steps that run share the workers that a job may have. Pure: the job tells what is, and asks.
 *
 *  (1) There are never more workers than `max`. Not more steps run at a time, so that each can have one.
 *  (2) A step without a worker goes first: the next one that is free is its. When none is, a step with several gives one back as
 *      soon as that has ended what it has in hand.
 *  (3) Beyond that a step has as many as it can use, up to its part of all: the parts grow as other steps end. What runs is not
 *      ended for that, as a worker's init() may have taken long.
 */
#ifndef TM_RUN_SHARE_H
#define TM_RUN_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A step that runs. */
struct tm_share {
  int64_t wants;  /* workers that it could use; 0: it is ending */
  int64_t lives;  /* that it has, those that are ending too */
  int64_t leaves; /* of them that are ending, or will when they have ended what they have in hand */
};

/* Whether the one at `at` may start another worker. */
bool tm_share_may_start(const struct tm_share *of, size_t n, size_t at, int64_t max);
/* Which one is to give a worker back; n: none. */
size_t tm_share_giver(const struct tm_share *of, size_t n, int64_t max);

#endif
