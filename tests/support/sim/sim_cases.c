/* sim_cases.c - see sim_cases.h. */
#include "sim/sim_cases.h"

#define US INT64_C(1000)

static const int64_t latencies_ns[] = { 50 * US, 500 * US, 5 * TM_MS, 20 * TM_MS, 45 * TM_MS };

#define DISTANT                                                                                    \
  .latencies_ns = latencies_ns, .latencies_len = TM_COUNT_OF(latencies_ns), .is_measured = true

/* Losses are those of 1,000 nodes; of fewer nodes as large a part is lost. */
const struct sim_case sim_cases[] = {
  { .name = "constant", .what = "10 s each", .most = 1.02, .o = { .run_ns = 10 * TM_S } },
  { .name = "log-normal",
    .what = "10 s on average, sigma 0.5",
    .most = 1.10,
    .o = { .run_ns = 10 * TM_S, .lengths = SIM_LOG_NORMAL } },
  { .name = "losses",
    .what = "10 s; each minute 1 % of the nodes are lost, and replaced after 30 s",
    .most = 1.10,
    .o = { .run_ns = 10 * TM_S, .lose_ns = 6 * TM_S, .again_ns = 30 * TM_S } },
  { .name = "stragglers",
    .what = "1 s; one in a hundred takes 100 s",
    .o = { .run_ns = TM_S, .slow = 100, .slow_times = 100 } },
  { .name = "distant",
    .what = "50 ms; round trips of 0.1 to 90 ms",
    .o = { .run_ns = 50 * TM_MS, DISTANT } },
  { .name = "accidents",
    .what = "1 s; tries fail, workers die, nodes are lost or end, round trips change",
    .o = { .run_ns = TM_S,
           .lengths = SIM_LOG_NORMAL,
           .fails = 100,
           .dies = 10000,
           .lose_ns = 2 * TM_S,
           .drain_ns = 4 * TM_S,
           .jitter_ns = TM_MS,
           DISTANT } },
  { .name = "queue",
    .what = "1 s; nodes wait up to 2 minutes for a machine, and are lost",
    .o = { .run_ns = TM_S, .queue_ns = 60 * TM_S, .lose_ns = 10 * TM_S } },
  { .name = "drains",
    .what = "10 s; each minute 1 % of the nodes are asked to end, and killed 30 s later",
    .o = { .run_ns = 10 * TM_S, .lengths = SIM_LOG_NORMAL, .drain_ns = 6 * TM_S } },
  { .name = "sick",
    .what = "1 s; on some of the hosts init() fails, no node starts, or all tries fail",
    .o = { .run_ns = TM_S, .sick = 1, .quick = 1, .bad = 1 } },
  { .name = "steps",
    .what = "1 s on average, sigma 0.5; three steps share the workers",
    .o = { .run_ns = TM_S, .steps = 3, .stagger_ns = 20 * TM_S, .lengths = SIM_LOG_NORMAL } },
};
const size_t sim_cases_len = TM_COUNT_OF(sim_cases);

struct sim_options sim_case_options(const struct sim_case *c, const struct sim_size *size)
{
  struct sim_options o = c->o;

  o.nodes = size->nodes;
  o.slots = size->slots;
  o.seed = size->seed;
  o.mini_batches = size->mini_batches / (o.steps > 0 ? o.steps : 1);
  o.lose_ns = o.lose_ns * 1000 / size->nodes;
  o.drain_ns = o.drain_ns * 1000 / size->nodes;
  if (o.sick > 0) {
    o.sick = o.quick = o.bad = size->nodes / 20;
    o.hosts = size->nodes + 3 * o.sick;
  }
  o.init_ns = 50 * TM_MS;
  o.start_ns = 300 * TM_MS;
  if (!o.latencies_ns)
    o.latency_ns = 250 * US;
  return o;
}

double sim_ratio(const struct sim *x)
{
  return (double)x->last_ns / (double)sim_least_ns(x);
}

double sim_begun_ratio(const struct sim *x)
{
  return (double)x->begun_ns / (double)sim_least_ns(x);
}
