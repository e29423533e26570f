/* launch_plan.h - which nodes of a group are to be launched, when, and on which host. A group is
 * the nodes that one command template starts. A place is one node of it, from its launch on; after
 * a failure it stays, and waits to be filled again.
 *
 * Pure: it reads no clock, starts nothing, calls nobody. Times are ns of one clock.
 *
 *   EMPTY --launch--> STARTS --running--> STARTS (has a deadline) --ready--> READY
 *     ^                  |                   |                                 |
 *     `---- failed ------+-------------------+---------------------------------+
 *                        `-------------------+---- leaves --> LEAVES --left--> no place any more
 *
 *  (1) A host has one place at most, and no node is launched while all of them have one. The host
 *      of a node that has failed is excluded for TM_LAUNCH_EXCLUDE_NS: while another one is free,
 *      it is not used. If all free ones are excluded, the one that was excluded first is used.
 *      The host of a sick node would spoil tries again: while it is excluded, it is used only if no
 *      node starts or is ready. A host whose last command still runs is never used; its place may
 *      be filled on another host meanwhile.
 *  (2) A place is filled again at once after its first failure, then after 1 s, 2 s, 4 s, ... 60 s,
 *      less some jitter. When its node has committed something, the waits begin from the first
 *      again.
 *  (3) After 3 * nodes_max + 10 launches without a committed mini-batch between them it is
 *      exhausted: it asks for no other.
 *  (4) Nor after 5 nodes in a row that were never ready and ended within 10 s of their start, while
 *      no node is ready: the command itself is wrong, and waits would only hide that. With
 *      more than 5 hosts, that many nodes: each host is tried once. When a node of the group has
 *      committed something, the command is right, and the network may be away for a while: from
 *      then on only (3) holds. A request that the scheduler has not answered counts neither here
 *      nor in (3), and is repeated when it answers again.
 *  (5) It is over when it is exhausted and no place is filled. What still starts may become ready
 *      after others have failed at once, as machines do that are switched off; then (4) no longer
 *      holds. What is ready may commit something; then (3) no longer holds.
 *  (6) At most starts_max places start at a time, and rate_max are launched within a second.
 *  (7) A node that somebody has canceled is not replaced: from then on there are at most as many
 *      places as were left. If none was left, it is over.
 *
 * Caller: init; say how many nodes there should be by _want(), whenever that changes; after
 * whatever happens, and ten times a second, launch what _next() names; tell what becomes of it;
 * give up what _late() names; end the job when it is over.
 */
#ifndef TM_FLEET_LAUNCH_PLAN_H
#define TM_FLEET_LAUNCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "slurm/slurm_text.h" /* enum tm_slurm_end */

#define TM_LAUNCH_WAIT_MIN_NS (INT64_C(1000000000))
#define TM_LAUNCH_WAIT_MAX_NS (60 * INT64_C(1000000000))
#define TM_LAUNCH_QUICK_NS    (10 * INT64_C(1000000000))
#define TM_LAUNCH_QUICK_MAX   5
#define TM_LAUNCH_EXCLUDE_NS  (600 * INT64_C(1000000000))
#define TM_LAUNCH_RATE_MAX    8

enum tm_launch_place_state {
  TM_LAUNCH_PLACE_EMPTY, /* its node has failed, and is to be replaced */
  TM_LAUNCH_PLACE_STARTS,
  TM_LAUNCH_PLACE_READY,
  TM_LAUNCH_PLACE_LEAVES /* it is given back */
};

struct tm_launch_place {
  enum tm_launch_place_state state;
  uint32_t id;      /* of the node, unless EMPTY */
  size_t host;      /* index; SIZE_MAX: the template has none */
  int64_t due_ns;   /* EMPTY: when it may be filled */
  int64_t begun_ns; /* when its command began to run; INT64_MAX: not yet */
  /* STARTS: when it is late; INT64_MAX: its command does not run yet, or is being ended */
  int64_t deadline_ns;
  int failures;    /* in a row, without a commit of its node */
  bool holds_host; /* see tm_launch_plan_hold_host() */
  bool is_sick;    /* its node */
};

struct tm_launch_host {
  size_t index;
  int64_t excluded_ns; /* until when; 0: it is not excluded */
  bool was_sick;       /* it is excluded because its node was sick */
  bool is_held;        /* the command of its last node is not over */
};

struct tm_launch_options {
  size_t nodes_max; /* that there may be, whatever is wanted; > 0 */
  size_t hosts;     /* how many; 0: the template has no {host}; else at least nodes_max */
  int64_t start_timeout_ns;
  size_t starts_max;
  size_t rate_max; /* at most TM_LAUNCH_RATE_MAX; 0: any number */
  uint64_t seed;   /* of the jitter */
};

