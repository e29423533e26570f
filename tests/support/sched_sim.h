/* sched_sim.h - simulates a step: the scheduler, and nodes and workers that need time for all they
 * do. Nothing waits: the clock jumps to the next thing that happens.
 *
 * A worker runs what it was handed in order. Every message takes half of the round trip to its
 * node. Durations and accidents are random, but the same in every run.
 */
#ifndef TM_TESTS_SCHED_SIM_H
#define TM_TESTS_SCHED_SIM_H

#include "base/heap.h"
#include "base/mem.h"
#include "base/time.h"
#include "random.h"
#include "sched/sched.h"

struct sim_options {
  uint32_t nodes;
  int64_t slots; /* of a node */
  uint64_t mini_batches;
  int64_t latency_ns, init_ns; /* latency: of a message */
  const int64_t *latencies_ns; /* by node, instead of that; or NULL */
  bool is_measured;            /* the scheduler learns how far the nodes are */
  int64_t jitter_ns;           /* measured distances are wrong by up to so much, and change often */
  int64_t run_ns;              /* of a mini-batch, on average */
  uint32_t slow, slow_times;   /* one in `slow` takes `slow_times` as long; 0: none */
  uint32_t fails, dies;        /* one try in so many fails, or takes its worker with it; 0: none */
  int64_t lose_ns;             /* so often a node is lost, and comes back; 0: never */
};

enum sim_kind {
  SIM_ALIVE,
  SIM_HANDED,
  SIM_RUN_ENDED,
  SIM_ANSWERED,
  SIM_DIED,
  SIM_RECALL,
  SIM_TAKEN,
  SIM_GONE,
  SIM_NODE_LOST,
  SIM_NODE_BACK,
  SIM_MEASURED
};

struct sim_event {
  int64_t at_ns;
  uint64_t order; /* of those at the same time */
  enum sim_kind kind;
  uint32_t worker, node;
  uint64_t seq;
  int64_t ns;
};

struct sim_worker {
  bool is_gone;
  uint32_t node;
  uint64_t running;                 /* seq; 0: idle */
  int64_t ends_ns;                  /* when that will have ended */
  struct TM_ARRAY(uint64_t) queued; /* seqs that have arrived */
  struct TM_ARRAY(uint64_t) taken;  /* the answer to a recall */
};

/* What the workers of a node have done. */
struct sim_node {
  int64_t busy_ns, ready_ns; /* ready: when its first worker was */
  int64_t plenty_ns;         /* busy_ns when the queue was found empty for the first time */
  uint64_t recalls, taken;
};

struct sim {
  struct sim_options o;
  struct tm_sched s;
  struct tm_heap events;
  struct random random;
  int64_t now_ns, busy_ns, recall_count;
  int64_t empty_ns; /* when the queue was found empty for the first time; 0: not yet */
  int64_t usual_ns; /* when the last one was answered that took no longer than usual */
  uint64_t order, committed, failed, tries;
  struct TM_ARRAY(struct sim_worker) workers;
  struct TM_ARRAY(struct sim_node) nodes;
  uint8_t *ended; /* by index: how often it was committed or failed */
};

