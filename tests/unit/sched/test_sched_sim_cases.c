/* test_sched_sim_cases.c - the cases that bench_sched simulates with 1,000 nodes, with 20: what is
 * decided is right (sim/sim.h checks it), and is the same in every run; the cases take no longer
 * than their figures allow, and all mini-batches begin in the least possible time. */
#include "unit.h"

#include <string.h>

#include "sim/sim_cases.h"

static const struct sim_size small = {
  .nodes = 20, .slots = 10, .mini_batches = 100000, .seed = 7
};

/* Returns a hash of all decisions. */
static uint64_t run(const struct sim_case *c, const struct sim_size *size)
{
  struct sim_options o = sim_case_options(c, size);
  uint64_t trace;
  struct sim x;

  sim_init(&x, &o);
  if (!sim_run(&x))
    fail_msg("%s, seed %d: %s", c->name, (int)size->seed, x.found.text);
  if (c->most > 0 && sim_ratio(&x) > c->most)
    fail_msg("%s, seed %d: %.3f of the least possible time", c->name, (int)size->seed,
             sim_ratio(&x));
  if (c->most > 0 && sim_begun_ratio(&x) > 1.01)
    fail_msg("%s, seed %d: something began after %.3f of the least possible time", c->name,
             (int)size->seed, sim_begun_ratio(&x));
  trace = sim_trace(&x);
  sim_release(&x);
  return trace;
}

static void test_each_case_is_right_and_fast(void **state)
{
  for (size_t i = 0; i < sim_cases_len; i++)
    run(&sim_cases[i], &small);
}

static void test_one_seed_gives_one_trace(void **state)
{
  for (size_t i = 0; i < sim_cases_len; i++) {
    struct sim_size size = small;
    size.mini_batches = 10000;
    uint64_t first = run(&sim_cases[i], &size);
    assert_true(run(&sim_cases[i], &size) == first);
    size.seed++;
    if (sim_cases[i].o.lengths != SIM_CONSTANT)
      assert_true(run(&sim_cases[i], &size) != first);
  }
}

static const struct sim_case *find(const char *name)
{
  size_t i = 0;

  while (strcmp(sim_cases[i].name, name) != 0)
    i++;
  return &sim_cases[i];
}

/* On one host all tries fail, and on another one init() does: both are found, and no mini-batch
 * uses up its tries there. */
static void test_sick_nodes_are_found_and_spoil_nothing(void **state)
{
  for (uint64_t seed = 1; seed <= 5; seed++) {
    struct sim_size size = small;
    struct sim_options o;
    struct sim x;

    size.seed = seed;
    o = sim_case_options(find("sick"), &size);
    sim_init(&x, &o);
    if (!sim_run(&x))
      fail_msg("seed %d: %s", (int)seed, x.found.text);
    assert_int_equal(x.sick_nodes, 2);
    assert_int_equal(x.failed, 0);
    assert_true(x.committed == size.mini_batches);
    sim_release(&x);
  }
}

static void test_accidents_of_many_seeds(void **state)
{
  struct sim_size size = small;

  size.mini_batches = 20000;
  for (size.seed = 1; size.seed <= 10; size.seed++)
    run(find("accidents"), &size);
}

UNIT_TESTS({
    cmocka_unit_test(test_each_case_is_right_and_fast),
    cmocka_unit_test(test_one_seed_gives_one_trace),
    cmocka_unit_test(test_sick_nodes_are_found_and_spoil_nothing),
    cmocka_unit_test(test_accidents_of_many_seeds),
});