struct tm_launch_plan {
  struct tm_launch_options o;
  struct TM_ARRAY(struct tm_launch_place) places;
  struct TM_ARRAY(size_t) by_id;                 /* the place of a node plus 1; 0: none */
  size_t wanted;                                 /* places that there should be */
  size_t limit;                                  /* by (7) */
  size_t starting, ready, leaving;               /* places in these states */
  struct TM_ARRAY(struct tm_launch_host) spares; /* hosts without a place, the next one first */
  int64_t launches;                              /* since the last committed mini-batch */
  bool has_committed;                            /* some node, ever */
  int64_t last_ns[TM_LAUNCH_RATE_MAX];           /* when the last ones were, a ring */
  size_t last_at;
  size_t quick, quick_max; /* failures in a row of the kind that (4) counts, and when it stops */
};

/* It wants no node yet. */
void tm_launch_plan_init(struct tm_launch_plan *p, const struct tm_launch_options *o);
void tm_launch_plan_release(struct tm_launch_plan *p);
/* How many nodes there should be. If fewer than before, places that wait to be filled go; nodes
 * stay until the caller gives them back. */
void tm_launch_plan_want(struct tm_launch_plan *p, size_t nodes);
/* How many nodes that start or are ready are more than there should be. */
size_t tm_launch_plan_surplus(const struct tm_launch_plan *p);
/* A place to be filled now, which may be the next new one; SIZE_MAX: none. */
size_t tm_launch_plan_next(const struct tm_launch_plan *p, int64_t now_ns);
/* Fills that place. Returns the host, or SIZE_MAX. `id`: never used before. */
size_t tm_launch_plan_launch(struct tm_launch_plan *p, size_t place, uint32_t id, int64_t now_ns);
/* The command of the node runs: from now on it has start_timeout_ns. */
void tm_launch_plan_running(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
/* Its command runs, and has waited for a machine until now: it has start_timeout_ns from now on. */
void tm_launch_plan_waited(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
/* It has made progress towards being ready: it has start_timeout_ns from now on. */
void tm_launch_plan_moves(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
void tm_launch_plan_ready(struct tm_launch_plan *p, uint32_t id);
/* Its command is being ended, so it is not late any more; _failed() follows. */
void tm_launch_plan_ends(struct tm_launch_plan *p, uint32_t id);
/* It is given back: it counts no more, but has its host. _left() follows, however it ends. */
void tm_launch_plan_leaves(struct tm_launch_plan *p, uint32_t id);
void tm_launch_plan_left(struct tm_launch_plan *p, uint32_t id);
/* A ready node is sick (sched/node_health.h), and drains; _failed() follows when it has ended. */
void tm_launch_plan_sick(struct tm_launch_plan *p, uint32_t id);
/* Call it before _failed(), _left() and the like if the node's command is not over: its place
 * becomes free, but its host is used again only after _free_host(). */
void tm_launch_plan_hold_host(struct tm_launch_plan *p, uint32_t id);
void tm_launch_plan_free_host(struct tm_launch_plan *p, size_t host);
/* Whether the machine of such a node may be to blame, so that its host is excluded: not if it was a
 * limit of its Slurm job, or somebody else's decision. */
bool tm_launch_plan_blames_host(enum tm_slurm_end end);
/* It could not be started, was late, or is lost. `end`: what Slurm says of it. Keeps (7). */
void tm_launch_plan_failed(struct tm_launch_plan *p, uint32_t id, enum tm_slurm_end end,
                           int64_t now_ns);
/* It drained, or its command ended with the keeper that ran it: neither the command nor the host is
 * to blame, so the place is filled again without a wait. */
void tm_launch_plan_withdrawn(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
/* The scheduler has not answered the request for it. */
void tm_launch_plan_unanswered(struct tm_launch_plan *p, uint32_t id, int64_t now_ns);
/* A mini-batch from the node was committed. */
void tm_launch_plan_committed(struct tm_launch_plan *p, uint32_t id);
/* A node that is late; false: none. */
bool tm_launch_plan_late(const struct tm_launch_plan *p, int64_t now_ns, uint32_t *id);
bool tm_launch_plan_is_exhausted(const struct tm_launch_plan *p);     /* (3), (4) */
bool tm_launch_plan_are_all_canceled(const struct tm_launch_plan *p); /* (7) */
bool tm_launch_plan_is_over(const struct tm_launch_plan *p);          /* (5), (7) */
/* Whether nodes start or will be launched. */
bool tm_launch_plan_expects(const struct tm_launch_plan *p);
/* Whether the command of some node runs. */
bool tm_launch_plan_has_running(const struct tm_launch_plan *p);
/* NULL: no node of that id has a place. */
const struct tm_launch_place *tm_launch_plan_find(const struct tm_launch_plan *p, uint32_t id);

#endif
