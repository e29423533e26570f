/* node_health.h - whether a node is sick: work fails there that succeeds elsewhere. Pure.
 *
 * Each step judges a node separately, because a script can be compared only with itself: of two
 * steps that share nodes, one may fail everywhere, and its tries prove nothing about the nodes that
 * happen to run them. A node that is sick for one step is drained for all.
 *
 *  (1) Tries: the last TM_HEALTH_TRIES_MIN tries of mini-batches there all failed, or the last
 *      three times as many as the node may have workers, if that is more. In the same time, more
 *      than half of the tries that ended elsewhere succeeded, of at least TM_HEALTH_ELSEWHERE_MIN.
 *      Earlier tries do not count.
 *  (2) init(): the pool of the node has given up (pool.h (2)), while more than half of the calls
 *      on other nodes that are not lost succeeded.
 *  (3) The same for workers that end before they have begun anything.
 *  (4) If other nodes fail alike, or if there is no other node, no node is to blame.
 *
 * Tries that fail at once are many. So of a node where everything fails, only as many tries count
 * as (1) needs: else its failures would excuse other sick nodes.
 *
 * If a mini-batch fails that has failed before, the mini-batch may be to blame: in (1) this counts
 * as a failure elsewhere, too. So a node that gets all bad mini-batches in the end is not sick. A
 * part that fails does not count, because failures of parts are expected. Tries that were lost with
 * a node, or that a drained node ended, are not noted.
 *
 * Before it is sick, a node becomes doubtful: when more tries have failed there in a row than it
 * may have workers. Mini-batches that have failed elsewhere do not go there while there is a sound
 * node (queue.h (3)). Otherwise several sick nodes would use up the tries of mini-batches between
 * them: their tries fail quickly, so they are idle most of the time.
 *
 * Caller: note what ends, and look about ten times a second. So the cost per mini-batch does not
 * depend on the number of nodes.
 * /
 */
#ifndef TM_SCHED_NODE_HEALTH_H
#define TM_SCHED_NODE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/pool.h"

struct tm_buf;

#define TM_HEALTH_TRIES_MIN     8
#define TM_HEALTH_ELSEWHERE_MIN 3 /* fewer could be chance */

enum tm_sickness_kind {
  TM_SICK_NOT,
  TM_SICK_TRIES,  /* (1) */
  TM_SICK_INIT,   /* (2) */
  TM_SICK_STARTS, /* (3) */
};

/* With the figures. */
struct tm_sickness {
  enum tm_sickness_kind kind;
  int64_t failed;          /* in a row, on the node */
  int64_t elsewhere, good; /* on other nodes: all, and those that succeeded */
};

struct tm_health_count {
  int64_t all, good;
};

/* Of a step. Zeroed is empty. */
struct tm_step_health {
  struct tm_health_count tries;        /* that ended, on all nodes, ever */
  struct tm_health_count init, starts; /* on nodes that are not lost */
};

/* Of a node in a step. */
struct tm_node_health {
  int64_t doubt, enough;        /* tries: for a doubtful node; (1) */
  int64_t failed;               /* tries in a row */
  int64_t again;                /* of these, tries of mini-batches that had failed before */
  struct tm_health_count since; /* of the step, when the first of these ended */
  int64_t tries;                /* of the node since then: these, and parts */
  struct tm_health_count init, starts;
  bool is_sick; /* it was reported */
};

enum tm_health_try {
  TM_HEALTH_FIRST, /* of a mini-batch */
  TM_HEALTH_AGAIN, /* it has failed before */
  TM_HEALTH_PART
};

void tm_health_init(struct tm_node_health *n, int64_t workers);
void tm_health_note_try(struct tm_step_health *s, struct tm_node_health *n, enum tm_health_try what,
                        bool is_good);
void tm_health_note_init(struct tm_step_health *s, struct tm_node_health *n, bool is_good);
/* A worker has answered for the first time, or has ended before it began anything. */
void tm_health_note_start(struct tm_step_health *s, struct tm_node_health *n, bool is_good);
bool tm_health_is_doubtful(const struct tm_node_health *n);
/* The node is lost. */
void tm_health_forget(struct tm_step_health *s, struct tm_node_health *n);
struct tm_sickness tm_health_look(const struct tm_step_health *s, const struct tm_node_health *n,
                                  const struct tm_pool *pool);
/* "its last 12 tries all failed, while 95 % of 400 tries elsewhere succeeded" */
void tm_sickness_describe(struct tm_buf *out, const struct tm_sickness *x);

#endif
