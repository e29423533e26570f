/* sim_workers.c - what workers do: see sim_own.h.
 *
 * A worker that holds something has one event: the answer to its first mini-batch arrives. When the
 * others begin follows from that, and is computed when it matters: when a recall arrives.
 */
#include <math.h>

#include "base/check.h"
#include "sim/sim_own.h"

#define SIGMA 0.5
#define PI    3.14159265358979323846
#define BAD   (10 * TM_MS) /* how long a try takes that fails because of its node */

static struct sim_worker *worker_of(struct sim_step *st, uint32_t number)
{
  return &st->workers.at[number];
}

/* ---- how long a mini-batch takes, and how it ends ---- */

static double fraction(struct random *r)
{
  return ((double)(random_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static int64_t length(const struct sim_options *o, struct random *r)
{
  double average = (double)o->run_ns, z;

  switch (o->lengths) {
  case SIM_CONSTANT: return o->run_ns;
  case SIM_EVEN: return (int64_t)(average * (0.5 + fraction(r)));
  case SIM_LOG_NORMAL: break;
  }
  z = sqrt(-2 * log(fraction(r))) * cos(2 * PI * fraction(r));
  return 1 + (int64_t)(average * exp(SIGMA * z - SIGMA * SIGMA / 2));
}

static bool is_one_in(struct random *r, uint32_t n)
{
  return n > 0 && random_below(r, n) == 0;
}

/* A mini-batch takes as long in each try; accidents are a try's own. */
static void foresee(const struct sim *x, const struct sim_step *st, uint32_t node,
                    struct sim_held *held)
{
  struct random r = { x->o.seed + (held->index << 8 | st->number) * UINT64_C(0x2545f4914f6cdd1d) };

  held->run_ns = length(&x->o, &r);
  if (is_one_in(&r, x->o.slow))
    held->run_ns *= x->o.slow_times;
  r.state += held->try * UINT64_C(0x9fb21c651e98df25);
  held->fails = is_one_in(&r, x->o.fails);
  held->kills = !held->fails && is_one_in(&r, x->o.dies);
  if (!sim_node_is_bad(x, node))
    return;
  held->run_ns = held->run_ns < BAD ? held->run_ns : BAD;
  held->fails = true;
  held->kills = false;
}

/* ---- what it runs ---- */

static struct sim_held *first_of(const struct sim_worker *w)
{
  return tm_ring_first(&w->held);
}

static int64_t arrives_ns(const struct sim *x, const struct sim_worker *w,
                          const struct sim_held *held)
{
  return held->handed_ns + sim_latency_ns(x, w->node);
}

static int64_t begins_ns(const struct sim *x, const struct sim_worker *w,
                         const struct sim_held *held, int64_t free_ns)
{
  int64_t ns = arrives_ns(x, w, held);

  return ns > free_ns ? ns : free_ns;
}

static void run_first(struct sim *x, struct sim_step *st, uint32_t number)
{
  struct sim_worker *w = worker_of(st, number);
  const struct sim_held *held = first_of(w);
  int64_t begin_ns;

  if (!held)
    return;
  begin_ns = begins_ns(x, w, held, w->free_ns);
  sim_check_waited(x, st, w, held, begin_ns);
  sim_at(x, begin_ns + held->run_ns + sim_latency_ns(x, w->node), SIM_ANSWERED, st->number, number);
}

void sim_workers_hand(struct sim *x, struct sim_step *st, const struct tm_sched_action *a)
{
  struct sim_worker *w = worker_of(st, a->worker);
  struct sim_held *held;

  if (w->is_gone || !w->is_alive) {
    sim_check_wrong(x, "worker %u got a mini-batch, but is not there", a->worker);
    return;
  }
  sim_check_handed(x, st, a);
  held = tm_ring_add(&w->held);
  if (held->seq != a->seq)
    sim_check_wrong(x, "worker %u got a mini-batch with a wrong number", a->worker);
  held->index = a->what.index;
  held->try = a->what.try;
  held->handed_ns = x->now_ns;
  held->is_asked = false;
  foresee(x, st, w->node, held);
  x->tries++;
  st->tries++;
  if (w->held.len == 1)
    run_first(x, st, a->worker);
}

static void commit(struct sim *x, struct sim_step *st, const struct sim_worker *w,
                   const struct sim_held *held)
{
  sim_check_committed(x, st, held->index);
  x->committed++;
  st->committed++;
  x->work_ns += held->run_ns;
  x->last_ns = x->now_ns;
  x->last_run_ns = held->run_ns;
  if (w->free_ns - held->run_ns > x->begun_ns)
    x->begun_ns = w->free_ns - held->run_ns;
  tm_tally_add_done(&st->tally, 1, 1, 1);
  tm_launch_plan_committed(&x->plan, w->node);
}

/* It counts, unless its node drains. */
static void note_failed(struct sim *x, struct sim_step *st, const struct sim_worker *w,
                        uint64_t index)
{
  if (x->nodes.at[w->node].drains)
    sim_check_back(x, st, index);
  else
    sim_check_failed(x, st, index);
}

static void answer(struct sim *x, struct sim_step *st, uint32_t number)
{
  struct sim_worker *w = worker_of(st, number);
  struct sim_held held = *first_of(w);
  struct tm_sched_event e = { .worker = number, .seq = held.seq, .ns = held.run_ns, .items = 1 };

  tm_ring_remove(&w->held, held.seq);
  w->free_ns = x->now_ns - sim_latency_ns(x, w->node);
  if (held.run_ns <= 2 * x->o.run_ns)
    x->usual_ns = x->now_ns;
  x->results++;
  if (held.fails) {
    e.kind = TM_SCHED_ON_FAILED;
    note_failed(x, st, w, held.index);
    tm_tally_add_failed_try(&st->tally, TM_FAILED_BY_ERROR);
  } else {
    e.kind = TM_SCHED_ON_RESULT;
    commit(x, st, w, &held);
  }
  if (!sim_tell(x, st, e))
    sim_check_wrong(x, "an answer of worker %u was refused", number);
}

/* ---- its end ---- */

static void look(void *data, uint64_t seq, struct tm_lost_try *out)
{
  const struct sim_held *killer = data;

  out->state = killer && seq == killer->seq ? TM_TRY_BEGUN : TM_TRY_QUEUED;
  out->items = 1;
}

/* All that it holds goes back, but for what killed it. */
static void leave(struct sim *x, struct sim_step *st, struct sim_worker *w,
                  const struct sim_held *killer)
{
  struct sim_held *held;

  while ((held = first_of(w))) {
    if (killer && held->seq == killer->seq)
      note_failed(x, st, w, held->index);
    else
      sim_check_back(x, st, held->index);
    tm_ring_remove(&w->held, held->seq);
  }
  tm_ring_release(&w->held, NULL);
  TM_ARRAY_RELEASE(&w->taken);
  w->is_gone = true;
}

static void end(struct sim *x, struct sim_step *st, uint32_t number, bool is_killed)
{
  struct sim_worker *w = worker_of(st, number);
  struct sim_held killer = { .seq = 0 };
  struct tm_sched_event e = {
    .kind = TM_SCHED_ON_ENDED, .worker = number, .has_begun = true, .look = look, .data = &killer
  };

  if (is_killed) {
    killer = *first_of(w);
    x->results++;
    tm_tally_add_failed_try(&st->tally, TM_FAILED_WITH_WORKER);
  }
  leave(x, st, w, &killer);
  sim_tell(x, st, e);
  sim_nodes_worker_ended(x, w->node);
}

void sim_workers_lose(struct sim *x, struct sim_step *st, uint32_t number)
{
  struct sim_worker *w = worker_of(st, number);
  struct sim_node *n = &x->nodes.at[w->node];
  const struct sim_held *held = first_of(w);
  int64_t begin_ns = held ? begins_ns(x, w, held, w->free_ns) : x->now_ns;

  if (w->is_gone)
    return;
  if (begin_ns < x->now_ns) /* it was busy, in vain */
    n->busy_ns += x->now_ns - begin_ns < held->run_ns ? x->now_ns - begin_ns : held->run_ns;
  leave(x, st, w, NULL);
}

/* ---- recalls ---- */

void sim_workers_recall(struct sim *x, struct sim_step *st, const struct tm_sched_action *a)
{
  struct sim_worker *w = worker_of(st, a->worker);
  uint64_t seqs[512];
  size_t n = tm_sched_recalled(&st->s, a->worker, seqs);

  x->recalls++;
  x->nodes.at[a->node].recalls++;
  for (size_t i = 0; i < n; i++) {
    struct sim_held *held = tm_ring_find(&w->held, seqs[i]);
    if (held)
      held->is_asked = true;
  }
  sim_at(x, x->now_ns + sim_latency_ns(x, a->node), SIM_RECALL, st->number, a->worker);
}

/* The node takes back what was asked for, has arrived, and has not begun. */
static void take_back(struct sim *x, struct sim_step *st, uint32_t number)
{
  struct sim_worker *w = worker_of(st, number);
  int64_t free_ns = w->free_ns;
  uint64_t next = w->held.next;

  w->taken.len = 0;
  for (uint64_t seq = w->held.first; seq < next; seq++) {
    struct sim_held *held = tm_ring_find(&w->held, seq);
    int64_t begin_ns;
    if (!held)
      continue;
    begin_ns = begins_ns(x, w, held, free_ns);
    if (seq == w->held.first || begin_ns <= x->now_ns) {
      free_ns = begin_ns + held->run_ns;
      if (held->kills)
        free_ns = INT64_MAX; /* nothing begins after it */
    } else if (held->is_asked && arrives_ns(x, w, held) <= x->now_ns) {
      *TM_ARRAY_ADD(&w->taken) = seq;
    }
  }
  for (size_t i = 0; i < w->taken.len; i++) {
    const struct sim_held *held = tm_ring_find(&w->held, w->taken.at[i]);
    sim_check_waited(x, st, w, held, x->now_ns);
    sim_check_back(x, st, held->index);
    tm_ring_remove(&w->held, held->seq);
  }
  x->nodes.at[w->node].taken += w->taken.len;
  sim_at(x, x->now_ns + sim_latency_ns(x, w->node), SIM_TAKEN, st->number, number);
}

/* ---- events ---- */

void sim_workers_start(struct sim *x, struct sim_step *st, const struct tm_sched_action *a)
{
  while (st->workers.len <= a->worker)
    *TM_ARRAY_ADD(&st->workers) = (struct sim_worker) { .is_gone = true };
  st->workers.at[a->worker] = (struct sim_worker) { .node = a->node };
  tm_ring_init(&st->workers.at[a->worker].held, sizeof(struct sim_held));
  x->nodes.at[a->node].living++;
  *TM_ARRAY_ADD(&x->nodes.at[a->node].workers) = (uint64_t)st->number << 32 | a->worker;
  x->workers++;
  sim_at(x, x->now_ns + sim_latency_ns(x, a->node) + x->o.init_ns, SIM_ALIVE, st->number,
         a->worker);
}

static void live(struct sim *x, struct sim_step *st, uint32_t number)
{
  struct sim_worker *w = worker_of(st, number);
  struct sim_node *n = &x->nodes.at[w->node];

  sim_tell(x, st, (struct tm_sched_event) { .kind = TM_SCHED_ON_STARTED, .worker = number });
  sim_tell(x, st, (struct tm_sched_event) { .kind = TM_SCHED_ON_LOADED, .worker = number });
  if (sim_node_lacks_init(x, w->node)) {
    end(x, st, number, false);
    return;
  }
  if (n->ready_ns == 0)
    n->ready_ns = x->now_ns;
  w->is_alive = true;
  w->free_ns = x->now_ns;
  sim_tell(x, st,
           (struct tm_sched_event) {
               .kind = TM_SCHED_ON_READY, .worker = number, .has_prefetch = x->o.has_prefetch });
}

static void on_answer(struct sim *x, struct sim_step *st, uint32_t number)
{
  const struct sim_worker *w = worker_of(st, number);
  int64_t ns = first_of(w)->run_ns;

  x->busy_ns += ns;
  x->nodes.at[w->node].busy_ns += ns;
  if (first_of(w)->kills) {
    end(x, st, number, true);
  } else {
    answer(x, st, number);
    run_first(x, st, number);
  }
}

void sim_workers_happen(struct sim *x, const struct sim_event *e)
{
  struct sim_step *st = &x->steps[e->step];
  struct sim_worker *w = worker_of(st, e->number);

  if (w->is_gone)
    return;
  switch (e->kind) {
  case SIM_ALIVE: live(x, st, e->number); break;
  case SIM_ANSWERED: on_answer(x, st, e->number); break;
  case SIM_RECALL: take_back(x, st, e->number); break;
  case SIM_TAKEN:
    sim_tell(x, st,
             (struct tm_sched_event) { .kind = TM_SCHED_ON_TAKEN,
                                       .worker = e->number,
                                       .seqs = w->taken.at,
                                       .seqs_len = w->taken.len });
    break;
  default: end(x, st, e->number, false); break;
  }
}

/* How long it has been busy with mini-batches that it has not answered. */
static int64_t busy_until_now(const struct sim *x, const struct sim_worker *w)
{
  int64_t free_ns = w->free_ns, sum_ns = 0;

  for (uint64_t seq = w->held.first; !w->is_gone && seq < w->held.next; seq++) {
    const struct sim_held *held = tm_ring_find(&w->held, seq);
    int64_t begin_ns = held ? begins_ns(x, w, held, free_ns) : 0;
    if (!held)
      continue;
    if (begin_ns >= x->now_ns)
      break;
    free_ns = begin_ns + held->run_ns;
    sum_ns += (free_ns < x->now_ns ? free_ns : x->now_ns) - begin_ns;
  }
  return sum_ns;
}

void sim_workers_note_empty(struct sim *x)
{
  for (size_t i = 0; i < x->nodes.len; i++)
    x->nodes.at[i].plenty_ns = x->nodes.at[i].busy_ns;
  for (uint32_t i = 0; i < x->steps_len; i++)
    for (size_t k = 0; k < x->steps[i].workers.len; k++) {
      const struct sim_worker *w = &x->steps[i].workers.at[k];
      x->nodes.at[w->node].plenty_ns += busy_until_now(x, w);
    }
}

void sim_workers_release(struct sim_step *st)
{
  for (size_t i = 0; i < st->workers.len; i++) {
    tm_ring_release(&st->workers.at[i].held, NULL);
    TM_ARRAY_RELEASE(&st->workers.at[i].taken);
  }
  TM_ARRAY_RELEASE(&st->workers);
}
