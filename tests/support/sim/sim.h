/* sim.h - simulates the steps of a job: their schedulers, and nodes and workers that need time for
 * all they do. Nothing waits: the clock jumps to the next thing that happens.
 *
 *   struct sim x;
 *   sim_init(&x, &options);
 *   if (sim_run(&x)) ...                all mini-batches are over; x.found, x.steps have the rest
 *   sim_release(&x);
 *
 * The decisions are real: core/sched (what is handed out, recalled and tried again, how steps
 * share the workers, when a step is over) and core/fleet/launch_plan (which nodes are launched, and
 * when). The rest is simulated. A worker runs what it was handed, in order; every message takes
 * half of the round trip to its node. Lengths and accidents are random numbers of `seed`, so that
 * the same options give the same trace: sim_trace() is a hash of all decisions and their times.
 *
 * Every run checks (sim_checks.c):
 *
 *  (1) Each mini-batch is at one worker at most, and is over once.
 *  (2) The number of each try is one more than the tries that counted: those that failed or whose
 *      worker died in them, but not those that were taken back, lost with their node, or failed on
 *      one that drains.
 *  (3) At the end of a turn no worker is idle while something waits that it may take.
 *  (4) Nothing waits behind another one at a worker while some worker is idle for longer than
 *      sim_late_ns(): 10 ms and a round trip, and what the recall needs.
 *  (5) Only nodes where everything fails are called sick, and no later than SIM_SICK_NS after they
 *      could be used.
 *
 * The first violation stops the run, and `found.text` names it.
 */
#ifndef TM_TESTS_SIM_H
#define TM_TESTS_SIM_H

#include "base/heap.h"
#include "base/mem.h"
#include "base/ring.h"
#include "base/time.h"
#include "fleet/launch_plan.h"
#include "random.h"
#include "sched/sched.h"
#include "sched/share.h"
#include "sched/tally.h"

#define SIM_STEPS_MAX 4
#define SIM_SICK_NS   (20 * TM_S)

/* How long a mini-batch takes, around an average. */
enum sim_lengths {
  SIM_CONSTANT,
  SIM_EVEN,      /* from half of it to one and a half */
  SIM_LOG_NORMAL /* its logarithm has a standard deviation of 0.5 */
};

struct sim_options {
  uint64_t seed;
  uint32_t steps;      /* that run at the same time; 0: one */
  int64_t stagger_ns;  /* each begins so long after the one before */
  int64_t max_workers; /* of all steps; 0: what the nodes have */
  uint32_t nodes;
  uint32_t hosts;              /* 0: the nodes have no names */
  uint32_t sick;               /* init() fails on so many hosts, here and there */
  uint32_t quick;              /* on so many others, nodes end before they are ready */
  uint32_t bad;                /* on so many others, all tries fail, and soon */
  int64_t slots;               /* of a node */
  uint64_t mini_batches;       /* of a step */
  int64_t queue_ns;            /* a machine for a node is granted after up to twice as long */
  int64_t start_ns;            /* then the node is ready after this */
  int64_t again_ns;            /* likewise if it replaces another one; 0: as the first */
  int64_t latency_ns, init_ns; /* latency: of a message */
  const int64_t *latencies_ns; /* instead of that: by place, in turn; or NULL */
  size_t latencies_len;
  bool has_prefetch;         /* the script has the hook, so that workers get mini-batches ahead */
  bool is_measured;          /* the scheduler learns how far the nodes are */
  int64_t jitter_ns;         /* measured distances are wrong by up to so much, and change often */
  enum sim_lengths lengths;  /* of mini-batches */
  int64_t run_ns;            /* on average */
  uint32_t slow, slow_times; /* one in `slow` takes `slow_times` as long; 0: none */
  uint32_t fails, dies;      /* one try in so many fails, or takes its worker with it; 0: none */
  int64_t lose_ns;           /* so often a node is lost; 0: never */
  int64_t drain_ns;          /* so often a node is asked to end; 0: never */
};

