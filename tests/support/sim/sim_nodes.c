/* sim_nodes.c - nodes: launched by the launch plan, granted after a while, ready, and lost; some
 * are asked to end, and some are sick. See sim_own.h. */
#include "sim/sim_own.h"

#define NONE      UINT32_MAX
#define ASK_NS    (5 * TM_S)  /* between two looks at what a node waits for */
#define START_MAX (60 * TM_S) /* from its grant until it is ready */
#define STARTS    64          /* at a time */
#define SCATTER   607         /* a prime that no number of hosts is a multiple of */
#define KILL_NS   (30 * TM_S) /* after it was asked to end */

static struct sim_node *node_of(struct sim *x, uint32_t id)
{
  return &x->nodes.at[id];
}

/* The hosts of one kind are not next to each other. */
static bool is_among(const struct sim *x, const struct sim_node *n, uint32_t first, uint32_t count)
{
  size_t number = x->o.hosts > 0 ? n->host * SCATTER % x->o.hosts : SIZE_MAX;

  return number >= first && number < first + count;
}

bool sim_node_lacks_init(const struct sim *x, uint32_t node)
{
  return is_among(x, &x->nodes.at[node], 0, x->o.sick);
}

bool sim_node_is_bad(const struct sim *x, uint32_t node)
{
  return is_among(x, &x->nodes.at[node], x->o.sick + x->o.quick, x->o.bad);
}

static bool is_quick(const struct sim *x, const struct sim_node *n)
{
  return is_among(x, n, x->o.sick, x->o.quick);
}

/* A job looks ten times a second. */
static void plan(struct sim *x)
{
  const struct tm_launch_plan *p = &x->plan;

  x->plan_ns = p->starting + p->ready < p->wanted ? x->now_ns + 100 * TM_MS : INT64_MAX;
}

static int64_t wait_ns(struct sim *x, bool is_again)
{
  int64_t ns = x->o.again_ns;

  if (!is_again || ns == 0)
    ns = x->o.queue_ns > 0 ? (int64_t)random_below(&x->random, (size_t)(2 * x->o.queue_ns)) : 0;
  return ns;
}

/* ---- from its launch until it can be used ---- */

/* While it waits for a machine, its time to start does not run. */
static void wait_or_start(struct sim *x, uint32_t id)
{
  const struct sim_node *n = node_of(x, id);

  if (n->granted_ns > x->now_ns) {
    int64_t next_ns = x->now_ns + ASK_NS;
    sim_at(x, next_ns < n->granted_ns ? next_ns : n->granted_ns, SIM_WAITS, 0, id);
  } else {
    sim_at(x, x->now_ns + x->o.start_ns, is_quick(x, n) ? SIM_ENDS : SIM_ADDED, 0, id);
  }
}

void sim_nodes_launch(struct sim *x)
{
  size_t place;

  while ((place = tm_launch_plan_next(&x->plan, x->now_ns)) != SIZE_MAX) {
    bool is_again = place < x->plan.places.len;
    uint32_t id = (uint32_t)x->nodes.len;
    size_t host = tm_launch_plan_launch(&x->plan, place, id, x->now_ns);
    *TM_ARRAY_ADD(&x->nodes) = (struct sim_node) { .place = place,
                                                   .host = host,
                                                   .granted_ns = x->now_ns + wait_ns(x, is_again),
                                                   .gone_ns = INT64_MAX };
    tm_launch_plan_running(&x->plan, id, x->now_ns);
    wait_or_start(x, id);
  }
  plan(x);
}

static void measure(struct sim *x, uint32_t id)
{
  int64_t off_ns = (int64_t)random_below(&x->random, (size_t)(2 * x->o.jitter_ns) + 1);
  int64_t ns = 2 * sim_latency_ns(x, id) + off_ns - x->o.jitter_ns;

  for (uint32_t i = 0; i < x->steps_len; i++)
    sim_tell(x, &x->steps[i],
             (struct tm_sched_event) { .kind = TM_SCHED_ON_DISTANCE, .node = id, .ns = ns });
  if (x->o.jitter_ns > 0) /* ten times a second, as the supervisor; else it stays the same */
    sim_at(x, x->now_ns + 100 * TM_MS, SIM_MEASURED, 0, id);
}

static void add(struct sim *x, uint32_t id)
{
  struct sim_node *n = node_of(x, id);

  n->was_ready = true;
  n->added_ns = x->now_ns;
  x->ready++;
  tm_launch_plan_ready(&x->plan, id);
  for (uint32_t i = 0; i < x->steps_len; i++)
    sim_tell(x, &x->steps[i],
             (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE, .node = id, .slots = x->o.slots });
  if (x->o.is_measured)
    measure(x, id);
  sim_nodes_launch(x);
}

/* ---- its end ---- */

static void lose(struct sim *x, uint32_t id)
{
  struct sim_node *n = node_of(x, id);

  for (size_t i = 0; i < n->workers.len; i++)
    sim_workers_lose(x, &x->steps[n->workers.at[i] >> 32], (uint32_t)n->workers.at[i]);
  TM_ARRAY_RELEASE(&n->workers);
  n->is_gone = true;
  n->gone_ns = x->now_ns;
  if (n->was_ready) {
    x->lost_nodes += !n->drains;
    x->ready -= !n->drains;
    for (uint32_t i = 0; i < x->steps_len; i++)
      sim_tell(x, &x->steps[i],
               (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_LOST, .node = id });
  }
  if (node_of(x, id)->drains && !node_of(x, id)->is_sick)
    tm_launch_plan_withdrawn(&x->plan, id, x->now_ns);
  else
    tm_launch_plan_failed(&x->plan, id, TM_SLURM_END_NOT_KNOWN, x->now_ns);
  if (tm_launch_plan_is_over(&x->plan))
    sim_check_wrong(x, "no node is left, and no other is launched");
  plan(x);
}