static bool sim_is_before(const void *left, const void *right)
{
  const struct sim_event *a = left, *b = right;

  return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static bool sim_is_over(void *data, uint64_t index)
{
  (void)data;
  (void)index;
  return false;
}

static void sim_later(struct sim *x, int64_t after_ns, struct sim_event e)
{
  e.at_ns = x->now_ns + after_ns;
  e.order = x->order++;
  tm_heap_add(&x->events, &e);
}

static int64_t sim_latency_ns(const struct sim *x, uint32_t node)
{
  return x->o.latencies_ns ? x->o.latencies_ns[node] : x->o.latency_ns;
}

static bool sim_one_in(struct sim *x, uint32_t n)
{
  return n > 0 && random_below(&x->random, n) == 0;
}

/* From half of the average to one and a half. */
static int64_t sim_run_ns(struct sim *x)
{
  int64_t ns = x->o.run_ns / 2 + (int64_t)random_below(&x->random, (size_t)x->o.run_ns + 1);

  return sim_one_in(x, x->o.slow) ? ns * x->o.slow_times : ns;
}

static void sim_run_next(struct sim *x, uint32_t worker)
{
  struct sim_worker *w = &x->workers.at[worker];
  int64_t ns;

  if (w->running != 0 || w->queued.len == 0)
    return;
  w->running = w->queued.at[0];
  for (size_t i = 1; i < w->queued.len; i++)
    w->queued.at[i - 1] = w->queued.at[i];
  w->queued.len--;
  ns = sim_run_ns(x);
  w->ends_ns = x->now_ns + ns;
  x->busy_ns += ns;
  x->nodes.at[w->node].busy_ns += ns;
  sim_later(x, ns,
            (struct sim_event) { .kind = sim_one_in(x, x->o.dies) ? SIM_DIED : SIM_RUN_ENDED,
                                 .worker = worker,
                                 .seq = w->running,
                                 .ns = ns });
}

/* ---- actions ---- */

static void sim_start(struct sim *x, const struct tm_sched_action *a)
{
  while (x->workers.len <= a->worker)
    *TM_ARRAY_ADD(&x->workers) = (struct sim_worker) { .is_gone = true };
  x->workers.at[a->worker] = (struct sim_worker) { .node = a->node };
  sim_later(x, sim_latency_ns(x, a->node) + x->o.init_ns,
            (struct sim_event) { .kind = SIM_ALIVE, .worker = a->worker });
}

static void sim_carry_out(struct sim *x)
{
  struct tm_sched_action a;

  while (tm_sched_next(&x->s, &a)) {
    struct sim_event e = { .worker = a.worker, .seq = a.seq };
    switch (a.kind) {
    case TM_SCHED_START: sim_start(x, &a); break;
    case TM_SCHED_HAND:
      x->tries++;
      e.kind = SIM_HANDED;
      sim_later(x, sim_latency_ns(x, a.node), e);
      break;
    case TM_SCHED_RECALL:
      x->recall_count++;
      x->nodes.at[a.node].recalls++;
      e.kind = SIM_RECALL;
      sim_later(x, sim_latency_ns(x, a.node), e);
      break;
    case TM_SCHED_STOP:
    case TM_SCHED_KILL:
      e.kind = SIM_GONE;
      sim_later(x, 2 * sim_latency_ns(x, a.node), e);
      break;
    case TM_SCHED_FAIL:
      x->failed++;
      x->ended[a.what.index]++;
      break;
    default: break;
    }
  }
}

static bool sim_tell(struct sim *x, struct tm_sched_event e)
{
  bool is_taken = tm_sched_event(&x->s, &e, x->now_ns);

  sim_carry_out(x);
  return is_taken;
}

/* ---- what happens ---- */

static void sim_answer(struct sim *x, const struct sim_event *e)
{
  const struct tm_sched_worker *w = tm_roster_worker(&x->s.roster, e->worker);
  const struct tm_inflight *in = w ? tm_window_find(&w->window, e->seq) : NULL;
  uint64_t index = in ? in->what.index : 0;
  struct tm_sched_event told = { .worker = e->worker, .seq = e->seq, .ns = e->ns };

  if (!in)
    return;
  if (e->ns <= 2 * x->o.run_ns)
    x->usual_ns = x->now_ns;
  if (sim_one_in(x, x->o.fails)) {
    told.kind = TM_SCHED_ON_FAILED;
  } else {
    told.kind = TM_SCHED_ON_RESULT;
    x->committed++;
    x->ended[index]++;
  }
  sim_tell(x, told);
}

static void sim_look(void *data, uint64_t seq, struct tm_lost_try *out)
{
  const struct sim_event *e = data;

  out->state = seq == e->seq ? TM_TRY_BEGUN : seq < e->seq ? TM_TRY_DONE : TM_TRY_QUEUED;
}

static void sim_end_worker(struct sim *x, struct sim_event *e)
{
  x->workers.at[e->worker].is_gone = true;
  sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_ENDED,
                                        .worker = e->worker,
                                        .has_begun = true,
                                        .look = sim_look,
                                        .data = e });
}

/* The node takes back the recalled assignments that have arrived and have not begun. */
static void sim_recall(struct sim *x, const struct sim_event *e)
{
  struct sim_worker *w = &x->workers.at[e->worker];
  uint64_t seqs[512];
  size_t n = tm_sched_recalled(&x->s, e->worker, seqs), kept = 0;

  w->taken.len = 0;
  for (size_t i = 0; i < w->queued.len; i++) {
    bool is_asked = false;
    for (size_t k = 0; k < n; k++)
      is_asked |= seqs[k] == w->queued.at[i];
    if (is_asked)
      *TM_ARRAY_ADD(&w->taken) = w->queued.at[i];
    else
      w->queued.at[kept++] = w->queued.at[i];
  }
  w->queued.len = kept;
  x->nodes.at[w->node].taken += w->taken.len;
  sim_later(x, sim_latency_ns(x, w->node),
            (struct sim_event) { .kind = SIM_TAKEN, .worker = e->worker });
}

static void sim_lose_node(struct sim *x, uint32_t node)
{
  for (size_t i = 0; i < x->workers.len; i++)
    if (x->workers.at[i].node == node)
      x->workers.at[i].is_gone = true;
  sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE_LOST, .node = node });
  sim_later(x, 5 * x->o.init_ns, (struct sim_event) { .kind = SIM_NODE_BACK, .node = node });
  sim_later(x, x->o.lose_ns,
            (struct sim_event) { .kind = SIM_NODE_LOST,
                                 .node = (uint32_t)random_below(&x->random, x->o.nodes) });
}

