/* launch_plan.h - which nodes of a group are to be launched, when, and on which host. A group is
 * the nodes that one command template starts: as many places as there should be nodes. A place is
 * made when it is first filled.
 *
 * Pure: it reads no clock, starts nothing, calls nobody. Times are ns of one clock.
 *
 *   EMPTY --launch--> STARTS --running--> STARTS (has a deadline) --ready--> READY
 *     ^                  |                   |                                 |
 *     `---- failed ------+-------------------+---------------------------------'
 *
 *  (1) A host has one place at most. A host whose node failed is used again after all spare ones.
 *  (2) A place is filled again at once after its first failure, then after 1 s, 2 s, 4 s, ... 60 s.
 *      When its node has committed something, the waits begin from the first again.
 *  (3) After 3 * places + 10 launches without a committed mini-batch between them it is exhausted:
 *      it asks for no other.
 *  (4) Nor after 5 nodes in a row that were never ready and ended within 10 s of their start, while
 *      no node is ready: the command itself is wrong, and waits would only hide that. With more
 *      hosts than 5, as many: each of them is tried once.
 *  (5) It is over when it is exhausted and no place is filled. What still starts may become ready
 *      after others have failed at once, as machines do that are switched off; then (4) no longer
 *      holds. What is ready may commit something; then (3) no longer holds.
 *  (6) At most TM_LAUNCH_STARTS_MAX places start at a time.
 *
 * Caller: init; then, after whatever happens and when it is due, launch what _next() names; tell
 * what becomes of it; give up what _late() names; end the job when it is over.
 */
#ifndef TM_FLEET_LAUNCH_PLAN_H
#define TM_FLEET_LAUNCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define TM_LAUNCH_WAIT_MIN_NS (INT64_C(1000000000))
#define TM_LAUNCH_WAIT_MAX_NS (60 * INT64_C(1000000000))
#define TM_LAUNCH_QUICK_NS    (10 * INT64_C(1000000000))
#define TM_LAUNCH_QUICK_MAX   5
#define TM_LAUNCH_STARTS_MAX  64

enum tm_launch_place_state { TM_LAUNCH_PLACE_EMPTY, TM_LAUNCH_PLACE_STARTS, TM_LAUNCH_PLACE_READY };

struct tm_launch_place {
  enum tm_launch_place_state state;
  uint32_t id;      /* of the node, unless EMPTY */
  size_t host;      /* index; SIZE_MAX: the template has none */
  int64_t due_ns;   /* EMPTY: when it may be filled */
  int64_t begun_ns; /* when its command began to run; INT64_MAX: not yet */
  /* STARTS: when it is late; INT64_MAX: its command does not run yet, or is being ended */
  int64_t deadline_ns;
  int failures; /* in a row, without a commit of its node */
};

struct tm_launch_plan {
  struct TM_ARRAY(struct tm_launch_place) places; /* those that were ever filled */
  struct TM_ARRAY(size_t) by_id;                  /* the place of a node plus 1; 0: none */
  size_t wanted;                                  /* places that there should be */
  size_t starting, ready;                         /* of them */
  struct TM_ARRAY(size_t) spares;                 /* hosts without a place, the next one first */
  bool has_hosts;
  int64_t start_timeout_ns;
  int64_t launches;        /* since the last committed mini-batch */
  size_t quick, quick_max; /* failures in a row of the kind that (4) counts, and when it stops */
};

/* `hosts`: how many; 0: the template has no {host}; else at least `places`. */
void tm_launch_plan_init(struct tm_launch_plan *p, size_t places, size_t hosts,
                         int64_t start_timeout_ns);
void tm_launch_plan_release(struct tm_launch_plan *p);
/* A place to be filled now, which may be the next new one; SIZE_MAX: none. */
size_t tm_launch_plan_next(const struct tm_launch_plan *p, int64_t now_ns);
/* Fills that place. Returns the host, or SIZE_MAX. `id`: never used before. */
size_t tm_launch_plan_launch(struct tm_launch_plan *p, size_t place, uint32_t id);
/* The command of the node runs: from now on it has start_timeout_ns. */
void tm_launch_plan_running(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
/* Its command runs, and has waited for a machine until now: it has start_timeout_ns from now on. */
void tm_launch_plan_waited(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
void tm_launch_plan_ready(struct tm_launch_plan *p, uint32_t id);
/* Its command is being ended, so it is not late any more; _failed() follows. */
void tm_launch_plan_ends(struct tm_launch_plan *p, uint32_t id);
/* It could not be started, was late, or is lost. */
void tm_launch_plan_failed(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
/* Its command ended with the keeper that ran it: neither the command nor the host is to blame, so
 * the place is filled again without a wait. */
void tm_launch_plan_withdrawn(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
/* A mini-batch from the node was committed. */
void tm_launch_plan_committed(struct tm_launch_plan *p, uint32_t id);
/* A node that is late; false: none. */
bool tm_launch_plan_late(const struct tm_launch_plan *p, int64_t now_ns, uint32_t *id);
bool tm_launch_plan_is_exhausted(const struct tm_launch_plan *p); /* (3), (4) */
bool tm_launch_plan_is_over(const struct tm_launch_plan *p);      /* (5) */
/* Whether the command of some node runs. */
bool tm_launch_plan_has_running(const struct tm_launch_plan *p);
/* When _next() or _late() may have something that they do not have now; INT64_MAX: never. */
int64_t tm_launch_plan_due(const struct tm_launch_plan *p);
/* NULL: no node of that id is starting or ready. */
const struct tm_launch_place *tm_launch_plan_find(const struct tm_launch_plan *p, uint32_t id);

#endif