static void end_if_drained(struct sim *x, uint32_t id)
{
  if (node_of(x, id)->drains && node_of(x, id)->living == 0)
    sim_at(x, x->now_ns + sim_latency_ns(x, id), SIM_ENDS, 0, id);
}

static void drain(struct sim *x, uint32_t id)
{
  node_of(x, id)->drains = true;
  x->ready--;
  for (uint32_t i = 0; i < x->steps_len; i++)
    sim_tell(x, &x->steps[i],
             (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_DRAINS, .node = id });
  end_if_drained(x, id);
}

void sim_nodes_worker_ended(struct sim *x, uint32_t node)
{
  node_of(x, node)->living--;
  end_if_drained(x, node);
}

void sim_nodes_sick(struct sim *x, uint32_t node)
{
  struct sim_node *n = node_of(x, node);

  if (n->drains)
    return;
  n->is_sick = true;
  sim_check_sick(x, node);
  x->sick_nodes++;
  tm_launch_plan_sick(&x->plan, node);
  drain(x, node);
}

/* One that is ready; NONE: there is none. */
static uint32_t random_node(struct sim *x)
{
  size_t n = x->nodes.len, first = n > 0 ? random_below(&x->random, n) : 0;

  for (size_t i = 0; i < n; i++) {
    const struct sim_node *node = &x->nodes.at[(first + i) % n];
    if (node->was_ready && !node->is_gone && !node->drains)
      return (uint32_t)((first + i) % n);
  }
  return NONE;
}

static void lose_one(struct sim *x)
{
  uint32_t id = random_node(x);

  if (id != NONE)
    lose(x, id);
  sim_at(x, x->now_ns + x->o.lose_ns, SIM_LOSE, 0, 0);
}

/* Its machine is taken away soon. */
static void drain_one(struct sim *x)
{
  uint32_t id = random_node(x);

  if (id != NONE) {
    x->drained_nodes++;
    drain(x, id);
    sim_at(x, x->now_ns + KILL_NS, SIM_ENDS, 0, id);
  }
  sim_at(x, x->now_ns + x->o.drain_ns, SIM_DRAIN, 0, 0);
}

/* ---- all of them ---- */

void sim_nodes_happen(struct sim *x, const struct sim_event *e)
{
  if (e->kind == SIM_LOSE) {
    lose_one(x);
    return;
  }
  if (e->kind == SIM_DRAIN) {
    drain_one(x);
    return;
  }
  if (node_of(x, e->number)->is_gone)
    return;
  switch (e->kind) {
  case SIM_WAITS:
    tm_launch_plan_waited(&x->plan, e->number, x->now_ns);
    wait_or_start(x, e->number);
    plan(x);
    break;
  case SIM_ADDED: add(x, e->number); break;
  case SIM_MEASURED: measure(x, e->number); break;
  default: lose(x, e->number); break;
  }
}

void sim_nodes_init(struct sim *x)
{
  struct tm_launch_options o = { .nodes_max = x->o.nodes,
                                 .hosts = x->o.hosts,
                                 .start_timeout_ns = START_MAX,
                                 .starts_max = STARTS,
                                 .seed = x->o.seed };

  tm_launch_plan_init(&x->plan, &o);
  tm_launch_plan_want(&x->plan, x->o.nodes);
  plan(x);
  if (x->o.lose_ns > 0)
    sim_at(x, x->o.lose_ns, SIM_LOSE, 0, 0);
  if (x->o.drain_ns > 0)
    sim_at(x, x->o.drain_ns, SIM_DRAIN, 0, 0);
}

void sim_nodes_release(struct sim *x)
{
  tm_launch_plan_release(&x->plan);
  for (size_t i = 0; i < x->nodes.len; i++)
    TM_ARRAY_RELEASE(&x->nodes.at[i].workers);
  TM_ARRAY_RELEASE(&x->nodes);
}

/* Of all slots, from when their nodes could be used until then. */
static int64_t offered_ns(const struct sim *x, int64_t until_ns)
{
  int64_t sum_ns = 0;

  for (size_t i = 0; i < x->nodes.len; i++) {
    const struct sim_node *n = &x->nodes.at[i];
    int64_t to_ns = n->gone_ns < until_ns ? n->gone_ns : until_ns;
    if (n->was_ready && to_ns > n->added_ns)
      sum_ns += x->o.slots * (to_ns - n->added_ns);
  }
  return sum_ns;
}

int64_t sim_least_ns(const struct sim *x)
{
  int64_t low_ns = 0, high_ns = x->now_ns;

  while (low_ns < high_ns) {
    int64_t middle_ns = low_ns + (high_ns - low_ns) / 2;
    if (offered_ns(x, middle_ns) >= x->work_ns)
      high_ns = middle_ns;
    else
      low_ns = middle_ns + 1;
  }
  return high_ns;
}