/* Ten times a second, as the supervisor does. */
static void sim_measure(struct sim *x, uint32_t node)
{
  int64_t off_ns = (int64_t)random_below(&x->random, (size_t)(2 * x->o.jitter_ns) + 1);

  sim_tell(x,
           (struct tm_sched_event) { .kind = TM_SCHED_ON_DISTANCE,
                                     .node = node,
                                     .ns = 2 * sim_latency_ns(x, node) + off_ns - x->o.jitter_ns });
  sim_later(x, 100 * TM_MS, (struct sim_event) { .kind = SIM_MEASURED, .node = node });
}

static void sim_live(struct sim *x, uint32_t worker)
{
  struct sim_node *n = &x->nodes.at[x->workers.at[worker].node];

  if (n->ready_ns == 0)
    n->ready_ns = x->now_ns;
  sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_STARTED, .worker = worker });
  sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_LOADED, .worker = worker });
  sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_READY, .worker = worker });
}

static void sim_happen(struct sim *x, struct sim_event *e)
{
  struct sim_worker *w = &x->workers.at[e->worker];
  struct tm_sched_event node = { .kind = TM_SCHED_ON_NODE, .node = e->node, .slots = x->o.slots };

  if (e->kind == SIM_NODE_LOST) {
    sim_lose_node(x, e->node);
  } else if (e->kind == SIM_NODE_BACK) {
    sim_tell(x, node);
  } else if (e->kind == SIM_MEASURED) {
    sim_measure(x, e->node);
  } else if (!w->is_gone) {
    switch (e->kind) {
    case SIM_ALIVE: sim_live(x, e->worker); break;
    case SIM_HANDED: *TM_ARRAY_ADD(&w->queued) = e->seq; break;
    case SIM_RUN_ENDED:
      w->running = 0;
      e->kind = SIM_ANSWERED;
      sim_later(x, sim_latency_ns(x, w->node), *e);
      break;
    case SIM_ANSWERED: sim_answer(x, e); break;
    case SIM_RECALL: sim_recall(x, e); break;
    case SIM_TAKEN:
      sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_TAKEN,
                                            .worker = e->worker,
                                            .seqs = w->taken.at,
                                            .seqs_len = w->taken.len });
      break;
    default: sim_end_worker(x, e); return;
    }
    sim_run_next(x, e->worker);
  }
}

/* ---- a whole step ---- */

static void sim_init(struct sim *x, const struct sim_options *o)
{
  struct tm_sched_options options = {
    .run_max_try = 3, .retry_delay_ns = -1, .window_max = 512, .is_over = sim_is_over
  };

  *x = (struct sim) { .o = *o, .random = { 7 } };
  x->ended = tm_xcalloc(o->mini_batches, 1);
  tm_heap_init(&x->events, sizeof(struct sim_event), sim_is_before);
  tm_sched_init(&x->s, &options, 0);
  for (uint32_t i = 0; i < o->nodes; i++) {
    *TM_ARRAY_ADD(&x->nodes) = (struct sim_node) { .busy_ns = 0 };
    sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_NODE, .node = i, .slots = o->slots });
    if (o->is_measured)
      sim_measure(x, i);
  }
  sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_CREATED, .count = o->mini_batches });
  if (o->lose_ns > 0)
    sim_later(x, o->lose_ns, (struct sim_event) { .kind = SIM_NODE_LOST });
}

static void sim_note_empty(struct sim *x)
{
  x->empty_ns = x->now_ns;
  for (size_t i = 0; i < x->nodes.len; i++)
    x->nodes.at[i].plenty_ns = x->nodes.at[i].busy_ns;
  for (size_t i = 0; i < x->workers.len; i++) /* what still runs was counted as a whole */
    if (!x->workers.at[i].is_gone && x->workers.at[i].running != 0)
      x->nodes.at[x->workers.at[i].node].plenty_ns -= x->workers.at[i].ends_ns - x->now_ns;
}

/* Until everything is over. False: nothing happens any more. */
static bool sim_run(struct sim *x)
{
  struct sim_event e;

  while (tm_sched_open(&x->s) > 0) {
    int64_t due_ns;
    sim_tell(x, (struct tm_sched_event) { .kind = TM_SCHED_ON_TURN });
    if (x->empty_ns == 0 && x->tries > 0 && !tm_sched_has_waiting(&x->s))
      sim_note_empty(x);
    due_ns = tm_sched_due(&x->s);
    if (x->events.len == 0 && due_ns == INT64_MAX)
      return false;
    if (x->events.len > 0 && ((struct sim_event *)tm_heap_at(&x->events, 0))->at_ns < due_ns) {
      tm_heap_remove(&x->events, 0, &e);
      x->now_ns = e.at_ns;
      sim_happen(x, &e);
    } else {
      x->now_ns = due_ns;
    }
  }
  return true;
}

static void sim_release(struct sim *x)
{
  for (size_t i = 0; i < x->workers.len; i++) {
    TM_ARRAY_RELEASE(&x->workers.at[i].queued);
    TM_ARRAY_RELEASE(&x->workers.at[i].taken);
  }
  TM_ARRAY_RELEASE(&x->workers);
  TM_ARRAY_RELEASE(&x->nodes);
  tm_heap_release(&x->events);
  tm_sched_release(&x->s);
  free(x->ended);
}

#endif
