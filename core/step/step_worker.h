/* step_worker.h - the step's side of a worker, its node, and the assignments that it holds. The
 * scheduler knows the same worker by its number (sched/roster.h), and alone decides its state.
 */
#ifndef TM_STEP_STEP_WORKER_H
#define TM_STEP_STEP_WORKER_H

#include "fleet/node.h"
#include "record/temp_dirs.h"
#include "step/in_flight.h"
#include "step/worker_phase.h"

struct tm_supervisor;

/* A node of a step: the place of its id in tm_supervisor.nodes. */
struct tm_step_node {
  uint32_t id;
  struct tm_node *node; /* NULL: lost, and being replaced */
  /* the next one, while inputs are staged or a result is copied; or NULL */
  struct tm_node *waiting;
  struct tm_temp_dirs temp;    /* of its newest keeper */
  char *script, *script_dir;   /* what its workers run, once it was added */
  bool is_added;               /* the scheduler knows that it is there */
  int64_t slots;               /* how many workers it may have, once it was added */
  int64_t cores;               /* that its workers may use together, once it was added */
  uint32_t step;               /* the number of the step there */
  char name[12], address[256]; /* also while it is lost */
  int64_t asked_doing_ns;      /* awake; when the keeper was asked last; 0: never */
  int64_t run_ns, worker_ns;   /* of ended workers: the time in run(), the time that they lived */
  int64_t clock_offset_ns;     /* its wall clock minus ours; 0: local, or not known */
  int64_t distance_ns;         /* the round trip that the scheduler knows; 0: none */
};

/* Converts a time of its clock to a time of ours; 0 stays 0. A worker may have sent any number. */
static inline int64_t tm_step_node_our_time(const struct tm_step_node *n, int64_t wall_ns)
{
  return wall_ns > 0 ? (int64_t)((uint64_t)wall_ns - (uint64_t)n->clock_offset_ns) : wall_ns;
}

/* The reverse. */
static inline int64_t tm_step_node_its_time(const struct tm_step_node *n, int64_t wall_ns)
{
  return (int64_t)((uint64_t)wall_ns + (uint64_t)n->clock_offset_ns);
}

static inline void tm_step_node_add_run(struct tm_step_node *n, int64_t run_ns)
{
  if (run_ns < 0 || __builtin_add_overflow(n->run_ns, run_ns, &n->run_ns))
    n->run_ns = INT64_MAX; /* no worker of ours sends that */
}

/* step_nodes.c and workers.c make and free these. There may be 100,000: without padding. */
struct tm_worker {
  struct tm_supervisor *s;
  struct tm_step_node *node;
  struct tm_worker_link *link; /* NULL: not yet, or none */
  struct tm_ring held;         /* of struct tm_in_flight */
  int64_t started_ns;          /* monotonic; 0: it has not been */
  int64_t mute_ns;             /* monotonic; when its link ended; 0: it has not */
  uint32_t number;             /* in the scheduler */
  uint32_t id;                 /* on the node */
  uint32_t at;                 /* in tm_supervisor.workers */
  uint32_t pid;
  int announced;            /* announced results; they keep it in memory when it is gone */
  bool is_deaf : 1;         /* it has ended, or sent rubbish: it gets no more messages */
  bool is_rubbish : 1;      /* it sent unreadable bytes, or closed its link: it is not believed */
  bool has_failed_init : 1; /* it has reported why */
  bool has_ended : 1, is_closed : 1;
  char name[24]; /* process000 */
  struct tm_worker_phase doing;
};

#endif