/* What is on its way to a worker, or runs there. */
struct sim_held {
  uint64_t seq; /* ring.h */
  uint64_t index;
  int64_t handed_ns, run_ns;
  uint32_t try;
  bool fails, kills; /* how it will end */
  bool is_asked;     /* back */
};

struct sim_worker {
  uint32_t node;
  bool is_gone, is_alive;
  int64_t free_ns;                 /* when it ended the last one whose answer has come */
  struct tm_ring held;             /* of struct sim_held; the answer of the first one is an event */
  struct TM_ARRAY(uint64_t) taken; /* the answer to a recall */
};

/* By id. What its workers have done. */
struct sim_node {
  size_t place, host;
  bool was_ready, is_gone, drains, is_sick;
  int64_t granted_ns;        /* when a machine for it is granted */
  int64_t added_ns, gone_ns; /* when it could be used; when it was lost, or INT64_MAX */
  int64_t busy_ns, ready_ns; /* ready: when its first worker was; 0: not yet */
  int64_t plenty_ns;         /* busy_ns when the queue was found empty for the first time */
  uint64_t recalls, taken;
  size_t living;                     /* workers */
  struct TM_ARRAY(uint64_t) workers; /* step << 32 | number */
};

/* What the checks know of a mini-batch. */
struct sim_mini_batch {
  uint8_t ended, held, failed;
};

struct sim;

struct sim_step {
  struct sim *x;
  struct tm_sched s;
  struct tm_tally tally;
  uint32_t number;
  bool has_begun;
  uint64_t tries, committed, failed, retried;
  struct TM_ARRAY(struct sim_worker) workers; /* by number */
  struct sim_mini_batch *mini_batches;
  int64_t idle_ns; /* since when some worker has been idle; INT64_MAX: none is */
};

struct sim_found {
  char text[200];     /* the first violation; "" */
  int64_t longest_ns; /* something waited like this while a worker was idle: see (4) */
  int64_t sick_ns;    /* the longest time until a sick node was found: see (5) */
};

struct sim {
  struct sim_options o;
  struct tm_heap events;
  struct tm_launch_plan plan;
  struct random random;
  int64_t now_ns, last_ns; /* last: when the last mini-batch was over */
  int64_t last_run_ns;     /* how long that one took */
  int64_t begun_ns;        /* when the last one began: then all the others had */
  int64_t busy_ns;         /* of mini-batches that have ended */
  int64_t work_ns;         /* the same, of each mini-batch once */
  int64_t plan_ns;         /* when the launch plan is due, as planned */
  int64_t empty_ns;        /* when the queue was found empty for the first time; 0: not yet */
  int64_t usual_ns;        /* when the last one was answered that took no longer than usual */
  int64_t ready;           /* nodes */
  uint64_t order, tries, committed, failed, results, recalls, workers, trace;
  uint64_t lost_nodes, drained_nodes, sick_nodes;
  uint32_t steps_len;
  struct sim_step steps[SIM_STEPS_MAX];
  struct TM_ARRAY(struct sim_node) nodes; /* by id */
  struct sim_found found;
};

void sim_init(struct sim *x, const struct sim_options *o);
/* Until everything is over. False: nothing happens any more, or a check has failed: see found. */
bool sim_run(struct sim *x);
void sim_release(struct sim *x);
uint64_t sim_trace(const struct sim *x);
/* A dispatch or a result. */
uint64_t sim_decisions(const struct sim *x);
/* The time that all mini-batches take if every slot is busy from when its node can be used until it
 * is lost. */
int64_t sim_least_ns(const struct sim *x);
/* What (4) allows: it is late after 10 ms and a round trip, as measured; the next look is
 * TM_SCHED_LOOK_NS later at most; the recall arrives after half a round trip. */
int64_t sim_late_ns(const struct sim *x, uint32_t node);

#endif
