/* test_sched_sim.c - whole steps in the simulator: everything is over once, and the workers are
 * busy nearly all the time. */
#include "unit.h"

#include <stdlib.h>

#include "sim/sim.h"

#define US INT64_C(1000)

/* The checks of the simulator must find nothing. */
static void run_checked(struct sim *x, const struct sim_options *o)
{
  sim_init(x, o);
  if (!sim_run(x))
    fail_msg("%s", x->found.text);
}

/* At most `most` times what it takes if all slots are busy from the first READY to the end. */
static void run(const struct sim_options *o, double most)
{
  struct sim x;
  double least_ns, slots = (double)o->nodes * (double)o->slots;

  run_checked(&x, o);
  least_ns = (double)x.busy_ns / slots + 2 * (double)(o->init_ns + o->latency_ns);
  if (getenv("TM_SHOW"))
    print_message("%.3f s, %.2f of the least, %d tries, %d recalls, %d workers, waited %.3f ms\n",
                  (double)x.now_ns / 1e9, (double)x.now_ns / least_ns, (int)x.tries, (int)x.recalls,
                  (int)x.workers, (double)x.found.longest_ns / 1e6);
  assert_true((double)x.now_ns <= most * least_ns);
  sim_release(&x);
}

static const struct sim_options usual = { .nodes = 2,
                                          .slots = 4,
                                          .mini_batches = 4000,
                                          .seed = 7,
                                          .latency_ns = 50 * US,
                                          .init_ns = 20 * TM_MS,
                                          .lengths = SIM_EVEN,
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

static void test_workers_that_get_them_ahead_keep_none_from_idle_ones(void **state)
{
  struct sim_options o = usual;

  o.has_prefetch = true;
  run(&o, 1.1);
  o.run_ns = 200 * TM_MS;
  o.mini_batches = 400;
  run(&o, 1.1);
  o.slow = 40;
  o.slow_times = 20;
  o.dies = 100;
  run(&o, 1.8);
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
  o.again_ns = 100 * TM_MS;
  run(&o, 1.6);
}

/* ---- nodes at several distances ---- */

#define NODES 5

static const int64_t latencies_ns[NODES] = { 50 * US, 500 * US, 5 * TM_MS, 20 * TM_MS, 45 * TM_MS };

static const struct sim_options distant = { .nodes = NODES,
                                            .slots = 2,
                                            .mini_batches = 80000,
                                            .seed = 7,
                                            .latencies_ns = latencies_ns,
                                            .latencies_len = NODES,
                                            .is_measured = true,
                                            .init_ns = 20 * TM_MS,
                                            .lengths = SIM_EVEN,
                                            .run_ns = TM_MS };

/* How busy the workers of a node were while there was work for all, once they were ready. */
static double busy(const struct sim *x, uint32_t node)
{
  const struct sim_node *n = &x->nodes.at[node];

  return (double)n->plenty_ns / ((double)x->o.slots * (double)(x->empty_ns - n->ready_ns));
}

static void run_distant(struct sim *x, const struct sim_options *o)
{
  run_checked(x, o);
  assert_true(x->empty_ns > 0);
  for (uint32_t i = 0; getenv("TM_SHOW") && i < o->nodes; i++)
    print_message("round trip %6.1f ms: workers busy %5.1f %%, %d recalls, %d taken back\n",
                  (double)(2 * latencies_ns[i]) / 1e6, 100 * busy(x, i),
                  (int)x->nodes.at[i].recalls, (int)x->nodes.at[i].taken);
  if (getenv("TM_SHOW"))
    print_message("%.3f s; all but slow ones %.3f s after the queue was empty\n",
                  (double)x->now_ns / 1e9, (double)(x->usual_ns - x->empty_ns) / 1e9);
}

static void test_distant_workers_are_busy_while_there_is_work(void **state)
{
  struct sim x;

  run_distant(&x, &distant);
  for (uint32_t i = 0; i < NODES; i++)
    assert_true(busy(&x, i) >= 0.95);
  sim_release(&x);
}

/* What the measured distance is good for. */
static void test_without_a_measured_distance_they_mostly_wait(void **state)
{
  struct sim_options o = distant;
  struct sim x;

  o.is_measured = false;
  run_distant(&x, &o);
  assert_true(busy(&x, 0) >= 0.95);
  assert_true(busy(&x, NODES - 1) <= 0.10);
  sim_release(&x);
}

/* Two round trips are less than one mini-batch takes. */
static void test_distant_workers_are_busy_with_long_ones(void **state)
{
  struct sim_options o = distant;
  struct sim x;

  o.run_ns = 200 * TM_MS;
  o.mini_batches = 1500;
  run_distant(&x, &o);
  for (uint32_t i = 0; i < NODES; i++)
    assert_true(busy(&x, i) >= 0.95);
  sim_release(&x);
}

/* As far as the page goes: 512 of 0.2 ms are more than the 90 ms of a round trip. */
static void test_distant_workers_are_busy_with_short_ones(void **state)
{
  struct sim_options o = distant;
  struct sim x;

  o.run_ns = 200 * US;
  o.mini_batches = 400000;
  run_distant(&x, &o);
  for (uint32_t i = 0; i < NODES; i++)
    assert_true(busy(&x, i) >= 0.95);
  sim_release(&x);
}

static void test_distances_that_change_all_the_time(void **state)
{
  struct sim_options o = distant;
  struct sim x;

  o.jitter_ns = 10 * TM_MS;
  o.fails = 50;
  o.dies = 5000;
  o.lose_ns = TM_S;
  run_distant(&x, &o);
  sim_release(&x);
}

/* A distant worker holds 180 when it comes to one that takes 10 s. Workers that are idle in the end
 * get what waits behind it, so that it is over long before. */
static void test_the_tail_at_a_distant_node_is_recalled(void **state)
{
  struct sim_options o = distant;
  struct sim x;

  o.slow = 1000;
  o.slow_times = 10000;
  run_distant(&x, &o);
  assert_true(x.nodes.at[NODES - 1].taken >= 100);
  assert_true(x.now_ns - x.empty_ns >= 5 * TM_S);
  assert_true(x.usual_ns - x.empty_ns <= 2 * TM_S);
  sim_release(&x);
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
    cmocka_unit_test(test_workers_that_get_them_ahead_keep_none_from_idle_ones),
    cmocka_unit_test(test_a_few_slow_ones_hold_up_no_others),
    cmocka_unit_test(test_failing_tries_and_dying_workers_cost_what_they_take),
    cmocka_unit_test(test_nodes_that_are_lost_and_come_back),
    cmocka_unit_test(test_distant_workers_are_busy_while_there_is_work),
    cmocka_unit_test(test_without_a_measured_distance_they_mostly_wait),
    cmocka_unit_test(test_distant_workers_are_busy_with_long_ones),
    cmocka_unit_test(test_distant_workers_are_busy_with_short_ones),
    cmocka_unit_test(test_distances_that_change_all_the_time),
    cmocka_unit_test(test_the_tail_at_a_distant_node_is_recalled),
    cmocka_unit_test(test_many_nodes),
});
