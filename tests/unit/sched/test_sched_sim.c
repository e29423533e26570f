/* test_sched_sim.c - whole steps in the simulator: everything is over once, and the workers are
 * busy nearly all the time. */
#include "unit.h"

#include <stdlib.h>

#include "sched_sim.h"

#define US INT64_C(1000)

/* Every mini-batch is over once; at most `most` times what it takes if all slots are busy from the
 * first READY to the end. */
static void run(const struct sim_options *o, double most)
{
  struct sim x;
  double least_ns, slots = (double)o->nodes * (double)o->slots;

  sim_init(&x, o);
  assert_true(sim_run(&x));
  assert_int_equal(x.committed + x.failed, o->mini_batches);
  for (uint64_t i = 0; i < o->mini_batches; i++)
    assert_int_equal(x.ended[i], 1);
  least_ns = (double)x.busy_ns / slots + 2 * (double)(o->init_ns + o->latency_ns);
  if (getenv("TM_SHOW"))
    print_message("%.3f s, %.2f of the least, %d tries, %d recalls, %d workers\n",
                  (double)x.now_ns / 1e9, (double)x.now_ns / least_ns, (int)x.tries,
                  (int)x.recall_count, (int)x.workers.len);
  assert_true((double)x.now_ns <= most * least_ns);
  sim_release(&x);
}

static const struct sim_options usual = { .nodes = 2,
                                          .slots = 4,
                                          .mini_batches = 4000,
                                          .latency_ns = 50 * US,
                                          .init_ns = 20 * TM_MS,
                                          .run_ns = 5 * TM_MS };

static void test_short_mini_batches_hide_the_round_trip(void **state)
{
  struct sim_options o = usual;

  o.run_ns = 40 * US;
  o.mini_batches = 200000;
  run(&o, 1.2);
}

static void test_long_mini_batches_wait_for_nobody(void **state)
{
  run(&usual, 1.1);
}

static void test_a_few_slow_ones_hold_up_no_others(void **state)
{
  struct sim_options o = usual;

  o.run_ns = 100 * US;
  o.mini_batches = 40000;
  o.slow = 2000;
  o.slow_times = 2000;
  run(&o, 1.5);
}

static void test_failing_tries_and_dying_workers_cost_what_they_take(void **state)
{
  struct sim_options o = usual;

  o.fails = 20;
  o.dies = 200;
  run(&o, 1.6);
}

static void test_nodes_that_are_lost_and_come_back(void **state)
{
  struct sim_options o = usual;

  o.nodes = 6;
  o.mini_batches = 20000;
  o.lose_ns = 300 * TM_MS;
  run(&o, 1.6);
}

/* With TM_LONG a thousand nodes. */
static void test_many_nodes(void **state)
{
  struct sim_options o = usual;

  o.nodes = getenv("TM_LONG") ? 1000 : 100;
  o.slots = 16;
  o.mini_batches = 200 * o.nodes * 16;
  o.latency_ns = 500 * US;
  o.fails = 1000;
  o.dies = 20000;
  run(&o, 2);
}

UNIT_TESTS({
    cmocka_unit_test(test_short_mini_batches_hide_the_round_trip),
    cmocka_unit_test(test_long_mini_batches_wait_for_nobody),
    cmocka_unit_test(test_a_few_slow_ones_hold_up_no_others),
    cmocka_unit_test(test_failing_tries_and_dying_workers_cost_what_they_take),
    cmocka_unit_test(test_nodes_that_are_lost_and_come_back),
    cmocka_unit_test(test_many_nodes),
});
