/* sim_cases.h - the cases that are simulated in two sizes: as a unit test (20 nodes), and by
 * tests/bench/bench_sched (1,000 nodes with 100 workers each). */
#ifndef TM_TESTS_SIM_CASES_H
#define TM_TESTS_SIM_CASES_H

#include "sim/sim.h"

struct sim_case {
  const char *name, *what;
  double most;          /* of the least possible time; 0: no figure */
  struct sim_options o; /* without the size */
};

struct sim_size {
  uint32_t nodes;
  int64_t slots;
  uint64_t mini_batches, seed; /* mini-batches: of all steps together */
};

extern const struct sim_case sim_cases[];
extern const size_t sim_cases_len;

struct sim_options sim_case_options(const struct sim_case *c, const struct sim_size *size);
/* How long it took, beside sim_least_ns(). */
double sim_ratio(const struct sim *x);
/* Likewise, until all mini-batches had begun. The rest is the length of the last ones: nobody knows
 * beforehand which mini-batches are long and should begin first. */
double sim_begun_ratio(const struct sim *x);

#endif
