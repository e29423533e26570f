/* sim_own.h - between the files of the simulator: sim.c has the clock, the events and what the
 * scheduler decides; sim_nodes.c launches and loses nodes; sim_workers.c runs mini-batches;
 * sim_checks.c checks what happens. */
#ifndef TM_TESTS_SIM_OWN_H
#define TM_TESTS_SIM_OWN_H

#include "sim/sim.h"

enum sim_kind {
  SIM_STEP_BEGINS,
  SIM_TICK,
  SIM_LOSE,
  SIM_DRAIN,
  /* of a node */
  SIM_WAITS,
  SIM_ADDED,
  SIM_ENDS,
  SIM_MEASURED,
  /* of a worker */
  SIM_ALIVE,
  SIM_ANSWERED,
  SIM_RECALL,
  SIM_TAKEN,
  SIM_GONE
};

struct sim_event {
  int64_t at_ns;
  uint64_t order; /* of those at the same time */
  enum sim_kind kind;
  uint32_t step, number; /* of a worker; number: or of a node */
};

/* sim.c */
void sim_at(struct sim *x, int64_t at_ns, enum sim_kind kind, uint32_t step, uint32_t number);
bool sim_tell(struct sim *x, struct sim_step *st, struct tm_sched_event e);
void sim_turn(struct sim *x, struct sim_step *st);
int64_t sim_latency_ns(const struct sim *x, uint32_t node);

/* sim_nodes.c */
void sim_nodes_init(struct sim *x);
void sim_nodes_release(struct sim *x);
void sim_nodes_launch(struct sim *x); /* those that the plan names now */
void sim_nodes_happen(struct sim *x, const struct sim_event *e);
/* Of a node with that host init() fails. */
bool sim_node_lacks_init(const struct sim *x, uint32_t node);
/* All tries fail there. */
bool sim_node_is_bad(const struct sim *x, uint32_t node);
/* A step has found that it is sick. */
void sim_nodes_sick(struct sim *x, uint32_t node);
/* A worker has ended there. */
void sim_nodes_worker_ended(struct sim *x, uint32_t node);

/* sim_workers.c */
void sim_workers_start(struct sim *x, struct sim_step *st, const struct tm_sched_action *a);
void sim_workers_hand(struct sim *x, struct sim_step *st, const struct tm_sched_action *a);
void sim_workers_recall(struct sim *x, struct sim_step *st, const struct tm_sched_action *a);
void sim_workers_happen(struct sim *x, const struct sim_event *e);
/* With its node: it is not heard of again. */
void sim_workers_lose(struct sim *x, struct sim_step *st, uint32_t number);
/* What its workers run now counts as done until now, in `plenty_ns` of the nodes. */
void sim_workers_note_empty(struct sim *x);
void sim_workers_release(struct sim_step *st);

/* sim_checks.c */
void sim_check_handed(struct sim *x, struct sim_step *st, const struct tm_sched_action *a);
/* It has waited at the worker until then: it begins, or is taken back. */
void sim_check_waited(struct sim *x, struct sim_step *st, const struct sim_worker *w,
                      const struct sim_held *held, int64_t until_ns);
void sim_check_back(struct sim *x, struct sim_step *st, uint64_t index); /* uncounted */
void sim_check_failed(struct sim *x, struct sim_step *st, uint64_t index);
void sim_check_committed(struct sim *x, struct sim_step *st, uint64_t index);
/* TM_SCHED_RETRY or TM_SCHED_FAIL. */
void sim_check_verdict(struct sim *x, struct sim_step *st, const struct tm_sched_action *a);
/* TM_SCHED_AGAIN. */
void sim_check_again(struct sim *x, const struct tm_sched_action *a);
void sim_check_sick(struct sim *x, uint32_t node);
void sim_check_turn(struct sim *x, struct sim_step *st);
void sim_check_end(struct sim *x, struct sim_step *st);
void sim_check_wrong(struct sim *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
