/* actions.h - what the scheduler has decided, for its caller to carry out, first in, first out. */
#ifndef TM_SCHED_ACTIONS_H
#define TM_SCHED_ACTIONS_H

#include "sched/node_health.h"
#include "sched/queue.h"

enum tm_sched_action_kind {
  TM_SCHED_START,  /* node, worker: start a worker there, with this number */
  TM_SCHED_SETUP,  /* worker: it runs; send it what it needs to load the script */
  TM_SCHED_HAND,   /* worker, seq, what: send it this */
  TM_SCHED_RECALL, /* worker: take back what tm_sched_recalled() lists, unless it has begun */
  TM_SCHED_STOP,   /* worker: it has nothing to do any more, and may end by itself */
  TM_SCHED_KILL,   /* worker */
  /* A try has failed: worker, seq, what. It has failed with its nodes: what.lost_nodes is
   * TM_LOST_NODES_MAX. */
  TM_SCHED_RETRY,  /* it will be tried again */
  TM_SCHED_AGAIN,  /* likewise; this try does not count, because its node drains */
  TM_SCHED_FAIL,   /* the mini-batch has failed */
  TM_SCHED_SEARCH, /* search, is_new, bad, untested, is_over: it is tried in parts */
  /* search, is_over: its last part has ended well. Answer with SETTLED, or SPOILED. */
  TM_SCHED_SEARCH_OVER,
  TM_SCHED_NODE_FAILED, /* node, losses: it is lost again and again, the step cannot go on */
  TM_SCHED_NODE_SICK,   /* node, sickness: it should be drained */
  /* A rule of time is broken (sched->time.why): the step has failed. */
  TM_SCHED_NO_PROGRESS,
  TM_SCHED_INIT_FAILS,
  TM_SCHED_INIT_STUCK, /* the workers may be asked where they are */
};

struct tm_sched_action {
  enum tm_sched_action_kind kind;
  uint32_t node, worker;
  uint64_t seq; /* of the worker's in-flight window */
  struct tm_assignment what;
  uint32_t search;
  bool is_new, is_over;   /* the search */
  uint64_t bad, untested; /* parts of it that have failed for good (record/part.h); 0: none */
  int losses;             /* in a row */
  struct tm_sickness sickness;
};

struct tm_actions {
  struct tm_sched_action *at; /* a ring */
  size_t first, len, cap;
};

void tm_actions_release(struct tm_actions *a);
/* Valid until the next call. */
struct tm_sched_action *tm_actions_add(struct tm_actions *a, enum tm_sched_action_kind kind);
bool tm_actions_take(struct tm_actions *a, struct tm_sched_action *out); /* false: none is left */

#endif
